"""Compares the session files of a folder with its database, and prints figures and failures as JSON.

Independent of the code under test: Python's own csv, json and SQLite, and of the views only `tasks` and
`workflows`; the view `session_summary` says where the files are, and is itself held against the files.

usage: session.py DATABASE FOLDER_OF_SESSIONS [LEDGER]
"""

import csv
import json
import math
import os
import sqlite3
import sys

database, folder = sys.argv[1:3]
connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
connection.row_factory = sqlite3.Row
failures = []
HEADER = (
    "timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,memory_used_mb,error_message"
)


def must(what, holds):
    if not holds:
        failures.append(what)


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def plain(value):
    return "".join(" " if c == "," or ord(c) < 32 else "'" if c == '"' else c for c in str(value))


def expected_row(task, says):
    message = None
    if task["status"] != "FINISHED":
        message = task["stderr"] if task["stderr"] is not None else task["status"]
    return (
        f"{task['ended_at']:.6f}",
        plain(says.get("device", "cpu")),
        plain(says.get("worker_instance", task["thread"])),
        f"{task['duration_ns'] / 1e6:.3f}",
        plain(says.get("packet_id", task["task_id"])),
        plain(says.get("layer_idx", -1)),
        plain(says.get("operation", task["activity_id"])),
        "True" if task["status"] == "FINISHED" else "False",
        f"{says['memory_used_mb']:.2f}" if "memory_used_mb" in says else "",
        "" if message is None else "".join(" " if ord(c) < 32 else c for c in message),
    )


def near(a, b):
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-4, abs_tol=2e-6))


def check_figures(name, figures, tasks, row):
    wanted = {
        "session_name": os.path.basename(row["csv_log"]).removesuffix(".csv"),
        "total_packets_processed": len(tasks),
        "failed_packets": sum(task["status"] != "FINISHED" for task, _ in tasks),
        "tokens_generated": 0,
    }
    experts, operations = {}, {}
    for task, says in tasks:
        for expert in says.get("experts", []):
            experts[f"expert_{expert}"] = experts.get(f"expert_{expert}", 0) + 1
        wanted["tokens_generated"] += says.get("tokens_generated", 0)
        operations.setdefault(says.get("operation", task["activity_id"]), []).append(task["duration_ns"] / 1e6)
    for device in ("cpu", "igpu"):
        times = [task["duration_ns"] / 1e6 for task, says in tasks if says.get("device", "cpu") == device]
        wanted[f"{device}_packets"] = len(times)
        wanted[f"total_{device}_time_ms"] = sum(times)
        wanted[f"avg_{device}_time_ms"] = sum(times) / len(times) if times else None
        must(f"{name}: {device}_utilization {figures[f'{device}_utilization']}", 0 <= figures[f"{device}_utilization"] <= 1)
    for key, value in wanted.items():
        is_same = figures[key] == value if isinstance(value, str) else near(figures[key], value)
        must(f"{name}: {key} is {figures[key]}, not {value}", is_same)
    must(f"{name}: experts {figures['expert_selection_distribution']}", figures["expert_selection_distribution"] == experts)
    counts = {op: f["count"] for op, f in figures["operation_breakdown"].items()}
    must(f"{name}: operations {counts}", counts == {op: len(times) for op, times in operations.items()})
    for op, times in operations.items():
        found = figures["operation_breakdown"][op]
        for key, value in (("avg", sum(times) / len(times)), ("min", min(times)), ("max", max(times))):
            must(f"{name}: {op} {key} {found} {value}", near(found[f"{key}_time_ms"], value))
    for key in row.keys():
        value = figures[key]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            must(f"{name}: {key} is {value} in the file, {row[key]} in the view", near(value, row[key]))


rows_in_all = 0
names = set()
summaries = connection.execute("select * from session_summary").fetchall()
for row in summaries:
    tasks = connection.execute(
        "select task_id, activity_id, thread, status, stderr, ended_at, duration_ns, custom_metadata from tasks"
        " where workflow_id = ? and status not in ('RUNNING', 'INTERRUPTED')",
        (row["workflow_id"],),
    ).fetchall()
    tasks = [(task, json.loads(task["custom_metadata"] or "{}")) for task in tasks]
    if row["csv_log"] is None:
        failures.append(f"a session with {len(tasks)} packets has no files")
        continue
    name = os.path.basename(row["csv_log"])
    names |= {name, os.path.basename(row["json_summary"])}
    try:
        lines = open(row["csv_log"], newline="").read().split("\n")
        figures = json.load(open(row["json_summary"]), parse_constant=refuse)
    except Exception as error:
        failures.append(f"{name}: {error}")
        continue
    must(f"{name}: the header is {lines[0]}", lines[0] == HEADER)
    must(f"{name}: the last line is cut", lines[-1] == "")
    found = [tuple(fields) for fields in csv.reader(lines[1:-1])]
    must(f"{name}: a packet is not one line", len(found) == len(lines) - 2)
    must(f"{name}: awk would split wrongly", all(line.split(",")[:9] == list(fields[:9]) for line, fields in zip(lines[1:-1], found)))
    expected = [expected_row(task, says) for task, says in tasks]
    missing, more = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    must(
        f"{name}: {len(found)} rows for {len(expected)} packets; missing {missing[:2]}, too much {more[:2]}",
        sorted(found) == sorted(expected),
    )
    must(f"{name}: rows are not in the order of their ends", [f[0] for f in found] == sorted(f[0] for f in found) or row["status"] == "FINISHED")
    check_figures(name, figures, tasks, row)
    rows_in_all += len(found)

unwritten = connection.execute("select count(*) from session where not is_written").fetchone()[0]
must(f"{unwritten} sessions are not written", unwritten == 0)
present = os.listdir(folder) if os.path.isdir(folder) else []
for name in set(present) - names:
    # A kill between making a file and noting its name leaves one without packets.
    size = os.path.getsize(os.path.join(folder, name))
    must(f"{name} with {size} bytes belongs to nobody", name.endswith(".csv") and size <= len(HEADER) + 1)

if len(sys.argv) > 3:
    ended = {id.replace("-", "") for (id,) in connection.execute("select task_id from tasks where status in ('FINISHED', 'ERROR')")}
    data = open(sys.argv[3], "rb").read()
    told = [data[at + 8 : at + 24][::-1].hex() for at in range(0, len(data) - 23, 24)]
    lost = sum(1 for task in told if task not in ended)
    must(f"{lost} of {len(told)} packets are lost", lost == 0)

print(json.dumps({"figures": {"sessions": len(summaries), "rows": rows_in_all}, "failures": failures}))
