-- Sessions: work packets, the figures of a session, and which of them have files.

-- Workflows whose settings ask for session files. A row is made with the workflow's own, so that no kill
-- comes between; it is written once both files have everything.
create table session (
    workflow integer primary key,
    -- Where the files are and what they are called, without endings; null until they are begun.
    folder text,
    name text,
    is_written integer not null default 0
);
create index session_to_write on session (workflow) where not is_written;

-- Every task as a work packet, the open ones too. What it says about itself in its metadata comes first.
create view packet as
select
    t.key,
    t.task_id,
    w.workflow_id,
    a.activity_id,
    t.recorder,
    t.thread,
    t.status,
    t.started_ns,
    t.ended_ns,
    t.start_snapshot,
    t.end_snapshot,
    case when t.status <> 4 then coalesce(
        iif(t.updated, coalesce(t.stderr, (
            select i.value from items i where i.owner_id = t.task_id and i.field = 5
            order by i.ordinal desc, i.position desc limit 1)), t.stderr),
        case t.status when 5 then 'ERROR' when 7 then 'CANCELLED' else 'UNKNOWN' end) end as error_message,
    m.value as metadata
from task t
left join workflow w on w.key = t.workflow
left join activity a on a.key = t.activity
join json_each(json_array(json(coalesce(
    case when t.updated then (
        select json_group_object(name, json(value)) from (
            select name, value, max(rank) as rank from (
                select e.key as name, t.custom_metadata -> e.fullkey as value, e.id as rank
                from json_each(t.custom_metadata) e
                union all
                select i.name, i.value, (i.ordinal + 1) * 1073741824 + i.position
                from items i where i.owner_id = t.task_id and i.field = 4
            ) group by name
        )
    ) else t.custom_metadata end, '{}')))) m
-- A task that only holds others together says `packet = false`.
where t.started_ns is not null and coalesce(m.value ->> '$.packet', 1) <> 0;

-- The packets that have ended, with the columns of a session's file.
create view packets as
select
    p.workflow_id,
    p.task_id,
    p.ended_ns / 1e9 as timestamp,
    coalesce(p.metadata ->> '$.device', 'cpu') as device,
    coalesce(p.metadata ->> '$.worker_instance', (select h.name from thread h where h.key = p.thread), '')
        as worker_instance,
    (p.ended_ns - p.started_ns) / 1e6 as duration_ms,
    coalesce(p.metadata ->> '$.packet_id', p.task_id) as packet_id,
    coalesce(p.metadata ->> '$.layer_idx', -1) as layer_idx,
    coalesce(p.metadata ->> '$.operation', p.activity_id, '') as operation,
    p.status = 4 as success,
    coalesce(p.metadata ->> '$.memory_used_mb', (
        select (e.process_rss_bytes - s.process_rss_bytes) / 1048576.0
        from snapshot s join snapshot e on e.key = nullif(p.end_snapshot, p.start_snapshot)
        where s.key = p.start_snapshot)) as memory_used_mb,
    p.error_message,
    p.started_ns,
    p.ended_ns - p.started_ns as duration_ns,
    p.metadata -> '$.experts' as experts,
    p.metadata ->> '$.num_experts' as num_experts,
    p.metadata ->> '$.prompt_tokens' as prompt_tokens,
    p.metadata ->> '$.tokens_generated' as tokens_generated,
    p.metadata ->> '$.flops' as flops,
    p.metadata ->> '$.dense_flops' as dense_flops
from packet p
where p.status is not null and p.ended_ns is not null;

-- How often each layer chose each expert. `experts` of a packet is a list of those that it chose, or an
-- object of how often it chose which. load is 1 for a fair share; balance is Jain's index, 1 where all
-- experts of the layer have the same load, 1 / experts where one has it all.
create view expert_selection as
select
    w.workflow_id,
    j.value ->> 0 as layer_idx,
    j.value ->> 1 as expert,
    j.value ->> 2 as selections,
    j.value ->> 3 as share,
    j.value ->> 4 as load,
    j.value ->> 5 as experts,
    j.value ->> 6 as balance
from workflow w
join json_each((
    select json_group_array(json_array(layer_idx, expert, selections, selections * 1.0 / total,
        selections * 1.0 * experts / total, experts, total * 1.0 * total / (experts * squares)))
    from (
        select layer_idx, expert, selections,
            sum(selections) over layer as total,
            sum(selections * selections) over layer as squares,
            max(count(*) over layer, coalesce(max(num_experts) over layer, 0)) as experts
        from (
            select layer_idx,
                iif(expert <> '' and expert not glob '*[^0-9]*', cast(expert as integer), expert) as expert,
                sum(selections) as selections,
                max(num_experts) as num_experts
            from (
                select p.layer_idx, p.num_experts,
                    iif(json_type(p.experts) = 'object', e.key, e.value) as expert,
                    iif(json_type(p.experts) = 'object', e.value, 1) as selections
                from packets p join json_each(p.experts) e
                where p.workflow_id = w.workflow_id and e.type in ('integer', 'text')
            )
            group by 1, 2 having sum(selections) > 0
        )
        window layer as (partition by layer_idx)
        order by layer_idx, selections desc, expert
    )
)) j;

-- The figures of every workflow that has packets, whether it has session files or not. A materialized table
-- cannot be shared inside a view that is asked for one workflow; so the packets are read once, into groups
-- of one device and operation (j), and what is asked for is made of the few groups (k).
create view session_summary as
select
    w.workflow_id,
    s.name as session_name,
    (select f.status from workflows f where f.workflow_id = w.workflow_id) as status,
    (k.value ->> '$.started_ns') / 1e9 as start_time,
    (k.value ->> '$.ended_ns') / 1e9 as end_time,
    (k.value ->> '$.wall_ns') / 1e9 as total_time_s,
    k.value ->> '$.prompt_tokens' as prompt_tokens,
    k.value ->> '$.tokens_generated' as tokens_generated,
    (k.value ->> '$.prompt_tokens') + (k.value ->> '$.tokens_generated') as total_tokens,
    (k.value ->> '$.tokens_generated') * 1e9 / nullif(k.value ->> '$.wall_ns', 0) as tokens_per_second,
    k.value ->> '$.packets' as total_packets_processed,
    k.value ->> '$.cpu_packets' as cpu_packets,
    k.value ->> '$.igpu_packets' as igpu_packets,
    k.value ->> '$.failed' as failed_packets,
    (select count(*) from packet o join recorder r on r.key = o.recorder
        where o.workflow_id = w.workflow_id and o.status is null and r.interrupted_ns is not null)
        as interrupted_packets,
    1 - (k.value ->> '$.failed') * 1.0 / (k.value ->> '$.packets') as success_rate,
    (k.value ->> '$.cpu_ns') / 1e6 as total_cpu_time_ms,
    (k.value ->> '$.igpu_ns') / 1e6 as total_igpu_time_ms,
    (k.value ->> '$.cpu_ns') / 1e6 / nullif(k.value ->> '$.cpu_packets', 0) as avg_cpu_time_ms,
    (k.value ->> '$.igpu_ns') / 1e6 / nullif(k.value ->> '$.igpu_packets', 0) as avg_igpu_time_ms,
    (k.value ->> '$.cpu_busy_ns') * 1.0 / nullif(k.value ->> '$.wall_ns', 0) as cpu_utilization,
    (k.value ->> '$.igpu_busy_ns') * 1.0 / nullif(k.value ->> '$.wall_ns', 0) as igpu_utilization,
    k.value ->> '$.contention' as cpu_igpu_contention_events,
    (k.value ->> '$.p50_ns') / 1e6 as p50_time_ms,
    (k.value ->> '$.p95_ns') / 1e6 as p95_time_ms,
    (k.value ->> '$.p99_ns') / 1e6 as p99_time_ms,
    1 - (k.value ->> '$.flops') * 1.0 / nullif(k.value ->> '$.dense_flops', 0) as flop_reduction,
    (select json_group_object(device, json(figures)) from (
        select g.value ->> '$.device' as device, json_object(
            'packets', sum(g.value ->> '$.packets'),
            'failed', sum(g.value ->> '$.failed'),
            'total_time_ms', round(sum(g.value ->> '$.total_ns') / 1e6, 6),
            'avg_time_ms', round(sum(g.value ->> '$.total_ns') / 1e6 / sum(g.value ->> '$.packets'), 6),
            'busy_time_ms', round(sum(g.value ->> '$.busy_ns') / 1e6, 6),
            'utilization', round(sum(g.value ->> '$.busy_ns') * 1.0 / nullif(k.value ->> '$.wall_ns', 0), 6)) as figures
        from json_each(j.value) g group by 1 order by 1)) as devices,
    (select json_group_object(operation, json(figures)) from (
        select g.value ->> '$.operation' as operation, json_object(
            'count', sum(g.value ->> '$.packets'),
            'avg_time_ms', round(sum(g.value ->> '$.total_ns') / 1e6 / sum(g.value ->> '$.packets'), 6),
            'cpu_count', sum(iif(g.value ->> '$.device' = 'cpu', g.value ->> '$.packets', 0)),
            'igpu_count', sum(iif(g.value ->> '$.device' = 'igpu', g.value ->> '$.packets', 0)),
            'total_time_ms', round(sum(g.value ->> '$.total_ns') / 1e6, 6),
            'min_time_ms', round(min(g.value ->> '$.min_ns') / 1e6, 6),
            'max_time_ms', round(max(g.value ->> '$.max_ns') / 1e6, 6),
            'failed_count', sum(g.value ->> '$.failed')) as figures
        from json_each(j.value) g group by 1 order by 1)) as operation_breakdown,
    (select json_group_object(iif(typeof(expert) = 'integer', 'expert_' || expert, expert), selections) from (
        select x.expert, sum(x.selections) as selections from expert_selection x
        where x.workflow_id = w.workflow_id group by 1 order by 2 desc, 1)) as expert_selection_distribution,
    s.folder || '/' || s.name || '.csv' as csv_log,
    s.folder || '/' || s.name || '.json' as json_summary
from workflow w
left join session s on s.workflow = w.key
join json_each(json_array((
    select json_group_array(json_object(
        'device', device, 'operation', operation, 'packets', packets, 'failed', failed,
        'started_ns', started_ns, 'ended_ns', ended_ns,
        'total_ns', total_ns, 'min_ns', min_ns, 'max_ns', max_ns, 'busy_ns', busy_ns,
        'p50_ns', p50_ns, 'p95_ns', p95_ns, 'p99_ns', p99_ns, 'contention', contention,
        'prompt_tokens', prompt_tokens, 'tokens_generated', tokens_generated,
        'flops', flops, 'dense_flops', dense_flops))
    from (
        select device, operation, count(*) as packets, sum(not success) as failed,
            min(started_ns) as started_ns, max(ended_ns) as ended_ns,
            sum(duration_ns) as total_ns, min(duration_ns) as min_ns, max(duration_ns) as max_ns,
            sum(max(0, ended_ns - max(started_ns, coalesce(busy_until, 0)))) as busy_ns,
            min(iif(rank * 100 >= all_packets * 50, duration_ns, null)) as p50_ns,
            min(iif(rank * 100 >= all_packets * 95, duration_ns, null)) as p95_ns,
            min(iif(rank * 100 >= all_packets * 99, duration_ns, null)) as p99_ns,
            sum(case device
                when 'cpu' then coalesce(igpu_until, 0) > started_ns
                when 'igpu' then coalesce(cpu_until, 0) > started_ns
                else 0 end) as contention,
            sum(prompt_tokens) as prompt_tokens,
            sum(tokens_generated) as tokens_generated,
            -- Only packets that say both what they computed and what a model without experts would have.
            sum(iif(dense_flops is null, null, flops)) as flops,
            sum(iif(flops is null, null, dense_flops)) as dense_flops
        from (
            select device, operation, success, started_ns, duration_ns, prompt_tokens, tokens_generated, flops,
                dense_flops,
                started_ns + duration_ns as ended_ns,
                -- Until when those that began before this one kept its device, the CPU or the iGPU busy.
                max(started_ns + duration_ns) over (partition by device order by started_ns, task_id
                    rows between unbounded preceding and 1 preceding) as busy_until,
                max(iif(device = 'cpu', started_ns + duration_ns, null)) over earlier as cpu_until,
                max(iif(device = 'igpu', started_ns + duration_ns, null)) over earlier as igpu_until,
                row_number() over (order by duration_ns) as rank,
                count(*) over () as all_packets
            from packets where workflow_id = w.workflow_id
            window earlier as (order by started_ns, task_id rows between unbounded preceding and 1 preceding)
        )
        group by device, operation
    )
))) j
join json_each(json_array((
    select json_object(
        'packets', sum(g.value ->> '$.packets'),
        'failed', sum(g.value ->> '$.failed'),
        'cpu_packets', sum(iif(g.value ->> '$.device' = 'cpu', g.value ->> '$.packets', 0)),
        'igpu_packets', sum(iif(g.value ->> '$.device' = 'igpu', g.value ->> '$.packets', 0)),
        'cpu_ns', sum(iif(g.value ->> '$.device' = 'cpu', g.value ->> '$.total_ns', 0)),
        'igpu_ns', sum(iif(g.value ->> '$.device' = 'igpu', g.value ->> '$.total_ns', 0)),
        'cpu_busy_ns', sum(iif(g.value ->> '$.device' = 'cpu', g.value ->> '$.busy_ns', 0)),
        'igpu_busy_ns', sum(iif(g.value ->> '$.device' = 'igpu', g.value ->> '$.busy_ns', 0)),
        'started_ns', min(min(g.value ->> '$.started_ns'), coalesce(w.started_ns, min(g.value ->> '$.started_ns'))),
        'ended_ns', max(max(g.value ->> '$.ended_ns'), coalesce(w.ended_ns, 0)),
        'wall_ns', max(max(g.value ->> '$.ended_ns'), coalesce(w.ended_ns, 0))
            - min(min(g.value ->> '$.started_ns'), coalesce(w.started_ns, min(g.value ->> '$.started_ns'))),
        'contention', sum(g.value ->> '$.contention'),
        'p50_ns', min(g.value ->> '$.p50_ns'),
        'p95_ns', min(g.value ->> '$.p95_ns'),
        'p99_ns', min(g.value ->> '$.p99_ns'),
        'prompt_tokens', coalesce(sum(g.value ->> '$.prompt_tokens'), 0),
        'tokens_generated', coalesce(sum(g.value ->> '$.tokens_generated'), 0),
        'flops', sum(g.value ->> '$.flops'),
        'dense_flops', sum(g.value ->> '$.dense_flops'))
    from json_each(j.value) g
))) k on k.value ->> '$.packets' > 0;
