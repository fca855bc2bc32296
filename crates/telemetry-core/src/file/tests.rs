//! What is found at a path, and how it is recorded wherever it stands.

use super::*;
use crate::encoder::Limits;
use crate::value::testing::{Json, UNLIMITED, encode, json};
use crate::value::{Encoded, Evidence};

/// By `printf 'hello world' | sha256sum`.
const HELLO_SHA256: &str = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";

fn hello() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hello");
    fs::write(&path, "hello world").unwrap();
    (folder, path)
}

#[test]
fn a_file_has_size_time_and_sum() {
    let (_folder, path) = hello();
    let text = json(UNLIMITED, |value| value.serialize(&file(&path)));
    assert!(text.contains(r#""bytes":11,"modified":1"#), "{text}");
    assert!(text.ends_with(&format!(r#","sha256":"{HELLO_SHA256}"}}}}"#)), "{text}");
}

#[test]
fn what_is_no_file_is_said_without_an_error() {
    let (folder, path) = hello();
    assert_eq!(file(folder.path().join("none")).look(), FileState::Missing);
    assert_eq!(file(folder.path()).look(), FileState::NoFile);
    assert_eq!(file(path.join("below a file")).look(), FileState::Unreadable);
    assert_eq!(file("").look(), FileState::Missing);
    assert_eq!(file("a\0b").look(), FileState::Unreadable);
}

#[test]
fn long_files_are_not_read() {
    let (_folder, path) = hello();
    let sum = |most| match file(&path).hash_up_to(most).look() {
        FileState::Found { bytes: 11, sha256, .. } => sha256,
        other => panic!("{other:?}"),
    };
    assert!(sum(11).is_some() && sum(u64::MAX).is_some());
    assert!(sum(10).is_none() && sum(0).is_none());
}

#[test]
fn a_sparse_file_of_a_terabyte_costs_nothing() {
    let (_folder, path) = hello();
    fs::File::options().write(true).open(&path).and_then(|file| file.set_len(1 << 40)).unwrap();
    assert!(matches!(file(&path).look(), FileState::Found { bytes: 0x100_0000_0000, sha256: None, .. }));
}

#[test]
fn files_are_files_wherever_they_stand() {
    #[derive(Serialize)]
    struct Input {
        data: File,
        more: Vec<Option<File>>,
    }
    let (_folder, path) = hello();
    let input = Input { data: file(&path), more: vec![None, Some(file("none"))] };
    let text = json(UNLIMITED, |value| value.serialize(&input));
    assert!(text.starts_with(r#"{"data":{"$file":{"path":"#), "{text}");
    assert!(text.ends_with(r#""more":[null,{"$file":{"path":"none","state":"missing"}}]}"#), "{text}");
    let alone = encode(UNLIMITED, |value| value.serialize(&Some(file(&path))));
    let kinds: Vec<_> =
        Encoded::read(&mut &*alone).unwrap().fingerprints().map(|found| found.evidence).collect();
    assert_eq!(kinds, [Evidence::FilePath], "eleven bytes are no evidence");
}

#[test]
fn others_see_a_struct() {
    let (_folder, path) = hello();
    let value = serde_json::to_value(file(&path)).unwrap();
    assert_eq!(value["sha256"], HELLO_SHA256);
    assert_eq!(value["bytes"], 11);
    assert_eq!(serde_json::to_value(file("none")).unwrap()["state"], "missing");
}

#[test]
fn a_file_that_does_not_fit_is_cut_like_a_text() {
    let long = file("x/".repeat(3000));
    for limits in [Limits::DEFAULT, Limits { value_bytes_max: 40, ..UNLIMITED }] {
        let alone = json(limits, |value| value.serialize(&long));
        assert!(alone.contains(r#""type":"text","preview":"x/"#), "{alone}");
        let nested = json(limits, |value| value.serialize(&(1, &long)));
        assert!(nested.starts_with(r#"[1,{"$cut":{"bytes":6000,"type":"text","#), "{nested}");
        Json::read(&nested);
    }
}
