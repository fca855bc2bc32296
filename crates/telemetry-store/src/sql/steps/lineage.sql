-- Lineage by the moment at which a value was there, and by files.
--
-- at_ns: when the record was made that names the value, in unix nanoseconds.
-- evidence: 0 a path that is only named, 1 the path of a file, 2 a content, 3 a content at the path of a file.
alter table fingerprint add column at_ns integer;

update fingerprint set evidence = 0 where evidence = 1;

delete from fingerprint where not exists (select 1 from task t where t.task_id = fingerprint.task_id);

update fingerprint set at_ns = (
    select iif(fingerprint.direction = 1, t.ended_ns, t.started_ns) from task t where t.task_id = fingerprint.task_id
);

-- Behind these columns stand those of the primary key, so that of two values of one moment the same one
-- is always the later.
drop index fingerprint_by_value;

create index fingerprint_by_value on fingerprint (fingerprint, direction, at_ns);
