//! A file under a journal's name may hold anything: opening, reading and releasing it must neither panic nor read elsewhere.
//!
//! The input is laid over a journal that another process has left, at the places that it names itself, so that most
//! inputs have a good header and damage behind it.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use telemetry_journal::{Batch, Config, DeadJournal, Journal, Name, OnFull, Outgoing, Source, find_journals};

/// Names the folder in which this process is to leave a journal.
const MAKE: &str = "TELEMETRY_FUZZ_MAKE";

/// Leaves a journal behind and ends, if that is what this process is for.
fn make_if_asked() {
    let Some(folder) = std::env::var_os(MAKE) else { return };
    let config =
        Config { id: 1, lane_bytes: 4096, lanes_max: 2, on_full: OnFull::Drop, wait_max: Duration::ZERO };
    let journal = Journal::create(Path::new(&folder), config).expect("a journal");
    journal.add_name(Name { kind: 1, bytes: b"a name".to_vec() });
    let lane = journal.claim().expect("a lane");
    for number in 0u64..20 {
        let words = [number.to_le_bytes(); 10];
        lane.offer(Outgoing { kind: 9, fixed: 2, words: &words[..2 + (number % 8) as usize] });
        journal.tally(Some(lane), [number, 1, 2]);
    }
    // One that is spilled.
    lane.offer(Outgoing { kind: 9, fixed: 1, words: &[[7; 8]; 250] });
    std::process::exit(0);
}

/// What a process left that is gone, and where changed copies of it go.
fn template() -> &'static (Vec<u8>, PathBuf) {
    static TEMPLATE: OnceLock<(Vec<u8>, PathBuf)> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        // A file is written for each input: in memory, where there is such a folder.
        let memory = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
        let folder = memory.unwrap_or_else(std::env::temp_dir);
        let folder = folder.join(format!("telemetry-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let program = std::env::current_exe().expect("this program has a file");
        let made = std::process::Command::new(program).env(MAKE, &folder).status().expect("it runs");
        assert!(made.success());
        let path = find_journals(&folder).expect("a folder").pop().expect("a journal");
        let bytes = fs::read(&path).expect("a file");
        assert!(DeadJournal::open(&path).is_ok(), "it is good as it is");
        (bytes, path)
    })
}

fuzz_target!(init: make_if_asked(), |input: &[u8]| {
    let (template, path) = template();
    let mut bytes = template.clone();
    let mut rest = input;
    // `offset:24 length:8`, and so many bytes.
    while let Some(([low, middle, high, length], behind)) = rest.split_first_chunk() {
        let offset = u32::from_le_bytes([*low, *middle, *high, 0]) as usize % bytes.len();
        let length = usize::from(*length).min(behind.len()).min(bytes.len() - offset);
        bytes[offset..offset + length].copy_from_slice(&behind[..length]);
        rest = &behind[length..];
    }
    fs::write(path, &bytes).expect("a file");
    let Ok(journal) = DeadJournal::open(path) else { return };
    let mut batch = Batch::new();
    journal.collect(&mut batch);
    for frame in batch.frames() {
        let _ = (frame.kind, frame.words.len(), journal.name(frame.words.first().copied().unwrap_or(0) as u32));
    }
    let _ = journal.clock().unix_ns(u64::MAX);
    let _ = journal.counters_after(&batch);
    journal.release(&batch);
    let _ = journal.counters();
});
