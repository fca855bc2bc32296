//! `capture.reload`: a changed file is taken up, and a bad one is not.

use std::time::{Duration, Instant};

use telemetry::{Task, current_task, task, workflow};

use crate::programs::Place;
use crate::sampling::leaf;

#[task]
fn probe() -> bool {
    current_task().id().is_some()
}

#[task]
fn cut(text: &str) {
    let _ = text;
}

/// Waits until something holds, for a time that no healthy machine needs.
fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_mins(1), "a reload takes less than a second");
        std::thread::yield_now();
    }
}

/// The program `reloads`: changes its own settings, to good ones, bad ones and good ones again.
#[workflow(name = "reloads")]
pub(crate) fn reloads() {
    let write = |capture: &str| {
        let text = format!("capture: {{reload: true, {capture}}}");
        std::fs::write("settings.yaml", text).expect("the folder is the test's own");
    };
    assert!(!probe(), "it is off");
    write("default_level: lightweight");
    wait_until(probe);
    write("default_level: nonsense");
    wait_until(|| std::fs::read_to_string("complaints").is_ok_and(|text| text.contains("nonsense")));
    assert!(probe(), "what was in force stays");
    write("default_level: data, value_bytes_max: 64, rules: [{activity: '*::probe', level: 'off'}]");
    wait_until(|| !probe());
    cut(&"x".repeat(1000));
    write(
        "default_level: data, rules: [{activity: '*::probe', sample: 0}, {activity: '*::leaf', per_second: 0}]",
    );
    let kept = || {
        let task = Task::start("step");
        task.run(|| leaf(1));
        task.end();
        probe()
    };
    assert!(!kept(), "it is off still, or is left out by now");
    write("default_level: data");
    wait_until(kept);
}

#[test]
fn a_changed_file_is_taken_up_and_a_bad_one_is_refused() {
    let place = Place::new();
    std::fs::write(place.path("settings.yaml"), "capture: {reload: true, default_level: 'off'}").unwrap();
    let complaints = std::fs::File::create(place.path("complaints")).unwrap();
    let mut command = place.program("reloads");
    let status = command.stderr(complaints).stdout(std::process::Stdio::null()).status().unwrap();
    let complaints = std::fs::read_to_string(place.path("complaints")).unwrap();
    assert!(status.success(), "{complaints}");
    assert_eq!(complaints.matches("telemetry:").count(), 1, "{complaints}");
    assert!(complaints.contains("settings.yaml:1: `capture.default_level` must be one of"), "{complaints}");
    assert!(complaints.ends_with("the settings from before stay in force\n"), "{complaints}");
    let cut = "select length(used) < 200 and used like '%cut%' from tasks where activity_id = 'cut'";
    assert_eq!(place.table(cut), "1\n");
}

#[test]
fn reload_without_a_file_says_that_it_has_no_effect() {
    let place = Place::new();
    let output = place.program("small_run").env("TELEMETRY_CAPTURE__RELOAD", "true").output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(complaints, "telemetry: capture.reload has no effect: the settings do not come from a file\n");
}
