//! On the first thread of a process, context switches come from another source than on the others: the
//! kernel's file is the oracle for both.

#[cfg(target_os = "linux")]
fn main() {
    linux::check("the first thread");
    std::thread::scope(|scope| scope.spawn(|| linux::check("another thread")).join().expect("it agrees"));
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use telemetry_core::settings::Settings;
    use telemetry_sensors::TelemetryCapture;

    /// A reading lies between two looks at the file, while the counters move.
    pub(super) fn check(thread: &str) {
        let mut settings = Settings::default().telemetry_capture;
        settings.max_age_ms = 0;
        let mut capture = TelemetryCapture::new(&settings);
        for _ in 0..100 {
            std::thread::yield_now();
            let before = told();
            let json = capture.capture().expect("toggles are on").to_json();
            let after = told();
            let ours =
                ["voluntary", "involuntary"].map(|key| json["process"]["num_ctx_switches"][key].clone());
            let lies_between = |index: usize| {
                let ours = ours[index].as_u64();
                before[index] <= ours && ours <= after[index] && ours.is_some()
            };
            assert!(lies_between(0) && lies_between(1), "on {thread}: {before:?} {ours:?} {after:?}");
        }
        assert!(told()[0] > Some(0) || told()[1] > Some(0), "nothing was counted");
    }

    fn told() -> [Option<u64>; 2] {
        let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
        let number = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
        [number("voluntary_ctxt_switches:"), number("nonvoluntary_ctxt_switches:")]
    }
}
