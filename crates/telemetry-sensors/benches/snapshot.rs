//! A snapshot of all fast keys against bare reads of the same files and against sysinfo.
//!
//! Run with `cargo bench -p telemetry-sensors`. All sides take turns within one run; ratios are medians
//! of the rounds.
#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs::{self, File};
    use std::hint::black_box;
    use std::os::unix::fs::FileExt;
    use std::time::Instant;

    use sysinfo::{Disks, Networks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};
    use telemetry_core::settings::{self, Settings};
    use telemetry_sensors::{TelemetryCapture, machine_info};

    const ROUNDS: usize = 41;
    const READINGS: usize = 200;
    const READINGS_SYSINFO: usize = 20;
    const READINGS_SHARED: usize = 100_000;

    pub(super) fn run() {
        let mut settings = Settings::default().telemetry_capture;
        let mut shared = TelemetryCapture::new(&settings);
        settings.max_age_ms = 0;
        settings.slow_age_ms = 3_600_000;
        let mut capture = TelemetryCapture::new(&settings);
        let files = Bare::new();
        let mut sysinfo = Sysinfo::new();
        let mut rounds = Rounds::default();
        for _ in 0..ROUNDS {
            let ours = time(READINGS, || {
                black_box(capture.capture());
            });
            let bare = time(READINGS, || files.read());
            let theirs = time(READINGS_SYSINFO, || sysinfo.read());
            let again = time(READINGS_SHARED, || {
                black_box(shared.capture());
            });
            let clock = time(READINGS_SHARED, || {
                black_box(Instant::now());
            });
            rounds.push(&[ours, bare, theirs, again, clock]);
        }
        rounds.report();
        report_start(&settings);
    }

    /// What a recorder pays once.
    fn report_start(settings: &settings::TelemetryCapture) {
        let allow = &Settings::default().redaction.environment_allow;
        let start = time(READINGS, || {
            black_box(TelemetryCapture::new(settings));
        });
        let machine = time(READINGS_SYSINFO, || {
            black_box(machine_info(settings, allow));
        });
        let snapshot = TelemetryCapture::new(settings).capture().cloned().unwrap_or_default();
        let json = time(READINGS, || {
            black_box(snapshot.to_json());
        });
        for (name, cost) in [("start", start), ("machine_info", machine), ("to_json", json)] {
            println!("{name:<24}{cost:>10.0} ns");
        }
    }

    /// Nanoseconds a call.
    fn time(count: usize, mut call: impl FnMut()) -> f64 {
        let start = Instant::now();
        for _ in 0..count {
            call();
        }
        start.elapsed().as_nanos() as f64 / count as f64
    }

    #[derive(Default)]
    struct Rounds {
        rounds: Vec<[f64; 5]>,
    }

    impl Rounds {
        fn push(&mut self, round: &[f64; 5]) {
            self.rounds.push(*round);
        }

        fn report(&self) {
            let median = |of: &dyn Fn(&[f64; 5]) -> f64| {
                let mut values: Vec<f64> = self.rounds.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            for (index, name) in
                ["snapshot", "bare pread", "sysinfo", "shared", "Instant::now"].iter().enumerate()
            {
                println!("{name:<24}{:>10.0} ns", median(&|round| round[index]));
            }
            println!(
                "{:<24}{:>10.2}  (goal 1.3)",
                "snapshot / bare pread",
                median(&|round| round[0] / round[1])
            );
            println!(
                "{:<24}{:>10.3}  (goal 0.1)",
                "snapshot / sysinfo",
                median(&|round| round[0] / round[2])
            );
            println!(
                "{:<24}{:>10.2}  (goal 3)",
                "shared / Instant::now",
                median(&|round| round[3] / round[4])
            );
        }
    }

    /// The names of the kernel's files that this process holds open.
    fn open_files() -> BTreeSet<String> {
        let entries = fs::read_dir("/proc/self/fd").expect("descriptors are listed");
        let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        let names = targets.map(|target| target.to_string_lossy().replace(" (deleted)", ""));
        names.filter(|name| name.starts_with("/proc/") || name.starts_with("/sys/")).collect()
    }

    /// The files that a capture reads, read once each and not looked at.
    struct Bare {
        files: Vec<File>,
    }

    impl Bare {
        fn new() -> Self {
            let swap = fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1);
            let names = open_files().into_iter().filter(|name| swap || !name.ends_with("/vmstat"));
            let opened = names.filter_map(|name| Some((File::open(&name).ok()?, name)));
            let readable: Vec<_> = opened.filter(|(file, _)| read(file) > 0).collect();
            for (_, name) in &readable {
                println!("# {name}");
            }
            Self { files: readable.into_iter().map(|(file, _)| file).collect() }
        }

        fn read(&self) {
            for file in &self.files {
                black_box(read(file));
            }
        }
    }

    fn read(file: &File) -> usize {
        let mut buffer = [0; 16 * 1024];
        file.read_at(&mut buffer, 0).unwrap_or(0)
    }

    struct Sysinfo {
        system: System,
        networks: Networks,
        disks: Disks,
        pid: Pid,
    }

    impl Sysinfo {
        fn new() -> Self {
            Self {
                system: System::new_all().expect("a known system"),
                networks: Networks::new_with_refreshed_list().expect("a known system"),
                disks: Disks::new_with_refreshed_list().expect("a known system"),
                pid: Pid::from_u32(std::process::id()),
            }
        }

        fn read(&mut self) {
            self.system.refresh_cpu_usage();
            self.system.refresh_memory();
            // Tasks, for the number of threads is a key too.
            let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().with_disk_usage().with_tasks();
            self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[self.pid]), false, kind);
            self.networks.refresh(false);
            self.disks.refresh(false);
            black_box(self.system.cgroup_limits());
        }
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    linux::run();
    #[cfg(not(target_os = "linux"))]
    println!("the fast way is that of Linux");
}
