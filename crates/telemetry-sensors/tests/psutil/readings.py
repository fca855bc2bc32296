"""Prints psutil's readings of the host and of the process whose id comes on a line of standard input."""

import json
import sys

import psutil


def switches_of_all_threads(process):
    """What psutil calls those of a process are those of its first thread; it knows each thread by its id, too."""
    counts = [psutil.Process(thread.id).num_ctx_switches() for thread in process.threads()]
    return {name: sum(getattr(count, name) for count in counts) for name in ["voluntary", "involuntary"]}


def process(pid):
    found = psutil.Process(pid)
    return {
        "pid": found.pid,
        "memory": found.memory_info()._asdict(),
        "memory_percent": found.memory_percent(),
        "cpu_times": found.cpu_times()._asdict(),
        "executable": found.exe(),
        "cmd_line": found.cmdline(),
        "num_open_file_descriptors": found.num_fds(),
        "num_connections": len(found.net_connections()),
        "io_counters": found.io_counters()._asdict(),
        "num_open_files": len(found.open_files()),
        "num_threads": found.num_threads(),
        "num_ctx_switches": switches_of_all_threads(found),
    }


def host():
    frequency = psutil.cpu_freq()
    interfaces = psutil.net_io_counters(pernic=True)
    addresses = {
        name: sorted(json.dumps(address, separators=(",", ":")) for address in found)
        for name, found in psutil.net_if_addrs().items()
    }
    return {
        "addresses": addresses,
        "cpu": {
            "times_avg": psutil.cpu_times()._asdict(),
            "frequency": frequency and frequency.current,
            "times_per_cpu": [times._asdict() for times in psutil.cpu_times(percpu=True)],
        },
        "memory": {"virtual": psutil.virtual_memory()._asdict(), "swap": psutil.swap_memory()._asdict()},
        "disk": {
            "disk_usage": psutil.disk_usage("/")._asdict(),
            "io_sum": psutil.disk_io_counters()._asdict(),
            "io_per_disk": {name: io._asdict() for name, io in psutil.disk_io_counters(perdisk=True).items()},
        },
        "network": {
            "netio_sum": psutil.net_io_counters()._asdict(),
            "netio_per_interface": {
                name: io._asdict() for name, io in interfaces.items() if io.bytes_sent and io.bytes_recv
            },
        },
    }


for line in sys.stdin:
    print(json.dumps({"process": process(int(line)), **host()}), flush=True)
