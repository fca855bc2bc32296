-- The views: the public surface. Columns are only ever added, at the end.
--
-- What people filter on is joined from the left and by key: SQLite turns such a join round where a
-- query filters on it. Everything else is a scalar subquery, which costs nothing where a query does
-- not ask for its column.

create view workflows as
select
    w.workflow_id,
    w.name,
    w.campaign_id,
    w.parent_workflow_id,
    w.parent_task_id,
    w.subtype,
    case coalesce(w.status, iif(w.started_ns is null, 6, iif(r.interrupted_ns is null, 3, 8)))
        when 1 then 'SUBMITTED' when 2 then 'WAITING' when 3 then 'RUNNING' when 4 then 'FINISHED'
        when 5 then 'ERROR' when 7 then 'CANCELLED' when 8 then 'INTERRUPTED' else 'UNKNOWN'
    end as status,
    w.started_ns / 1e9 as started_at,
    coalesce(w.ended_ns, max(w.started_ns, r.interrupted_ns)) / 1e9 as ended_at,
    coalesce(w.ended_ns, max(w.started_ns, r.interrupted_ns)) - w.started_ns as duration_ns,
    case when w.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, w.used -> e.fullkey as value, e.id as rank from json_each(w.used) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = w.workflow_id and i.field = 1
            ) group by name order by rank
        )
    ) else w.used end as used,
    case when w.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, w.generated -> e.fullkey as value, 4611686019501129728 + e.id as rank
                from json_each(w.generated) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = w.workflow_id and i.field = 2
            ) group by name order by rank
        )
    ) else w.generated end as generated,
    r.user,
    r.hostname,
    r.pid,
    r.exe,
    r.cmd_line,
    r.code_repository,
    r.settings,
    m.machine_id,
    case when w.updated then (
        select nullif(json_group_object(name, json(value)), '{}') from (
            select name, value, max(rank) as rank from (
                select e.key as name, w.custom_metadata -> e.fullkey as value, e.id as rank
                from json_each(w.custom_metadata) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = w.workflow_id and i.field = 4
            ) group by name order by rank
        )
    ) else w.custom_metadata end as custom_metadata,
    w.agent_id,
    r.recorder_version,
    json_patch(m.facts, coalesce(r.machine_state, '{}')) as machine_info
from workflow w
left join recorder r on r.key = w.recorder
left join machine m on m.key = r.machine;

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

-- Differences are null where both ends share one snapshot, and where a counter went down. A peak is the
-- highest of the readings from the start to the end: those of other tasks and of the sampler too.
create view task_telemetry as
select
    d.task_id,
    w.workflow_id,
    a.activity_id,
    d.duration_ns,
    iif(d.process_cpu_s >= 0, d.process_cpu_s, null) as process_cpu_s,
    d.process_rss_start_bytes,
    d.process_rss_end_bytes,
    d.process_rss_peak_bytes,
    iif(d.process_read_bytes >= 0, d.process_read_bytes, null) as process_read_bytes,
    iif(d.process_write_bytes >= 0, d.process_write_bytes, null) as process_write_bytes,
    iif(d.process_ctx_switches >= 0, d.process_ctx_switches, null) as process_ctx_switches,
    iif(d.machine_all_s > 0 and d.machine_idle_s >= 0,
        100.0 * (d.machine_all_s - d.machine_idle_s) / d.machine_all_s, null) as machine_cpu_percent,
    d.machine_memory_used_diff_bytes,
    iif(d.machine_disk_read_bytes >= 0, d.machine_disk_read_bytes, null) as machine_disk_read_bytes,
    iif(d.machine_disk_write_bytes >= 0, d.machine_disk_write_bytes, null) as machine_disk_write_bytes,
    iif(d.machine_net_sent_bytes >= 0, d.machine_net_sent_bytes, null) as machine_net_sent_bytes,
    iif(d.machine_net_recv_bytes >= 0, d.machine_net_recv_bytes, null) as machine_net_recv_bytes
from (
    select
        t.task_id,
        t.workflow,
        t.activity,
        t.ended_ns - t.started_ns as duration_ns,
        x.process_cpu_s - s.process_cpu_s as process_cpu_s,
        s.process_rss_bytes as process_rss_start_bytes,
        e.process_rss_bytes as process_rss_end_bytes,
        (select max(n.process_rss_bytes) from snapshot n
            where n.key between t.start_snapshot and t.end_snapshot) as process_rss_peak_bytes,
        x.process_read_bytes - s.process_read_bytes as process_read_bytes,
        x.process_write_bytes - s.process_write_bytes as process_write_bytes,
        x.process_ctx_switches - s.process_ctx_switches as process_ctx_switches,
        (select sum(n.atom) from json_each(x.telemetry, '$.cpu.times_avg') n)
            - (select sum(n.atom) from json_each(s.telemetry, '$.cpu.times_avg') n) as machine_all_s,
        (x.telemetry ->> '$.cpu.times_avg.idle') - (s.telemetry ->> '$.cpu.times_avg.idle') as machine_idle_s,
        x.memory_used_bytes - s.memory_used_bytes as machine_memory_used_diff_bytes,
        x.disk_read_bytes - s.disk_read_bytes as machine_disk_read_bytes,
        x.disk_write_bytes - s.disk_write_bytes as machine_disk_write_bytes,
        x.net_sent_bytes - s.net_sent_bytes as machine_net_sent_bytes,
        x.net_recv_bytes - s.net_recv_bytes as machine_net_recv_bytes
    from task t
    left join snapshot s on s.key = t.start_snapshot
    left join snapshot e on e.key = t.end_snapshot
    -- The end again, but only where it is another reading than the start.
    left join snapshot x on x.key = nullif(t.end_snapshot, t.start_snapshot)
) d
left join workflow w on w.key = d.workflow
left join activity a on a.key = d.activity;

create view task_gpus as
select
    t.task_id,
    cast(substr(g.key, 5) as integer) as gpu,
    case json_type(s.telemetry, '$.gpu') when 'object' then (
        select b.value ->> '$.used' from json_each(s.telemetry, '$.gpu') b where b.key = g.key
    ) end as used_start_bytes,
    g.value ->> '$.used' as used_end_bytes,
    (select max(b.value ->> '$.used') from snapshot n join json_each(n.telemetry, '$.gpu') b
        where n.key between coalesce(t.start_snapshot, t.end_snapshot) and t.end_snapshot and b.key = g.key
    ) as used_peak_bytes,
    coalesce(g.value ->> '$.power.average_socket_power', g.value ->> '$.power') as power,
    coalesce(g.value ->> '$.temperature.edge', g.value ->> '$.temperature') as temperature,
    coalesce(g.value ->> '$.activity.gfx_activity', g.value ->> '$.utilization') as utilization
from task t
left join snapshot s on s.key = t.start_snapshot
join snapshot e on e.key = t.end_snapshot
join json_each(e.telemetry, '$.gpu') g on g.type = 'object';

create view snapshots as
select
    r.recorder_id || ':' || (n.key & 4294967295) as snapshot_id,
    w.workflow_id,
    r.hostname,
    r.pid,
    n.taken_ns / 1e9 as taken_at,
    n.telemetry,
    n.cpu_percent,
    n.memory_used_bytes,
    n.memory_available_bytes,
    n.swap_used_bytes,
    n.process_cpu_s,
    n.process_cpu_percent,
    n.process_rss_bytes,
    n.process_threads,
    n.disk_read_bytes,
    n.disk_write_bytes,
    n.net_sent_bytes,
    n.net_recv_bytes,
    n.process_read_bytes,
    n.process_write_bytes,
    n.process_ctx_switches
from snapshot n
left join recorder r on r.key = n.key >> 32
left join workflow w on w.key = n.workflow;

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

create view ancestors as
select t.task_id, j.value ->> 0 as ancestor_task_id, j.value ->> 1 as depth
from task t
join json_each((
    with recursive up (id, depth) as (
        select t.parent_task_id, 1 where t.parent_task_id is not null
        union all
        select p.parent_task_id, up.depth + 1
        from up join task p on p.task_id = up.id
        where p.parent_task_id is not null and up.depth < 65536
    )
    select json_group_array(json_array(id, depth)) from up
)) j;

create view descendants as
select t.task_id, j.value ->> 0 as descendant_task_id, j.value ->> 1 as depth
from task t
join json_each((
    with recursive down (id, depth) as (
        select c.task_id, 1 from task c where c.parent_task_id = t.task_id
        union all
        select c.task_id, down.depth + 1
        from down join task c on c.parent_task_id = down.id
        where down.depth < 65536
    )
    select json_group_array(json_array(id, depth)) from down
)) j;

-- What may differ between two runs is that of the latest recorder on the machine.
create view machines as
select
    m.machine_id,
    m.info ->> '$.hostname' as hostname,
    m.info -> '$.platform' as platform,
    m.info -> '$.cpu' as cpu,
    m.info -> '$.memory' as memory,
    m.info -> '$.disk' as disk,
    m.info -> '$.network' as network,
    m.info -> '$.environment' as environment,
    m.info -> '$.gpu' as gpu
from (
    select
        machine_id,
        json_patch(facts, coalesce((
            select r.machine_state from recorder r where r.machine = machine.key
            order by r.recorder_id desc limit 1), '{}')) as info
    from machine
) m;

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
