//! A journal that is damaged anywhere, or cut, is read or refused by a tap: never a panic, a fault or an endless look.
//!
//! The input is patches to a small whole journal: `region:8 offset:16 bytes:8` and so many bytes each. The journal
//! belongs to this process, so that it is mapped like that of a running program; a patched owner is a dead one.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use telemetry_core::tap::Tap;
use telemetry_journal::{Config, Journal, Name, OnFull, Outgoing};

struct Base {
    bytes: Vec<u8>,
    /// Where the input's journal is written.
    path: PathBuf,
}

static BASE: LazyLock<Base> = LazyLock::new(|| {
    let folder = PathBuf::from("/dev/shm").join(format!("telemetry-fuzz-{}", std::process::id()));
    let config =
        Config { id: 7, lane_bytes: 4096, lanes_max: 2, on_full: OnFull::Drop, wait_max: Duration::ZERO };
    let journal = Journal::create(&folder, config).expect("a journal can be made");
    let series = br#"{"category":"MEMORY","name":"used","kind":"gauge","unit":"B","labels":{"k":"v"}}"#;
    journal.add_name(Name { kind: 1, bytes: b"{}".to_vec() });
    journal.add_name(Name { kind: 4, bytes: series.to_vec() });
    let lane = journal.claim().expect("there is a lane");
    for number in 0..20_u64 {
        let event = [number, number.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1 | 1 << 32 | 3 << 40, 1, 2, 3, 4];
        lane.offer(Outgoing { kind: 8, fixed: event.len(), words: &event.map(u64::to_le_bytes) });
        let items = u64::from_le_bytes(*b"\x01\x00\x81x\x55\0\0\0");
        let start = [1, 2, 0, 0, 3, 4, number, 2 << 48, 0, items].map(u64::to_le_bytes);
        lane.offer(Outgoing { kind: 1, fixed: 9, words: &start });
    }
    let bytes = fs::read(journal.path().expect("it has a file")).expect("it can be read");
    Base { bytes, path: folder.join("input") }
});

/// Where patches begin: the header, its clock, its directory, the lane's counters, its ring, the names.
fn region(number: u8, length: usize) -> usize {
    [0, 64 * 8, 256 * 8, 16_384, 16_384 + 64 * 8, length.saturating_sub(65_536)][usize::from(number) % 6]
}

fuzz_target!(|data: &[u8]| {
    let mut bytes = BASE.bytes.clone();
    let mut rest = data;
    while let Some((&[number, low, high, count], after)) = rest.split_first_chunk() {
        let (patch, after) = after.split_at(after.len().min(usize::from(count)));
        let start = region(number, bytes.len()) + usize::from(u16::from_le_bytes([low, high]));
        if number >= 250 {
            bytes.truncate(start);
        }
        for (byte, value) in bytes.iter_mut().skip(start).zip(patch) {
            *byte = *value;
        }
        rest = after;
    }
    fs::write(&BASE.path, &bytes).expect("the input can be written");
    if let Ok(mut tap) = Tap::open(&BASE.path) {
        for _ in 0..2 {
            for seen in tap.look().unwrap_or_default() {
                serde_json::from_str::<serde_json::Value>(&seen.to_json()).expect("JSON is what others read");
            }
        }
        let _ = (tap.is_over(), tap.sightings(), tap.process());
        tap.skip_to_end();
    }
});
