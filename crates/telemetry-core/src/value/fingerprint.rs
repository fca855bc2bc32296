//! Fingerprints: what lineage compares to tell that one task used what another generated.
//!
//! The hash is part of the format, because stored fingerprints are compared with new ones. With
//! `fold(x)`, the exclusive or of both halves of the 128-bit product of `x` and `MULTIPLIER`:
//! `hash = fold(SEED ^ length)`; for each eight bytes, little endian and the last ones padded with zeros,
//! `hash = fold(hash ^ word)`; at the end `fold(hash ^ FINAL)`. The tag byte is hashed too, so that a
//! path and a text of the same bytes differ.

use super::encoded::skip_scalar;
use super::{Encoded, tag};

/// Shorter values are equal by chance too often to be evidence.
const BYTES_MIN: usize = 64;
const SEED: u64 = 0x2545_F491_4F6C_DD1D;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FINAL: u64 = 0xD6E8_FEB8_6659_FD93;

impl Encoded<'_> {
    /// The fingerprint of a path, or of a value of at least 64 bytes that is recorded in full; none for
    /// others, because two values that were cut may differ in what was not recorded.
    pub fn fingerprint(self) -> Option<u64> {
        let bytes = self.bytes();
        let counts = bytes.first() == Some(&tag::PATH) || (bytes.len() >= BYTES_MIN && is_whole(bytes));
        counts.then(|| hash(bytes))
    }
}

/// Whether nothing in the value was cut, hidden or replaced.
fn is_whole(mut bytes: &[u8]) -> bool {
    while let Some((&first, rest)) = bytes.split_first() {
        bytes = rest;
        let passed = match first {
            tag::SEQUENCE | tag::MAP | tag::END => Some(()),
            lacking if lacks_something(lacking) => None,
            scalar => skip_scalar(scalar, &mut bytes),
        };
        if passed.is_none() {
            return false;
        }
    }
    true
}

const fn lacks_something(first: u8) -> bool {
    let cut = matches!(first, tag::CUT_END | tag::TEXT_CUT | tag::BYTES_CUT | tag::DEBUG_CUT);
    let replaced = matches!(first, tag::TYPE_NAME | tag::FAILED | tag::TOO_DEEP..=tag::LEFT_OUT);
    cut || replaced
}

fn hash(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut hash = fold(SEED ^ bytes.len() as u64);
    for word in &mut words {
        hash = fold(hash ^ read_word(word));
    }
    if !words.remainder().is_empty() {
        hash = fold(hash ^ read_word(words.remainder()));
    }
    fold(hash ^ FINAL)
}

fn read_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn fold(number: u64) -> u64 {
    let product = u128::from(number) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Encoder, Limits, ValueEncoder};
    use crate::record::Items;
    use std::collections::HashSet;
    use std::path::Path;

    fn fingerprint(write: impl FnOnce(&mut ValueEncoder<'_>)) -> Option<u64> {
        let mut encoder = Encoder::new();
        encoder.reset(Limits { items_max: 100, ..Limits::DEFAULT });
        encoder.result(write);
        Items::new(encoder.bytes()).next().unwrap().value.fingerprint()
    }

    #[test]
    fn paths_have_one_and_short_values_do_not() {
        let path = fingerprint(|value| value.path(Path::new("/data/a.csv")));
        assert!(path.is_some());
        assert_eq!(path, fingerprint(|value| value.path(Path::new("/data/a.csv"))));
        assert_ne!(path, fingerprint(|value| value.path(Path::new("/data/b.csv"))));
        assert_eq!(None, fingerprint(|value| value.text("short")));
        assert_eq!(None, fingerprint(|value| value.int(i64::MAX)));
    }

    #[test]
    fn what_was_cut_has_none() {
        assert!(fingerprint(|value| value.text(&"x".repeat(100))).is_some());
        assert_eq!(None, fingerprint(|value| value.text(&"x".repeat(5000))));
        assert!(fingerprint(|value| value.serialize(&vec![1000; 100])).is_some());
        assert_eq!(None, fingerprint(|value| value.serialize(&vec![1000; 101])));
        assert_eq!(None, fingerprint(|value| value.serialize(&(vec![1000; 101], 1))));
        assert_eq!(None, fingerprint(|value| value.failed(&"x".repeat(100))));
    }

    #[test]
    fn is_part_of_the_format() {
        assert_eq!(fingerprint(|value| value.path(Path::new("/data/a.csv"))), Some(541_593_757_932_555_922));
    }

    #[test]
    fn near_values_differ() {
        let hashes: HashSet<_> = (0..10_000u64).map(|number| hash(&number.to_le_bytes())).collect();
        assert_eq!(hashes.len(), 10_000);
        let zeros: HashSet<_> = (0..100).map(|length| hash(&vec![0; length])).collect();
        assert_eq!(zeros.len(), 100);
    }
}
