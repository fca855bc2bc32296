//! Watching programs from outside: what a tap sees is what they recorded, in Rust and in Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use telemetry::{Recorder, Sightings, Tap, Task, What, Workflow, event, task};

use crate::programs::{Place, say_ready, wait_for_end};

const FLOATS: u64 = 10_000;

/// The journals of a place.
fn journals(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.path(".telemetry/journal")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "journal")).collect()
}

/// A place whose programs fill their journals, which nobody drains.
fn undrained() -> Place {
    let place = Place::new();
    let settings =
        "journal: {drain: external, lane_bytes: 4194304}\ntelemetry_capture: {machine_info: false}\n";
    fs::write(place.path("settings.yaml"), settings).unwrap();
    place
}

fn rust_lines(path: &Path) -> (String, Sightings) {
    let mut tap = Tap::open(path).unwrap();
    let lines = tap.look().unwrap().iter().map(|seen| seen.to_json() + "\n").collect();
    (lines, tap.sightings())
}

fn python(path: &Path) -> Command {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/readers/python/telemetry_reader.py"));
    command.arg("--telemetry_path").arg(path);
    command
}

/// Splitmix64: every class of floats within a few draws of its bits.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[task]
fn single(x: f32, y: [f32; 3]) -> f32 {
    x + y[0]
}

/// A program that records floats of all classes: as events, and as what tasks use and generate.
pub(crate) fn floats() {
    let _recorder = Recorder::start_with_found_settings().unwrap();
    let _workflow = Workflow::start("floats");
    let special =
        [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX, f64::MIN];
    let powers = (-330..310).map(|power| format!("1e{power}").parse().unwrap());
    let halves = (-1074..1024).map(|power| 2f64.powi(power));
    let near =
        [1e15, 1e16, 1e17, 123_456_789_012_345_680.0, 9_007_199_254_740_993.0, 5e-324, 1e-5, 1e-4, 0.1];
    for float in special.into_iter().chain(powers).chain(halves).chain(near) {
        event!(CUSTOM, "float", float);
        event!(CUSTOM, "less", -float, kind = gauge);
    }
    let mut state = 1;
    for _ in 0..FLOATS {
        let bits = random(&mut state);
        event!(PERFORMANCE, "bits", f64::from_bits(bits), kind = histogram, unit = "s");
        event!(PERFORMANCE, "ratio", (bits >> 40) as f64 / 1000.0);
    }
    for step in 0..2_000 {
        let [first, second, third] = [(); 3].map(|()| f32::from_bits(random(&mut state) as u32));
        single(if step < 300 { 2f32.powi(step - 150) } else { first }, [1.5, second, third]);
    }
    event!(CUSTOM, "whole", i64::MIN, label = "a \"b\"\n\u{7f}ü");
    event!(CUSTOM, "whole", u64::MAX);
    let _ =
        Task::start("ends as unknown").used("deep", serde_json::json!({"a": [1.5e300, null, {"$b": "c"}]}));
}

#[test]
fn readers_in_rust_and_python_print_the_same() {
    for program in ["floats", "values", "failures", "naughty", "families", "events", "lineage"] {
        let place = undrained();
        assert!(place.program(program).output().unwrap().status.success());
        let found = journals(&place);
        assert!(!found.is_empty(), "{program}");
        for path in found {
            let (expected, sightings) = rust_lines(&path);
            assert!(sightings.missed == 0 && sightings.seen >= expected.lines().count() as u64);
            assert!(expected.lines().count() > 2, "{program}: {expected}");
            let output = python(&path).arg("--jsonl").output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            for (line, wanted) in printed.lines().zip(expected.lines()) {
                assert_eq!(line, wanted, "{program}");
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
            assert_eq!((printed.len(), &*output.stderr), (expected.len(), &b""[..]), "{program}");
        }
    }
}

/// A program that records a little and waits.
pub(crate) fn tapped() {
    let _recorder = Recorder::start_with_found_settings().unwrap();
    let workflow = Workflow::start("tapped");
    let task = Task::start("step").used("x", 21);
    task.run(|| event!(TRANSFER, "tx_bytes", 1_048_576, unit = "B"));
    task.generated("y", 42).end();
    say_ready();
    wait_for_end();
    workflow.end();
}

#[test]
fn a_running_program_is_watched_by_several_at_once() {
    let place = Place::new();
    let program = place.start("tapped");
    let [path]: [PathBuf; 1] = journals(&place).try_into().unwrap();
    let mut taps = [Tap::open(&path).unwrap(), Tap::open(&path).unwrap()];
    for tap in &mut taps {
        let seen = tap.look().unwrap();
        let types: Vec<&str> = seen.iter().map(|seen| seen.what.type_word()).collect();
        assert_eq!(
            types,
            ["workflow_start", "task_start", "task_update", "event", "task_update", "task_end"]
        );
        let What::TaskUpdate { used, activity, .. } = &seen[2].what else { panic!("{seen:?}") };
        assert_eq!((used.as_str(), activity.as_deref()), ("{\"x\":21}", Some("step")));
        assert!(!tap.is_over());
    }
    let printed = python(&path).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(
        printed.contains("Category: TRANSFER\nEvent: tx_bytes\nValue: 1048576\nUnit: B\n====="),
        "{printed}"
    );
    program.end();
    for tap in &mut taps {
        assert!(tap.is_over());
        let seen = tap.look().unwrap();
        assert!(matches!(seen[..], [telemetry::Seen { what: What::WorkflowEnd { .. }, .. }]), "{seen:?}");
        assert_eq!(tap.sightings().missed, 0);
    }
}

#[test]
fn what_is_no_journal_is_refused_in_the_same_words() {
    let place = undrained();
    assert!(place.program("small_run").output().unwrap().status.success());
    let [path]: [PathBuf; 1] = journals(&place).try_into().unwrap();
    let whole = fs::read(&path).unwrap();
    let mut newer = whole.clone();
    newer[8] = 9;
    for bytes in [&b"not a journal"[..], &[0; 100_000], &whole[..20_000], &newer] {
        fs::write(&path, bytes).unwrap();
        let expected = format!("error: {}\n", Tap::open(&path).unwrap_err());
        let output = python(&path).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
        assert_eq!(output.status.code(), Some(1));
    }
}
