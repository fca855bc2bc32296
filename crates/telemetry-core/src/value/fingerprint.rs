//! Fingerprints: what lineage compares to tell that one task used what another generated.
//!
//! The hash is part of the format, because stored fingerprints are compared with new ones. With
//! `fold(x)`, the exclusive or of both halves of the 128-bit product of `x` and `MULTIPLIER`:
//! `hash = fold(SEED ^ length)`; for each eight bytes, little endian and the last ones padded with zeros,
//! `hash = fold(hash ^ word)`; at the end `fold(hash ^ FINAL)`. The tag byte is hashed too, so that a
//! path and a text of the same bytes differ.
//!
//! A path is hashed as it would be encoded without `.`, repeated slashes and a slash at its end. A file
//! has up to three fingerprints: its path's; that of its SHA-256 behind the tag of a file; and that of
//! both hashes, eight bytes each, behind that tag.

use super::encoded::{skip_scalar, take_prefixed};
use super::{Encoded, EncodedFile, FileState, tag};
use crate::redaction::MARK;

/// Shorter values are equal by chance too often to be evidence, and so are shorter files.
const BYTES_MIN: usize = 64;
const SEED: u64 = 0x2545_F491_4F6C_DD1D;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FINAL: u64 = 0xD6E8_FEB8_6659_FD93;

/// What a fingerprint stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// A path that is only named: it may be where something is written to.
    Path = 0,
    /// The path of a file. Equal to the fingerprint of the same path that is only named.
    FilePath = 1,
    /// A content.
    Content = 2,
    /// A content at the path of a file.
    FilePathAndContent = 3,
}

/// One fingerprint of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// What it stands for.
    pub evidence: Evidence,
    /// The hash.
    pub hash: u64,
}

impl Encoded<'_> {
    /// Whether it is worth asking for fingerprints: most values are short, and have none.
    #[inline]
    pub fn may_have_fingerprints(self) -> bool {
        let bytes = self.bytes();
        bytes.len() >= BYTES_MIN || matches!(bytes.first(), Some(&(tag::PATH | tag::FILE)))
    }

    /// The fingerprints of a path or a file, or of a value of at least 64 bytes that is recorded in full;
    /// none of others, because two values that were cut may differ in what was not recorded. One with a
    /// secret in it has none either: that two tasks had the same secret is nobody's business.
    pub fn fingerprints(self) -> impl Iterator<Item = Fingerprint> {
        let bytes = self.bytes();
        let has_secret = || bytes.windows(MARK.len()).any(|window| window == MARK);
        let found = match bytes.split_first() {
            Some((&(tag::PATH | tag::FILE), _)) if has_secret() => [None; 3],
            Some((&tag::PATH, payload)) => [of_path(payload), None, None],
            Some((&tag::FILE, payload)) => of_file(payload),
            _ if bytes.len() < BYTES_MIN || !is_whole(bytes) || has_secret() => [None; 3],
            _ => [Some(content(bytes)), None, None],
        };
        found.into_iter().flatten()
    }
}

fn content(bytes: &[u8]) -> Fingerprint {
    Fingerprint { evidence: Evidence::Content, hash: hash(bytes) }
}

fn of_path(mut payload: &[u8]) -> Option<Fingerprint> {
    let hash = path_hash(take_prefixed(&mut payload)?)?;
    Some(Fingerprint { evidence: Evidence::Path, hash })
}

fn of_file(mut payload: &[u8]) -> [Option<Fingerprint>; 3] {
    let file = take_prefixed(&mut payload).and_then(EncodedFile::read);
    let Some(file) = file.filter(|file| file.state != FileState::Missing) else { return [None; 3] };
    let path = path_hash(file.path);
    let content = match file.state {
        FileState::Found { bytes, sha256: Some(sha256), .. } if bytes >= BYTES_MIN as u64 => {
            Some(hash_of_parts(&sha256))
        }
        _ => None,
    };
    let both = path.zip(content).map(|(path, content)| {
        let mut parts = [0; 16];
        parts[..8].copy_from_slice(&path.to_le_bytes());
        parts[8..].copy_from_slice(&content.to_le_bytes());
        hash_of_parts(&parts)
    });
    let found =
        [(Evidence::FilePath, path), (Evidence::Content, content), (Evidence::FilePathAndContent, both)];
    found.map(|(evidence, hash)| hash.map(|hash| Fingerprint { evidence, hash }))
}

fn hash_of_parts(parts: &[u8]) -> u64 {
    let mut bytes = vec![tag::FILE];
    bytes.extend_from_slice(parts);
    hash(&bytes)
}

/// None for a path without a name in it: an empty one, the root, the working folder or one above it.
fn path_hash(path: &[u8]) -> Option<u64> {
    let parts = || path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    if parts().all(|part| part == b"..") {
        return None;
    }
    let mut normal = Vec::with_capacity(path.len() + 1);
    for part in parts() {
        if !normal.is_empty() || path.first() == Some(&b'/') {
            normal.push(b'/');
        }
        normal.extend_from_slice(part);
    }
    let mut bytes = Vec::with_capacity(normal.len() + 4);
    crate::encoder::append_prefixed(&mut bytes, tag::PATH, &normal);
    Some(hash(&bytes))
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
    let cut = matches!(
        first,
        tag::CUT_END | tag::CUT_END_OF | tag::TEXT_CUT | tag::BYTES_CUT | tag::DEBUG_CUT | tag::DEBUG_CUT_OF
    );
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
        let found = fingerprints(write);
        assert!(found.len() <= 1);
        found.first().map(|found| found.hash)
    }

    fn fingerprints(write: impl FnOnce(&mut ValueEncoder<'_>)) -> Vec<Fingerprint> {
        let mut encoder = Encoder::new();
        encoder.reset(Limits { items_max: 100, ..Limits::DEFAULT });
        encoder.result(write);
        Items::new(encoder.bytes()).next().unwrap().value.fingerprints().collect()
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
    fn one_path_may_be_spelled_in_many_ways() {
        let of = |path: &str| fingerprint(|value| value.path(Path::new(path)));
        assert!(of("data/a.csv").is_some());
        for same in ["./data/a.csv", "data//a.csv", "data/./a.csv", "././data///a.csv/", "data/a.csv/."] {
            assert_eq!(of(same), of("data/a.csv"), "{same}");
        }
        assert_ne!(of("/data/a.csv"), of("data/a.csv"));
        // What `..` means depends on links.
        assert_ne!(of("data/../data/a.csv"), of("data/a.csv"));
        for trivial in ["", ".", "./", "/", "//", "..", "../..", "./../."] {
            assert_eq!(of(trivial), None, "{trivial:?}");
        }
    }

    #[test]
    fn a_file_is_known_by_path_and_by_content() {
        let file = |path: &str, bytes, sum: Option<u8>| {
            let state = FileState::Found { bytes, modified_ns: 1, sha256: sum.map(|sum| [sum; 32]) };
            let found = fingerprints(|value| value.file(Path::new(path), state));
            found.into_iter().map(|found| (found.evidence, found.hash)).collect::<Vec<_>>()
        };
        let whole = file("a", 64, Some(1));
        assert_eq!(whole.len(), 3);
        assert_eq!(Some(whole[0].1), fingerprint(|value| value.path(Path::new("a"))));
        let elsewhere = file("b", 64, Some(1));
        assert_eq!(whole[1], elsewhere[1]);
        assert!(whole[0] != elsewhere[0] && whole[2] != elsewhere[2]);
        let changed = file("a", 64, Some(2));
        assert!(whole[0] == changed[0] && whole[1] != changed[1] && whole[2] != changed[2]);
        assert_eq!(file("a", 63, Some(1)), whole[..1], "a short file is known by its path alone");
        assert_eq!(file("a", 64, None), whole[..1]);
        assert_eq!(fingerprints(|value| value.file(Path::new("a"), FileState::NoFile)).len(), 1);
        assert_eq!(fingerprints(|value| value.file(Path::new("a"), FileState::Missing)).len(), 0);
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
    fn what_was_hidden_has_none() {
        let text = |secret: &str| format!("{} {secret}", "x".repeat(100));
        assert!(fingerprint(|value| value.text(&text("token"))).is_some());
        assert_eq!(None, fingerprint(|value| value.text(&text("[redacted:token]"))));
        assert_eq!(None, fingerprint(|value| value.serialize(&[text("[redacted:token]")])));
        assert_eq!(None, fingerprint(|value| value.redacted(&"x".repeat(100))));
        assert_eq!(None, fingerprint(|value| value.path(Path::new("/data/[redacted:jwt]"))));
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
