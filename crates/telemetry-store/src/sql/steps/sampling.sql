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
