//! The name table: what repeats in records, written once, never recycled, so that recovery can do
//! without the store.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::to_words;
use crate::checksum::checksum;
use crate::source::Name;

/// The words in front of an entry's bytes.
const ENTRY_WORDS: usize = 2;

/// The longest entry.
pub const NAME_BYTES_MAX: usize = 1 << 20;

/// How many words an entry of this many bytes takes.
pub(crate) fn entry_words(bytes: usize) -> usize {
    ENTRY_WORDS + bytes.div_ceil(8)
}

/// Writes an entry to the start of `words`, its first word last.
pub(crate) fn write_entry(words: &[AtomicU64], name: &Name) {
    let payload = &words[ENTRY_WORDS..entry_words(name.bytes.len())];
    for (slot, word) in payload.iter().zip(to_words(&[], &name.bytes)) {
        slot.store(word, Ordering::Relaxed);
    }
    words[1].store(entry_checksum(name.kind, payload), Ordering::Relaxed);
    let first = name.bytes.len() as u64 | u64::from(name.kind) << 32;
    words[0].store(first, Ordering::Release);
}

/// Reads the entries of a block, up to the first that is missing or damaged; answers their words.
pub(crate) fn read_entries(words: &[AtomicU64], names: &mut Vec<Name>) -> usize {
    let mut rest = words;
    while let Some((name, length)) = read_entry(rest) {
        names.push(name);
        rest = &rest[length..];
    }
    words.len() - rest.len()
}

fn read_entry(words: &[AtomicU64]) -> Option<(Name, usize)> {
    let first = words.first()?.load(Ordering::Acquire);
    let (length, kind) = (first as u32 as usize, (first >> 32) as u8);
    if first == 0 || length > NAME_BYTES_MAX {
        return None;
    }
    let payload = words.get(ENTRY_WORDS..entry_words(length))?;
    if words.get(1)?.load(Ordering::Relaxed) != entry_checksum(kind, payload) {
        return None;
    }
    let mut bytes: Vec<u8> =
        payload.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
    bytes.truncate(length);
    Some((Name { kind, bytes }, entry_words(length)))
}

fn entry_checksum(kind: u8, payload: &[AtomicU64]) -> u64 {
    u64::from(checksum(u64::from(kind), payload.len(), |index| payload[index].load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::zeroed;

    #[test]
    fn entries_come_back_and_a_damaged_one_ends_the_block() {
        let words = zeroed(64);
        let names = ["", "a", "exactly8", "a little longer than that"]
            .map(|text| Name { kind: 3, bytes: text.as_bytes().to_vec() });
        let mut position = 0;
        for name in &names {
            write_entry(&words[position..], name);
            position += entry_words(name.bytes.len());
        }
        let mut read = Vec::new();
        read_entries(&words, &mut read);
        assert_eq!(read, names);
        words[position - 1].fetch_xor(1, Ordering::Relaxed);
        read.clear();
        read_entries(&words, &mut read);
        assert_eq!(read, names[..3]);
    }
}
