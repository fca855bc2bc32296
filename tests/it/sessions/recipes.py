"""The lines of the guide that session files come from, run on a session file, and the same asked of the database.

Prints what differs, and nothing where all agree. The lines of the guide are as they stand there, but for the path.

usage: recipes.py CSV JSON DATABASE PLOT
"""

import json
import sqlite3
import subprocess
import sys

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd

path, summary, database, plot = sys.argv[1:]
connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
# A session is the workflow that its summary names; nothing here uses the views that the files are made from.
workflow = json.load(open(summary))["workflow_id"]
TASKS = f"""(
    select coalesce(custom_metadata ->> '$.device', 'cpu') as device,
        coalesce(custom_metadata ->> '$.layer_idx', -1) as layer,
        coalesce(custom_metadata ->> '$.operation', activity_id) as operation,
        round(duration_ns / 1e6, 3) as ms, status = 'FINISHED' as success, ended_at
    from tasks where workflow_id = '{workflow}' and status not in ('RUNNING', 'INTERRUPTED')
      and coalesce(custom_metadata ->> '$.packet', 1) <> 0
)"""


def shell(line):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout


def rows(text):
    return [line.split() for line in text.splitlines()]


def sql(columns, rest=""):
    return connection.execute(f"select {columns} from {TASKS} {rest}").fetchall()


def same(what, found, expected):
    def near(a, b):
        if isinstance(a, str) and isinstance(b, str):
            return a == b
        return abs(float(a) - float(b)) <= 1e-3 + 1e-4 * abs(float(b))

    found, expected = [list(row) for row in found], [list(row) for row in expected]
    if len(found) != len(expected) or not all(
        len(a) == len(b) and all(near(x, y) for x, y in zip(a, b)) for a, b in zip(found, expected)
    ):
        print(f"{what}: the file says {found}, the database {expected}")


# Count operations per device
found = rows(shell(f"awk -F',' 'NR>1 {{print $2}}' {path} | sort | uniq -c"))
same("operations per device", found, sql("count(*), device", "group by device order by device"))

# Find slowest operations
found = rows(shell(f"awk -F',' 'NR>1 {{print $4, $7}}' {path} | sort -rn | head -n 10"))
slowest = sql("ms", "order by ms desc limit 10")
same("slowest operations", [row[:1] for row in found], slowest)

# Get average time per layer
found = rows(
    shell(
        f"awk -F',' 'NR>1 {{sum[$6]+=$4; count[$6]++}} END {{for(l in sum) print l, sum[l]/count[l]}}' {path} | sort -n"
    )
)
same("average time per layer", found, sql("layer, avg(ms)", "group by layer order by layer"))

# Count total operations
found = rows(shell(f"wc -l {path}"))[0][0]
same("total operations", [[int(found) - 1]], sql("count(*)"))

# Check success rate
found = shell(f"""awk -F',' 'NR>1 {{if($8=="True") s++; t++}} END {{print s/t*100"%"}}' {path}""")
same("success rate", [[found.strip().rstrip("%")]], sql("100.0 * sum(success) / count(*)"))

# Find errors
found = len(shell(f'grep "False" {path} || true').splitlines())
same("errors", [[found]], sql("count(*)", "where not success"))

# View JSON summary
breakdown = json.load(open(summary))["operation_breakdown"]
found = [[operation, figures["count"], figures["failed_count"]] for operation, figures in breakdown.items()]
same("breakdown", sorted(found), sql("operation, count(*), sum(not success)", "group by operation order by operation"))

df = pd.read_csv(path)

# Average time per device
found = df.groupby("device")["duration_ms"].mean()
same("average time per device", found.items(), sql("device, avg(ms)", "group by device order by device"))

# Operations per layer
found = df.groupby("layer_idx")["operation"].count()
same("operations per layer", found.items(), sql("layer, count(*)", "group by layer order by layer"))

same("success as a bool", [[int(df["success"].sum())]], sql("sum(success)"))
same("messages", [[int(df["error_message"].notna().sum())]], sql("count(*)", "where not success"))

# Plot timeline
same("time", [[df["timestamp"].min(), df["timestamp"].max()]], sql("min(ended_at), max(ended_at)"))
df["timestamp"] = pd.to_datetime(df["timestamp"], unit="s")
axes = df.plot(x="timestamp", y="duration_ms", kind="scatter", c="device", colormap="viridis")
points = len(axes.collections[0].get_offsets())
same("points of the timeline", [[points]], sql("count(*)"))
plt.savefig(plot)
