"""Asks the database that the argument names every line on stdin, and answers with the milliseconds."""

import sqlite3
import sys
import time

# Without statements that are kept: ours is prepared anew for every question, too.
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, cached_statements=0)
print(0, flush=True)
for line in sys.stdin:
    start = time.perf_counter_ns()
    rows = connection.execute(line).fetchall()
    took = time.perf_counter_ns() - start
    assert rows, line
    print(took / 1e6, flush=True)
