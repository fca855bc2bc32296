//! Without the feature `capture` an attribute leaves nothing behind: not in a future, not in the program,
//! not on the disk. `cargo test --features capture` must fail here.

use std::fs;
use std::future::ready;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};

use telemetry_no_capture::{attributed, bare};

const PROGRAM: &str = env!("CARGO_BIN_EXE_telemetry-no-capture");

#[test]
fn a_future_is_as_large_as_the_bare_one() {
    let attributed = attributed::wait([7; 64], ready(1));
    let bare = bare::wait([7; 64], ready(1));
    assert_eq!(size_of_val(&attributed), size_of_val(&bare));
    assert_eq!(align_of_val(&attributed), align_of_val(&bare));
}

#[test]
fn functions_answer_the_same() {
    let function: fn(u64) -> u64 = attributed::double;
    assert_eq!(function(21), bare::double(21));
    assert_eq!(attributed::whole(21), bare::whole(21));
    let answer = pin!(attributed::wait([7; 64], ready(1))).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(answer, Poll::Ready(Ok(8)));
}

#[test]
fn the_program_holds_nothing_of_the_recorder() {
    let program = fs::read(PROGRAM).unwrap();
    // In two parts, so that this test would not find itself.
    for (first, second) in [("telemetry", "_core"), ("telemetry", "_journal"), ("provenance", ".db")] {
        let name = [first, second].concat();
        let found = program.windows(name.len()).any(|window| window == name.as_bytes());
        assert!(!found, "the program holds {name}");
    }
}

#[test]
fn a_workflow_leaves_nothing_on_the_disk() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let output = Command::new(PROGRAM).current_dir(&folder).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"84\n"[..], &b""[..]));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
