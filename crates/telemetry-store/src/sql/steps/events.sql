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
