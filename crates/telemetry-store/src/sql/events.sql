-- Events, by series: what is measured, in what, with which labels.
create table series (
    key integer primary key,
    category text not null,
    name text not null,
    kind text not null,
    -- Empty for none: an index tells nulls apart.
    unit text not null,
    -- A JSON object with its keys in order.
    labels text not null,
    unique (name, category, kind, unit, labels)
);

-- A lane counts its records, so that the same record is the same row however often it is merged.
create table event (
    recorder integer not null,
    lane integer not null,
    sequence integer not null,
    series integer not null,
    at_ns integer not null,
    -- A whole number where it was one; null for what is no number (NaN).
    value,
    task_id text,
    workflow integer not null default 0,
    primary key (recorder, lane, sequence)
) without rowid;
create index event_by_task on event (task_id) where task_id is not null;
create index event_by_workflow on event (workflow, series);

-- Which series a workflow has, so that its sums need not search for them.
create table measured (
    workflow integer not null,
    series integer not null,
    primary key (workflow, series)
) without rowid;

-- The bounds of histograms: 1, 2.5 and 5 times the powers of ten.
create table histogram_bound (le real primary key) without rowid;
insert into histogram_bound
with recursive powers (power, scale) as (
    select -9, 1e-9 union all select power + 1, cast('1e' || (power + 1) as real) from powers where power < 15
)
select cast(step || 'e' || power as real) from powers, (select '1' as step union all values ('2.5'), ('5'))
union all values (0.0), (9e999);

-- What a recorder is called.
alter table recorder add column name text;

drop view events;
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
    (select sum(e.value) from event e where e.workflow = m.workflow and e.series = m.series) as total,
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

drop view health;
create view health as
select
    r.recorder_id as recorder,
    r.pid,
    r.offered,
    r.persisted,
    r.pending,
    r.dropped_full,
    r.dropped_oversize,
    r.dropped_nested,
    r.dropped_stopped,
    r.recovered,
    r.torn,
    r.warnings,
    r.name
from recorder r;
