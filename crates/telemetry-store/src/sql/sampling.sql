-- Sampling and critical tags: what was left out is counted, and `tags` has those that the settings ask for.

-- The thresholds that this recorder's settings set; null where they set none.
alter table recorder add column critical_tags text;
update recorder set critical_tags = nullif(settings -> '$.capture.critical_tags', '{}');

-- What sampling left out, a row for each tenure of a tally. Counts only grow, so the larger is the later.
create table left_out (
    recorder integer not null,
    number integer not null,
    workflow integer not null,
    activity integer not null,
    count integer not null,
    primary key (recorder, number)
) without rowid;
create index left_out_by_step on left_out (workflow, activity, count);

-- Tasks that were counted there and written all the same.
create table brought_back (
    workflow integer not null,
    activity integer not null,
    task_id text not null,
    primary key (workflow, activity, task_id)
) without rowid;

-- The number that a task generated under the name `result`; null for anything but a number.
create view task_output as
select
    task_id,
    case json_type(result) when 'integer' then json_extract(result, '$') when 'real' then json_extract(result, '$') end
        as result
from (
    select
        t.task_id,
        coalesce(t.generated -> '$.result', (
            select i.value from items i where i.owner_id = t.task_id and i.field = 2 and i.name = 'result'
            order by i.ordinal desc, i.position desc limit 1)) as result
    from task t
);

drop view tasks;
create view tasks as
select
    t.task_id,
    w.workflow_id,
    w.campaign_id,
    t.parent_task_id,
    coalesce(t.root_task_id, t.parent_task_id, t.task_id) as root_task_id,
    t.depth,
    a.activity_id,
    case when t.updated then coalesce((
        select i.value from items i where i.owner_id = t.task_id and i.field = 9
        order by i.ordinal desc, i.position desc limit 1), t.subtype) else t.subtype end as subtype,
    case when t.updated then coalesce((
        select i.value from items i where i.owner_id = t.task_id and i.field = 10
        order by i.ordinal desc, i.position desc limit 1), t.group_id) else t.group_id end as group_id,
    case coalesce(t.status, (select iif(r.interrupted_ns is null, 3, 8) from recorder r where r.key = t.recorder))
        when 1 then 'SUBMITTED' when 2 then 'WAITING' when 3 then 'RUNNING' when 4 then 'FINISHED'
        when 5 then 'ERROR' when 7 then 'CANCELLED' when 8 then 'INTERRUPTED' else 'UNKNOWN'
    end as status,
    case t.error_kind when 1 then 'err' when 2 then 'panic' end as error_kind,
    case when t.updated then coalesce(t.stdout, (
        select i.value from items i where i.owner_id = t.task_id and i.field = 6
        order by i.ordinal desc, i.position desc limit 1)) else t.stdout end as stdout,
    case when t.updated then coalesce(t.stderr, (
        select i.value from items i where i.owner_id = t.task_id and i.field = 5
        order by i.ordinal desc, i.position desc limit 1)) else t.stderr end as stderr,
    cast(null as real) as submitted_at,
    t.started_ns / 1e9 as started_at,
    coalesce(t.ended_ns, (
        select max(t.started_ns, r.interrupted_ns) from recorder r where r.key = t.recorder)) / 1e9 as ended_at,
    cast(null as real) as registered_at,
    coalesce(t.ended_ns, (
        select max(t.started_ns, r.interrupted_ns) from recorder r where r.key = t.recorder)) - t.started_ns as duration_ns,
    case when t.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, t.used -> e.fullkey as value, e.id as rank from json_each(t.used) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 1
            ) group by name order by rank
        )
    ) else t.used end as used,
    case when t.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, t.generated -> e.fullkey as value, 4611686019501129728 + e.id as rank
                from json_each(t.generated) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 2
            ) group by name order by rank
        )
    ) else t.generated end as generated,
    case when t.updated then (
        select nullif(json_group_array(value), '[]') from (
            select value from (
                select e.value as value, e.id as rank from json_each(t.dependencies) e
                union all
                select i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 8
            ) group by value order by min(rank)
        )
    ) else t.dependencies end as dependencies,
    case when t.updated or (select r.critical_tags from recorder r where r.key = t.recorder) is not null then (
        select nullif(json_group_array(json(value)), '[]') from (
            select value from (
                select t.tags -> e.fullkey as value, e.id as rank from json_each(t.tags) e
                union all
                select i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 7
                union all
                select json_quote(c.key), 9223372036854774784 + c.id
                from recorder r join json_each(r.critical_tags) c
                where r.key = t.recorder and case c.key
                    when 'long_duration' then (t.ended_ns - t.started_ns) / 1e9 > c.value
                    when 'high_cpu' then (
                        select d.machine_cpu_percent from task_telemetry d where d.task_id = t.task_id) > c.value
                    when 'high_mem' then (
                        select d.machine_memory_used_diff_bytes
                        from task_telemetry d where d.task_id = t.task_id) > c.value
                    when 'high_disk' then (
                        select coalesce(d.machine_disk_read_bytes, 0) + coalesce(d.machine_disk_write_bytes, 0)
                        from task_telemetry d where d.task_id = t.task_id) > c.value
                    when 'low_output' then (
                        select o.result from task_output o where o.task_id = t.task_id) < c.value
                    when 'high_output' then (
                        select o.result from task_output o where o.task_id = t.task_id) > c.value
                end
            ) group by value order by min(rank)
        )
    ) else t.tags end as tags,
    case when t.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, t.custom_metadata -> e.fullkey as value, e.id as rank
                from json_each(t.custom_metadata) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 4
            ) group by name order by rank
        )
    ) else t.custom_metadata end as custom_metadata,
    case when t.updated then coalesce((
        select i.value from items i where i.owner_id = t.task_id and i.field = 11
        order by i.ordinal desc, i.position desc limit 1), t.agent_id) else t.agent_id end as agent_id,
    case when t.updated then coalesce((
        select i.value from items i where i.owner_id = t.task_id and i.field = 12
        order by i.ordinal desc, i.position desc limit 1), t.source_agent_id)
    else t.source_agent_id end as source_agent_id,
    (select r.hostname from recorder r where r.key = t.recorder) as hostname,
    (select r.pid from recorder r where r.key = t.recorder) as pid,
    (select h.name from thread h where h.key = t.thread) as thread,
    case t.level
        when 0 then 'off' when 1 then 'lightweight' when 2 then 'data' when 3 then 'telemetry' when 4 then 'full'
    end as level,
    (select n.telemetry from snapshot n where n.key = t.start_snapshot) as telemetry_at_start,
    (select n.telemetry from snapshot n where n.key = t.end_snapshot) as telemetry_at_end,
    t.start_age_ms as snapshot_age_start_ms,
    t.end_age_ms as snapshot_age_end_ms,
    cast(null as text) as source
from task t
left join workflow w on w.key = t.workflow
left join activity a on a.key = t.activity;

drop view activities;
-- Durations are cut to three significant digits, which keeps the percentiles within half a per cent
-- and leaves a few thousand buckets to sort instead of all tasks.
create view activities as
select
    w.workflow_id,
    a.activity_id,
    coalesce(j.value ->> 0, 0) as calls,
    coalesce(j.value ->> 1, 0) as errors,
    j.value ->> 8 as left_out,
    j.value ->> 2 as total_ns,
    (j.value ->> 2) * 1.0 / (j.value ->> 3) as mean_ns,
    j.value ->> 4 as min_ns,
    j.value ->> 5 as max_ns,
    j.value ->> 6 as p50_ns,
    j.value ->> 7 as p95_ns
from step p
left join workflow w on w.key = p.workflow
left join activity a on a.key = p.activity
join json_each(json_array((
    select json_array(sum(calls), sum(errors), sum(total_ns), sum(iif(bucket is null, 0, calls)),
        min(min_ns), max(max_ns),
        min(iif(bucket is not null and upto * 100 >= ended * 50, bucket, null)),
        min(iif(bucket is not null and upto * 100 >= ended * 95, bucket, null)),
        coalesce((select sum(l.count) from left_out l
            where l.workflow = p.workflow and l.activity = p.activity), 0)
            - (select count(*) from brought_back b
                where b.workflow = p.workflow and b.activity = p.activity))
    from (
        select *,
            sum(iif(bucket is null, 0, calls)) over (order by bucket) as upto,
            sum(iif(bucket is null, 0, calls)) over () as ended
        from (
            select count(*) as calls, sum(status is 5) as errors, sum(ns) as total_ns,
                min(ns) as min_ns, max(ns) as max_ns,
                case
                    when ns < 1000 then ns
                    when ns < 10000 then ns / 10 * 10 + 5
                    when ns < 100000 then ns / 100 * 100 + 50
                    when ns < 1000000 then ns / 1000 * 1000 + 500
                    when ns < 10000000 then ns / 10000 * 10000 + 5000
                    when ns < 100000000 then ns / 100000 * 100000 + 50000
                    when ns < 1000000000 then ns / 1000000 * 1000000 + 500000
                    when ns < 10000000000 then ns / 10000000 * 10000000 + 5000000
                    when ns < 100000000000 then ns / 100000000 * 100000000 + 50000000
                    when ns < 1000000000000 then ns / 1000000000 * 1000000000 + 500000000
                    else ns / 10000000000 * 10000000000 + 5000000000
                end as bucket
            from (
                select t.ended_ns - t.started_ns as ns, t.status
                from task t where t.activity = p.activity and t.workflow = p.workflow
            )
            group by bucket
        )
    )
))) j on j.value ->> 0 is not null or j.value ->> 8 > 0;
