-- The base tables. They may change with a migration; the views are what others read.
--
-- Every column has one owner among the records (START, END, UPDATE ...), or a rule that does not
-- depend on the order, so that records may be merged in any order and any number of times.
-- 0 in a column that points to another table means none: an index treats it as a value.

create table machine (
    key integer primary key,
    machine_id text not null unique,
    facts text not null
);

create table recorder (
    key integer primary key,
    recorder_id text not null unique,
    pid integer,
    user text,
    hostname text,
    exe text,
    cmd_line text,
    code_repository text,
    settings text,
    recorder_version text,
    machine integer,
    -- What its process saw of the machine and another may not: use, addresses, environment.
    machine_state text,
    -- When it was found dead: what is open then is INTERRUPTED, without touching a single task.
    interrupted_ns integer,
    offered integer not null default 0,
    persisted integer not null default 0,
    pending integer not null default 0,
    dropped_full integer not null default 0,
    dropped_oversize integer not null default 0,
    dropped_nested integer not null default 0,
    dropped_stopped integer not null default 0,
    torn integer not null default 0,
    waits integer not null default 0,
    spilled integer not null default 0,
    recovered integer not null default 0,
    warnings text
);

create index recorder_by_machine on recorder (machine, recorder_id);

create table workflow (
    key integer primary key,
    workflow_id text not null unique,
    parent_workflow_id text,
    parent_task_id text,
    recorder integer not null default 0,
    status integer,
    error_kind integer,
    started_ns integer,
    ended_ns integer,
    name text,
    campaign_id text,
    subtype text,
    agent_id text,
    used text,
    generated text,
    custom_metadata text,
    updated integer
);

create index workflow_by_parent_task on workflow (parent_task_id) where parent_task_id is not null;

create index workflow_by_parent on workflow (parent_workflow_id) where parent_workflow_id is not null;

create table activity (
    key integer primary key,
    activity_id text not null unique
);

-- Where an activity is in the code; two functions may share one name.
create table activity_site (
    activity integer not null,
    path text not null,
    file text,
    line integer,
    primary key (activity, path)
) without rowid;

create table thread (
    key integer primary key,
    name text not null unique
);

-- Which activities a workflow has, so that `activities` need not search for them.
create table step (
    workflow integer not null,
    activity integer not null,
    primary key (workflow, activity)
) without rowid;

create index step_by_activity on step (activity);

create table task (
    key integer primary key,
    task_id text not null unique,
    parent_task_id text,
    -- Only where it is neither the task itself nor its parent.
    root_task_id text,
    workflow integer not null default 0,
    activity integer not null default 0,
    recorder integer not null default 0,
    thread integer not null default 0,
    depth integer,
    level integer,
    -- As its END says; null while it is open.
    status integer,
    error_kind integer,
    started_ns integer,
    ended_ns integer,
    used text,
    generated text,
    start_snapshot integer,
    start_age_ms integer,
    end_snapshot integer,
    end_age_ms integer,
    -- 1 where the table `items` has more about it.
    updated integer,
    subtype text,
    group_id text,
    agent_id text,
    source_agent_id text,
    stdout text,
    stderr text,
    tags text,
    dependencies text,
    custom_metadata text
);

create index task_by_parent on task (parent_task_id) where parent_task_id is not null;

create index task_by_workflow on task (workflow);

create index task_by_activity on task (activity, workflow);

-- What does not have its own column: UPDATE records, and fields in a record that seldom has them.
-- For one key the highest ordinal, then position, wins: -1 is START, 4294967296 is END.
create table items (
    owner_id text not null,
    field integer not null,
    ordinal integer not null,
    position integer not null,
    name text,
    value text not null,
    primary key (owner_id, field, ordinal, position)
) without rowid;

-- The key is the recorder's key << 32 | the snapshot's number in it: tasks point to it by that. Numbers
-- rise with time, so what was read during a task lies between its two keys.
-- Numbers that are compared are columns: to write them costs 5 µs a snapshot, a tenth of taking it, and
-- a series is read 4 times, a peak found 7 times as fast as in the JSON. They stand before it, since
-- what comes after a long text is slow to reach.
create table snapshot (
    key integer primary key,
    workflow integer not null default 0,
    taken_ns integer,
    cpu_percent generated always as (telemetry ->> '$.cpu.percent_all') stored,
    memory_used_bytes generated always as (telemetry ->> '$.memory.virtual.used') stored,
    memory_available_bytes generated always as (telemetry ->> '$.memory.virtual.available') stored,
    swap_used_bytes generated always as (telemetry ->> '$.memory.swap.used') stored,
    process_cpu_s generated always as ((telemetry ->> '$.process.cpu_times.user') + (telemetry ->> '$.process.cpu_times.system')) stored,
    process_cpu_percent generated always as (telemetry ->> '$.process.cpu_percent') stored,
    process_rss_bytes generated always as (telemetry ->> '$.process.memory.rss') stored,
    process_threads generated always as (telemetry ->> '$.process.num_threads') stored,
    process_read_bytes generated always as (telemetry ->> '$.process.io_counters.read_bytes') stored,
    process_write_bytes generated always as (telemetry ->> '$.process.io_counters.write_bytes') stored,
    process_ctx_switches generated always as ((telemetry ->> '$.process.num_ctx_switches.voluntary') + (telemetry ->> '$.process.num_ctx_switches.involuntary')) stored,
    disk_read_bytes generated always as (telemetry ->> '$.disk.io_sum.read_bytes') stored,
    disk_write_bytes generated always as (telemetry ->> '$.disk.io_sum.write_bytes') stored,
    net_sent_bytes generated always as (telemetry ->> '$.network.netio_sum.bytes_sent') stored,
    net_recv_bytes generated always as (telemetry ->> '$.network.netio_sum.bytes_recv') stored,
    telemetry text
);

create index snapshot_by_workflow on snapshot (workflow);

-- direction: 0 used, 1 generated. evidence: 1 path, 2 content.
create table fingerprint (
    task_id text not null,
    direction integer not null,
    name text not null,
    fingerprint integer not null,
    evidence integer not null,
    primary key (task_id, direction, name, fingerprint)
) without rowid;

create index fingerprint_by_value on fingerprint (fingerprint, direction);

create table dependency (
    task_id text not null,
    source_task_id text not null,
    primary key (task_id, source_task_id)
) without rowid;

create index dependency_by_source on dependency (source_task_id);

create table gaps (
    recorder integer not null,
    lane integer not null,
    sequence integer not null,
    first_ns integer not null,
    last_ns integer not null,
    count integer not null,
    primary key (recorder, lane, sequence)
) without rowid;

-- Records that this version cannot read, kept for one that can.
create table unreadable (
    recorder integer not null,
    lane integer not null,
    sequence integer not null,
    kind integer not null,
    bytes blob not null,
    primary key (recorder, lane, sequence)
) without rowid;
