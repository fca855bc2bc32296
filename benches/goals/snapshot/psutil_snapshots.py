"""Takes as many snapshots with psutil as a line of standard input asks for, and prints nanoseconds a snapshot.

The calls are those that Flowcept makes for one snapshot with all host types on."""

import sys
import time

import psutil


def process():
    found = psutil.Process()
    with found.oneshot():
        found.cpu_num()
        found.memory_info()._asdict()
        found.memory_percent()
        found.cpu_times()._asdict()
        found.cpu_percent()
        found.exe()
        found.cmdline()
        found.num_fds()
        len(found.net_connections())
        found.io_counters()._asdict()
        len(found.open_files())
        found.num_threads()
        found.num_ctx_switches()._asdict()


def host():
    psutil.cpu_times()._asdict()
    psutil.cpu_percent()
    psutil.cpu_freq()
    [times._asdict() for times in psutil.cpu_times(percpu=True)]
    psutil.cpu_percent(percpu=True)
    psutil.virtual_memory()._asdict()
    psutil.swap_memory()._asdict()
    psutil.net_io_counters()._asdict()
    {name: io._asdict() for name, io in psutil.net_io_counters(pernic=True).items()}
    psutil.disk_usage("/")._asdict()
    psutil.disk_io_counters()._asdict()
    {name: io._asdict() for name, io in psutil.disk_io_counters(perdisk=True).items()}


for line in sys.stdin:
    start = time.perf_counter_ns()
    for _ in range(int(line)):
        process()
        host()
    print((time.perf_counter_ns() - start) / int(line), flush=True)
