create view events as
select
    r.recorder_id || '-' || e.lane || '-' || e.sequence as event_id,
    e.at_ns / 1e9 as timestamp,
    s.category,
    s.name,
    s.kind,
    e.value,
    nullif(s.unit, '') as unit,
    s.labels,
    e.task_id,
    w.workflow_id
from event e
left join recorder r on r.key = e.recorder
left join series s on s.key = e.series
left join workflow w on w.key = e.workflow;

-- One row a series of a workflow. The last value is the one of the latest moment; where rows share it,
-- the order of their keys decides.
create view event_series as
select
    w.workflow_id,
    s.category,
    s.name,
    s.kind,
    nullif(s.unit, '') as unit,
    s.labels,
    (select count(*) from event e where e.workflow = m.workflow and e.series = m.series) as events,
    -- The sum of whole numbers is whole as long as no part of it can be too large for that, which would be an error.
    case when (select total(abs(cast(e.value as real))) from event e
            where e.workflow = m.workflow and e.series = m.series) < 9e18
        then (select sum(e.value) from event e where e.workflow = m.workflow and e.series = m.series)
        else (select total(e.value) from event e where e.workflow = m.workflow and e.series = m.series)
    end as total,
    (select avg(e.value) from event e where e.workflow = m.workflow and e.series = m.series) as mean,
    (select min(e.value) from event e where e.workflow = m.workflow and e.series = m.series) as min,
    (select max(e.value) from event e where e.workflow = m.workflow and e.series = m.series) as max,
    (select e.value from event e where e.workflow = m.workflow and e.series = m.series
        order by e.at_ns desc, e.recorder desc, e.lane desc, e.sequence desc limit 1) as last,
    (select max(e.at_ns) from event e where e.workflow = m.workflow and e.series = m.series) / 1e9 as last_at
from measured m
left join series s on s.key = m.series
left join workflow w on w.key = m.workflow;

-- The distribution of the values of a histogram: how many are at most `le`, and above the bound before it.
create view event_histograms as
select
    w.workflow_id,
    s.category,
    s.name,
    nullif(s.unit, '') as unit,
    s.labels,
    -- JSON has no infinity.
    coalesce(j.value ->> 0, 9e999) as le,
    j.value ->> 1 as events
from measured m
join series s on s.key = m.series and s.kind = 'histogram'
left join workflow w on w.key = m.workflow
join json_each((
    select json_group_array(json_array(nullif(le, 9e999), events))
    from (
        select (select min(h.le) from histogram_bound h where h.le >= e.value) as le, count(*) as events
        from event e where e.workflow = m.workflow and e.series = m.series and e.value is not null
        group by le
    )
)) j;
