"""Runs a burst of MLflow's child spans for each line on stdin, and answers with nanoseconds a span.

The argument says where they go: `file`, `sqlite` (a thread writes them) or `sqlite-sync` (the caller does)."""

import os
import sys
import time
from pathlib import Path

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

KIND = sys.argv[1]
BURST = 20

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "true" if KIND == "sqlite" else "false"

import mlflow

folder = Path.cwd()
mlflow.set_tracking_uri((folder / "mlruns").as_uri() if KIND == "file" else f"sqlite:///{folder / 'mlflow.db'}")
mlflow.set_experiment("bench")


@mlflow.trace
def measured(count, factor, name):
    return count + int(factor) + len(name)


@mlflow.trace
def burst():
    start = time.perf_counter_ns()
    for count in range(BURST):
        measured(count, 0.5, "sixteen bytes ok")
    return (time.perf_counter_ns() - start) / BURST


def flush():
    if KIND == "sqlite":
        mlflow.flush_trace_async_logging()


burst()
flush()
print(0, file=answers)
for line in sys.stdin:
    each = burst()
    flush()
    print(each, file=answers)
