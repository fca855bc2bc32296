"""Takes snapshots of all host types as Flowcept does, with psutil, for each line on stdin, and answers with nanoseconds
of processor time a snapshot.

Flowcept imports what it needs for that only where its settings file asks for telemetry; here there is none."""

import os
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)

import psutil
from flowcept.flowceptor import telemetry_capture

SNAPSHOTS = 20
TYPES = ["cpu", "per_cpu", "process_info", "mem", "disk", "network"]

telemetry_capture.psutil = psutil
capture = telemetry_capture.TelemetryCapture({"gpu": None} | dict.fromkeys(TYPES, True))
snapshot = capture.capture()
for block in ["process", "cpu", "memory", "network", "disk"]:
    assert getattr(snapshot, block) is not None, "Flowcept must read every type"
print(0, file=answers)
for line in sys.stdin:
    start = time.process_time_ns()
    for _ in range(SNAPSHOTS):
        capture.capture()
    print((time.process_time_ns() - start) / SNAPSHOTS, file=answers)
