//! Context switches are those of all threads: the kernel's files of each are the oracle.
//!
//! Alone in its program, for a thread that ends meanwhile would be missing in the files.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::mpsc::channel;
use std::thread;

use telemetry_core::settings::Settings;
use telemetry_sensors::TelemetryCapture;

const NAMES: [&str; 2] = ["voluntary", "involuntary"];

/// A reading lies between two looks at the files, while the counters move.
#[test]
fn switches_of_all_threads_are_counted() {
    let mut settings = Settings::default().telemetry_capture;
    settings.max_age_ms = 0;
    let mut capture = TelemetryCapture::new(&settings);
    let (question, questions) = channel();
    let (answer, answers) = channel();
    thread::scope(|scope| {
        scope.spawn(move || questions.iter().for_each(|()| answer.send(()).expect("it is waited for")));
        for _ in 0..100 {
            question.send(()).expect("it listens");
            answers.recv().expect("it answers");
            let before = told();
            let json = capture.capture().expect("toggles are on").to_json();
            let after = told();
            let ours = NAMES.map(|name| json["process"]["num_ctx_switches"][name].as_u64().unwrap());
            let lies_between = |index: usize| before[index] <= ours[index] && ours[index] <= after[index];
            assert!(lies_between(0) && lies_between(1), "{before:?} {ours:?} {after:?}");
        }
        assert!(told()[0] > 0, "nothing was counted");
        drop(question);
    });
}

fn told() -> [u64; 2] {
    let threads = fs::read_dir("/proc/self/task").expect("threads are listed").flatten();
    let texts = threads.map(|thread| fs::read_to_string(thread.path().join("status")).expect("it runs"));
    texts.fold([0, 0], |sum, text| {
        let number =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok());
        let told = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].map(number);
        [0, 1].map(|index| sum[index] + told[index].expect("the kernel tells"))
    })
}
