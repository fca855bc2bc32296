"""Compares databases with what ledgers know was accepted, and answers figures and failures as JSON.

Each line of the input is a question, with the database, the ledger, the threads of all rounds, and whether the
database is that of a plain queue; each is answered by one line.

Independent of the code under test: Python's own SQLite, opened read-only, and the views only (and the
two base tables that hold what could not be kept properly, which must be empty).
"""

import gc
import json
import sqlite3
import sys


def read_ledger(ledger):
    """The ids whose START and whose END were accepted; an id that was told twice shows in the counts."""
    told = {1: [], 2: []}
    data = open(ledger, "rb").read()
    for at in range(0, len(data) - 23, 24):
        told[data[at]].append(data[at + 8 : at + 24][::-1].hex())
    return told[1], told[2]


def depths(rows):
    """How many tasks have no parent, or one too many, or are not one level below it."""
    depth = {task: level for task, _, _, level in rows}
    return sum(
        1
        for _, _, parent, level in rows
        if level is not None
        and ((level > 0) != (parent is not None) or (level > 0 and depth.get(parent) != level - 1))
    )


def read_rows(connection, is_queue):
    """Of each task its id, its status, its parent and its depth."""
    others = "null, 0" if is_queue else "replace(parent_task_id, '-', ''), depth"
    return connection.execute(f"select replace(task_id, '-', ''), status, {others} from tasks").fetchall()


def check(database, ledger, threads, is_queue):
    """What is there and what is not."""
    starts, ends = read_ledger(ledger)
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.execute("pragma temp_store = memory")
    connection.execute("pragma cache_size = -65536")
    rows = read_rows(connection, is_queue)
    status = {task: state for task, state, _, _ in rows}
    finished = sum(1 for _, state, _, _ in rows if state == "FINISHED")
    failures = []

    def one(sql):
        return connection.execute(sql).fetchone()[0]

    def must(what, holds):
        if not holds:
            failures.append(what)

    lost_starts = sum(1 for task in starts if task not in status)
    lost_ends = sum(1 for task in ends if status.get(task) != "FINISHED")
    integrity = [line for (line,) in connection.execute("pragma integrity_check")]
    figures = {
        "starts": len(starts),
        "ends": len(ends),
        "lost_starts": lost_starts,
        "lost_ends": lost_ends,
        "rows": len(rows),
        "interrupted": len(rows) - finished,
        "duplicates": len(rows) - len(status) + len(starts) - len(set(starts)),
        "integrity_errors": 0 if integrity == ["ok"] else len(integrity),
    }
    must(f"integrity_check: {integrity[:3]}", integrity == ["ok"])

    if not is_queue:
        health = connection.execute(
            "select offered, persisted, pending,"
            " dropped_full + dropped_oversize + dropped_nested + dropped_stopped, torn, recovered"
            " from health order by recorder"
        ).fetchall()
        offered, persisted, pending, dropped, torn, _ = (sum(row[at] for row in health) for at in range(6))
        figures |= {
            "offered": offered,
            "persisted": persisted,
            "torn": torn,
            "recovered": [row[5] for row in health],
        }
        must(f"{lost_starts} accepted STARTs are lost", lost_starts == 0)
        must(f"{lost_ends} accepted ENDs are lost", lost_ends == 0)
        must(f"{figures['duplicates']} duplicates", figures["duplicates"] == 0)
        # At the kill, each thread may have had one record accepted and not yet told the ledger.
        must("there are rows that nobody made", len(rows) - len(starts) <= threads)
        must("there are ends that nobody made", finished - len(ends) <= threads)
        open_tasks = {state for _, state, _, _ in rows} - {"FINISHED", "INTERRUPTED"}
        must(f"open tasks are {open_tasks}, not INTERRUPTED", not open_tasks)
        must(
            "an open workflow is not INTERRUPTED",
            one("select count(*) from workflows where status <> 'INTERRUPTED'") == 0,
        )
        must("a child has no parent, or not at its depth", depths(rows) == 0)
        must(f"the law: {health}", all(o == p + q + d + t for o, p, q, d, t, _ in health))
        must(f"{pending} records are pending although their process is dead", pending == 0)
        must(f"{dropped} records were dropped", dropped == 0)
        must(f"{torn} records are torn", torn <= threads)
        # What the counters call persisted can be counted in the tables, record by record.
        workflows = one("select count(*) from workflows where started_at is not null")
        counted = len(rows) + finished + workflows + one("select count(*) from snapshots")
        must(f"{persisted} records are persisted, the tables hold {counted}", persisted == counted)
        must("records were unreadable", one("select count(*) from unreadable") == 0)
        must("records left a gap", one("select count(*) from gaps") == 0)
    connection.close()
    return {"figures": figures, "failures": failures}


# Nothing here refers to itself, and to look for that takes longer than to check.
gc.disable()
for line in sys.stdin:
    print(json.dumps(check(**json.loads(line))), flush=True)
