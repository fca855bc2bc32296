with recursive n (x) as (select 1 union all select x + 1 from n) select count(*) from n
with recursive n (x) as (select 1 union all select x + 1 from n) select x from n order by -x
with recursive n (x) as (select 'a' union all select x || x from n) select length(x) from n
select count(*) from task a, task b, task c, task d, task e, task f
select sum(length(hex(zeroblob(30000000 + a.key + b.key)))) from task a, task b
select instr(hex(zeroblob(16000000)), hex(zeroblob(15000000)) || 'x')
select replace(hex(zeroblob(8000000)), hex(zeroblob(3000000)) || '1', 'x')
select group_concat(hex(randomblob(1000))) from task a, task b, task c, task d
select trim(hex(zeroblob(8000000)), hex(zeroblob(8000000)))
select max(length(x)) from (select json_group_array(a.used) over (order by a.key, b.key) as x from task a, task b, task c)
with recursive n (x) as (select 1 union all select x + 1 from n) select sum(x) over (order by x desc) from n
