//! Records of any bytes are read or refused, never panic, and what is read becomes JSON that others read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telemetry_core::record::{ActivityName, Items, ProcessName, Raw, Record, ThreadName};
use telemetry_core::value::Encoded;

/// The JSON of all values; panics where another reader would not take it.
fn read(items: Items<'_>) {
    for item in items {
        check(item.value);
    }
}

fn check(value: Encoded<'_>) {
    let mut json = Vec::new();
    value.write_json(&mut json);
    let text = str::from_utf8(&json).expect("JSON is UTF-8");
    serde_json::from_str::<serde_json::Value>(text).expect("JSON is what others read");
    value.fingerprints().count();
    let (_, _) = (value.as_str(), value.is_map());
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    read(Items::new(rest));
    let mut values = rest;
    while let Some(value) = Encoded::read(&mut values) {
        check(value);
    }
    let words: Vec<u64> =
        rest.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect();
    let bytes = &rest[..words.len() * 8];
    match Record::decode(Raw { kind: kind % 16, words: &words, bytes }) {
        Some(
            Record::TaskStart(_, items)
            | Record::TaskEnd(_, items)
            | Record::TaskUpdate(_, items)
            | Record::WorkflowStart(_, items)
            | Record::WorkflowEnd(_, items)
            | Record::Snapshot(_, items),
        ) => read(items),
        _ => {}
    }
    let _ = serde_json::from_slice::<ActivityName>(rest);
    let _ = serde_json::from_slice::<ThreadName>(rest);
    let _ = serde_json::from_slice::<ProcessName>(rest);
});
