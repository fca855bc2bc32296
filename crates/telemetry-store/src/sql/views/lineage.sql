-- A used value derives from the last task that generated the same before it was used, itself aside. A file
-- is the same by its path, unless its content is known to be another than the one that was written there
-- last; then by its content, at its path or else anywhere; and by its path again where nobody wrote such a
-- content. A path that a task names and generates is where it writes to, and not what it reads.
create view derivations as
select d.task_id, cast(null as text) as name, d.source_task_id, cast(null as text) as source_name,
    'declared' as evidence
from dependency d
where d.source_task_id <> d.task_id
union all
select u.task_id, u.name, g.task_id, cast(nullif(g.name, '') as text), iif(u.evidence = 2, 'content', 'path')
from fingerprint u
join fingerprint g on g.fingerprint = u.fingerprint and g.direction = 1 and g.at_ns <= u.at_ns
where u.direction = 0
    -- Later makers end the search for users; a few of them may be the user itself under several names.
    and u.at_ns <= coalesce((
        select n.at_ns from fingerprint n
        where n.fingerprint = g.fingerprint and n.direction = 1 and n.at_ns > g.at_ns
        order by n.at_ns limit 1 offset 3), 9223372036854775807)
    -- The last maker.
    and g.task_id = (
        select n.task_id from fingerprint n
        where n.fingerprint = u.fingerprint and n.direction = 1 and n.at_ns <= u.at_ns and n.task_id <> u.task_id
        order by n.at_ns desc, n.task_id desc, n.name desc limit 1)
    and g.name = (
        select n.name from fingerprint n
        where n.fingerprint = u.fingerprint and n.direction = 1 and n.at_ns <= u.at_ns and n.task_id <> u.task_id
        order by n.at_ns desc, n.task_id desc, n.name desc limit 1)
    and (u.evidence > 0 or not exists (
        select 1 from fingerprint o
        where o.fingerprint = u.fingerprint and o.direction = 1 and o.task_id = u.task_id))
    -- No better way to know it.
    and (
        u.evidence <= 1 and not exists (
            select 1 from fingerprint b
            where b.task_id = u.task_id and b.direction = 0 and b.name = u.name and b.evidence = 3
                and exists (
                    select 1 from fingerprint c
                    where c.task_id = g.task_id and c.direction = 1 and c.name = g.name and c.evidence = 3)
                and not exists (
                    select 1 from fingerprint c
                    where c.task_id = g.task_id and c.direction = 1 and c.name = g.name
                        and c.fingerprint = b.fingerprint))
        or not exists (
            select 1 from fingerprint b
            where b.task_id = u.task_id and b.direction = 0 and b.name = u.name and b.evidence > u.evidence
                and exists (
                    select 1 from fingerprint n
                    where n.fingerprint = b.fingerprint and n.direction = 1 and n.at_ns <= b.at_ns
                        and n.task_id <> b.task_id))
        and (u.evidence <= 1 or not exists (
            select 1 from fingerprint p
            join fingerprint q on q.fingerprint = p.fingerprint and q.direction = 1
            where p.task_id = u.task_id and p.direction = 0 and p.name = u.name and p.evidence <= 1
                and q.task_id = (
                    select n.task_id from fingerprint n
                    where n.fingerprint = p.fingerprint and n.direction = 1 and n.at_ns <= p.at_ns
                        and n.task_id <> p.task_id
                    order by n.at_ns desc, n.task_id desc, n.name desc limit 1)
                and q.name = (
                    select n.name from fingerprint n
                    where n.fingerprint = p.fingerprint and n.direction = 1 and n.at_ns <= p.at_ns
                        and n.task_id <> p.task_id
                    order by n.at_ns desc, n.task_id desc, n.name desc limit 1)
                and not exists (
                    select 1 from fingerprint b
                    where b.task_id = u.task_id and b.direction = 0 and b.name = u.name and b.evidence = 3
                        and exists (
                            select 1 from fingerprint c
                            where c.task_id = q.task_id and c.direction = 1 and c.name = q.name and c.evidence = 3)
                        and not exists (
                            select 1 from fingerprint c
                            where c.task_id = q.task_id and c.direction = 1 and c.name = q.name
                                and c.fingerprint = b.fingerprint)))));
