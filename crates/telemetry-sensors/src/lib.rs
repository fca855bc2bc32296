//! Readings of cpu, memory, process, disk, network, cgroup, gpu and machine.
