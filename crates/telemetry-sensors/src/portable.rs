//! Systems other than Linux, through sysinfo: the same names, and fewer of them.
//!
//! It is compiled for tests on Linux too, where what it tells can be seen.

mod machine;

use sysinfo::{Disks, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use crate::backend::{Backend, Wanted};
use crate::percent;
use crate::telemetry::{
    Cpu, Disk, DiskUsage, IoCounters, Memory, Network, NetworkIo, Process, ProcessMemory, Swap, Telemetry,
    Virtual,
};

#[cfg_attr(target_os = "linux", expect(unused_imports, reason = "Linux has facts of its own"))]
pub(crate) use machine::facts;

/// sysinfo's handles for what the toggles ask for.
#[derive(Debug)]
pub(crate) struct Portable {
    wanted: Wanted,
    system: Option<System>,
    networks: Option<Networks>,
    disks: Option<Disks>,
}

impl Backend for Portable {
    fn open(wanted: Wanted) -> Self {
        let networks = || Networks::new_with_refreshed_list().ok();
        let disks = || Disks::new_with_refreshed_list().ok();
        Self {
            wanted,
            system: System::new().ok(),
            networks: wanted.network.then(networks).flatten(),
            disks: wanted.disk.then(disks).flatten(),
        }
    }

    fn read(&mut self, slow: bool, telemetry: &mut Telemetry) {
        if let Some(system) = &mut self.system {
            read_system(system, self.wanted, slow, telemetry);
        }
        if let Some(networks) = &mut self.networks {
            networks.refresh(true);
            read_network(networks, telemetry.network.get_or_insert_default());
        }
        if let Some(disks) = self.disks.as_mut().filter(|_| slow) {
            disks.refresh(true);
            telemetry.disk = Some(read_disk(disks));
        }
    }
}

fn read_system(system: &mut System, wanted: Wanted, slow: bool, telemetry: &mut Telemetry) {
    if wanted.process || wanted.memory {
        system.refresh_memory();
    }
    if wanted.process {
        read_process(system, slow, telemetry.process.get_or_insert_default());
    }
    if wanted.any_cpu() {
        read_cpu(system, wanted, slow, telemetry.cpu.get_or_insert_default());
    }
    if wanted.memory {
        telemetry.memory = Some(memory(system));
    }
}

fn read_process(system: &mut System, slow: bool, process: &mut Process) {
    process.pid = std::process::id();
    let pid = Pid::from_u32(process.pid);
    let once = UpdateKind::OnlyIfNotSet;
    let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().with_disk_usage();
    let kind = kind.with_exe(once).with_cmd(once);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, kind);
    let Some(found) = system.process(pid) else { return };
    let (rss, usage) = (found.memory(), found.disk_usage());
    process.memory = Some(ProcessMemory { rss, vms: found.virtual_memory(), ..ProcessMemory::default() });
    process.memory_percent = Some(rss as f64 / system.total_memory().max(1) as f64 * 100.0);
    process.cpu_percent = Some(f64::from(found.cpu_usage()));
    process.executable = found.exe().map(|path| path.to_string_lossy().into_owned());
    process.cmd_line = Some(found.cmd().iter().map(|word| word.to_string_lossy().into_owned()).collect());
    process.io_counters = Some(IoCounters {
        read_bytes: usage.total_read_bytes,
        write_bytes: usage.total_written_bytes,
        ..IoCounters::default()
    });
    if slow {
        process.num_open_file_descriptors = found.open_files().map(|count| count as u64);
    }
}

fn read_cpu(system: &mut System, wanted: Wanted, slow: bool, cpu: &mut Cpu) {
    system.refresh_cpu_usage();
    if wanted.cpu {
        cpu.percent_all = Some(percent::rounded(f64::from(system.global_cpu_usage())));
    }
    if wanted.cpu && slow {
        system.refresh_cpu_frequency();
        let frequencies = || system.cpus().iter().map(sysinfo::Cpu::frequency).filter(|mhz| *mhz > 0);
        let count = frequencies().count();
        cpu.frequency = (count > 0).then(|| frequencies().sum::<u64>() as f64 / count as f64);
    }
    if wanted.per_cpu {
        let usage = |one: &sysinfo::Cpu| percent::rounded(f64::from(one.usage()));
        cpu.percent_per_cpu = Some(system.cpus().iter().map(usage).collect());
    }
}

fn memory(system: &System) -> Memory {
    let (total, available) = (system.total_memory(), system.available_memory());
    let used = total.saturating_sub(available);
    let (swap_total, swap_used) = (system.total_swap(), system.used_swap());
    let virtual_memory = Virtual {
        total,
        available,
        percent: percent::of(used, total),
        used,
        free: system.free_memory(),
        ..Virtual::default()
    };
    let swap = Swap {
        total: swap_total,
        used: swap_used,
        free: system.free_swap(),
        percent: percent::of(swap_used, swap_total),
        ..Swap::default()
    };
    Memory { virtual_memory: Some(virtual_memory), swap: Some(swap) }
}

fn read_network(networks: &Networks, network: &mut Network) {
    let interfaces = network.netio_per_interface.get_or_insert_default();
    let mut sum = None;
    let mut count = 0;
    for (name, data) in networks {
        let io = NetworkIo {
            bytes_sent: data.total_transmitted(),
            bytes_recv: data.total_received(),
            packets_sent: data.total_packets_transmitted(),
            packets_recv: data.total_packets_received(),
            errin: data.total_errors_on_received(),
            errout: data.total_errors_on_transmitted(),
            ..NetworkIo::default()
        };
        *sum.get_or_insert_default() += io;
        if io.bytes_sent > 0 && io.bytes_recv > 0 {
            interfaces.set(count, name.as_encoded_bytes(), io);
            count += 1;
        }
    }
    interfaces.truncate(count);
    network.netio_sum = sum;
}

/// The disk at the root, or the first one where there is no common root.
fn read_disk(disks: &Disks) -> Disk {
    let root = disks.iter().find(|disk| disk.mount_point() == std::path::Path::new("/"));
    let disk_usage = root.or_else(|| disks.iter().next()).map(|disk| {
        let (total, free) = (disk.total_space(), disk.available_space());
        let used = total.saturating_sub(free);
        DiskUsage { total, used, free, percent: percent::of(used, total) }
    });
    Disk { disk_usage, ..Disk::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_names_and_fewer_of_them() {
        let wanted =
            Wanted { cpu: true, per_cpu: true, process: true, memory: true, disk: true, network: true };
        let mut telemetry = Telemetry::default();
        let mut portable = Portable::open(wanted);
        portable.read(true, &mut telemetry);
        portable.read(false, &mut telemetry);
        let json = telemetry.to_json();
        for path in [
            "/process/pid",
            "/process/memory/rss",
            "/process/cpu_percent",
            "/process/io_counters/write_bytes",
            "/cpu/percent_all",
            "/cpu/percent_per_cpu/0",
            "/memory/virtual/available",
            "/memory/swap/percent",
            "/network/netio_sum/bytes_recv",
            "/disk/disk_usage/total",
        ] {
            assert!(json.pointer(path).is_some(), "{path} is missing in {json}");
        }
    }
}
