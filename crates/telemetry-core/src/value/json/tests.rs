//! Values through the encoder and out as JSON.

use crate::encoder::Limits;
use crate::value::testing::{Json, UNLIMITED, encode, json, samples};
use crate::value::{Encoded, tag};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

fn of(value: &(impl serde::Serialize + ?Sized)) -> String {
    json(UNLIMITED, |encoder| encoder.serialize(value))
}

fn of_bytes(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    Encoded::read(&mut &*bytes).unwrap().write_json(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers() {
    assert_eq!(of(&(0, 63, 64, -1, i64::MIN, i64::MAX)), format!("[0,63,64,-1,{},{}]", i64::MIN, i64::MAX));
    assert_eq!(of(&u64::MAX), r#"{"$int":"18446744073709551615"}"#);
    assert_eq!(of(&i128::MIN), format!(r#"{{"$int":"{}"}}"#, i128::MIN));
    assert_eq!(of(&u128::MAX), format!(r#"{{"$int":"{}"}}"#, u128::MAX));
    assert_eq!(of(&(0.1f32, 0.1f64, 1.0, -0.0, 1e300)), "[0.1,0.1,1.0,-0.0,1e+300]");
    assert_eq!(of(&f64::NAN), r#"{"$float":"NaN"}"#);
    assert_eq!(of(&f32::NEG_INFINITY), r#"{"$float":"-Infinity"}"#);
}

#[test]
fn keys() {
    assert_eq!(of(&BTreeMap::from([("$cut", 1), ("$$", 2), ("a", 3)])), r#"{"$$$":2,"$$cut":1,"a":3}"#);
    assert_eq!(of(&BTreeMap::from([(7, 1)])), r#"{"7":1}"#);
    assert_eq!(of(&BTreeMap::from([((1, "a"), 1)])), r#"{"[1,\"a\"]":1}"#);
    assert_eq!(of(&BTreeMap::from([(None, 1), (Some(true), 2)])), r#"{"null":1,"true":2}"#);
}

#[test]
fn enums_like_serde_json() {
    #[derive(serde::Serialize)]
    enum Shape {
        Unit,
        Newtype(i32),
        Tuple(i32, char),
        Struct { side: Option<()> },
    }
    let shapes = (Shape::Unit, Shape::Newtype(1), Shape::Tuple(2, 'x'), Shape::Struct { side: Some(()) });
    assert_eq!(of(&shapes), serde_json::to_string(&shapes).unwrap());
}

#[test]
fn marks() {
    let limits = Limits { value_bytes_max: 20, items_max: 2, depth_max: 2, ..UNLIMITED };
    let cut = |value: &dyn Fn(&mut crate::encoder::ValueEncoder<'_>)| json(limits, value);
    assert_eq!(cut(&|value| value.serialize(&[1, 2, 3])), r#"[1,2,{"$cut":{"items":3}}]"#);
    assert_eq!(
        cut(&|value| value.serialize(&BTreeMap::from([("a", 1), ("b", 2), ("c", 3)]))),
        r#"{"a":1,"b":2,"$cut":{"items":3}}"#
    );
    assert_eq!(cut(&|value| value.serialize(&[[[1]]])), r#"[[{"$cut":"depth"}]]"#);
    assert_eq!(cut(&|value| value.text(&"é".repeat(20))), r#"{"$cut":{"bytes":40,"preview":"éééééééé"}}"#);
    assert_eq!(
        cut(&|value| value.bytes(&[0xAB; 30])),
        format!(r#"{{"$cut":{{"bytes":30,"hex":"{}"}}}}"#, "ab".repeat(17))
    );
    assert_eq!(cut(&|value| value.debug(&"x".repeat(99))), r#"{"$cut":{"preview":"\"xxxxxxxxxxxxx"}}"#);
    assert_eq!(cut(&|value| value.debug(&Some(1))), r#""Some(1)""#);
    assert_eq!(cut(&|value| value.type_name::<str>()), r#"{"$type":"str"}"#);
    assert_eq!(cut(&|value| value.failed("locked")), r#"{"$error":"locked"}"#);
    assert_eq!(cut(&|value| value.redacted("password")), r#"{"$redacted":"password"}"#);
    assert_eq!(of_bytes(&[tag::LEFT_OUT]), r#"{"$cut":"record"}"#);
    assert_eq!(of_bytes(&[tag::SEQUENCE, tag::CUT_END, 0]), r#"[{"$cut":{"items":null}}]"#);
}

#[test]
#[cfg(unix)]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let path =
        |bytes: &[u8]| json(UNLIMITED, |value| value.path(Path::new(std::ffi::OsStr::from_bytes(bytes))));
    assert_eq!(path(b"/tmp/a"), r#""/tmp/a""#);
    assert_eq!(path(b"a\xFF"), "{\"$path\":\"a\u{FFFD}\",\"$hex\":\"61ff\"}");
}

#[test]
fn text_that_is_not_utf8_is_replaced() {
    assert_eq!(of_bytes(&[tag::SHORT_TEXT + 2, b'a', 0xFF]), "\"a\u{FFFD}\"");
}

#[test]
fn a_key_without_a_value_has_null() {
    assert_eq!(of_bytes(&[tag::MAP, tag::SMALL_INT, tag::END]), r#"{"0":null}"#);
}

#[test]
fn hostile_nesting_ends() {
    let mut bytes = vec![tag::SEQUENCE; 1_000_000];
    bytes.resize(2_000_000, tag::END);
    assert!(of_bytes(&bytes).contains(r#"{"$cut":"depth"}"#));
    // Maps as keys of maps: quotes would double with each level.
    let mut bytes = vec![tag::MAP; 1000];
    bytes.resize(2000, tag::END);
    assert!(of_bytes(&bytes).len() < 1000);
}

proptest! {
    #[test]
    fn whole_values_read_back(sample in samples()) {
        let text = json(UNLIMITED, |value| value.serialize(&sample));
        prop_assert!(Json::read(&text).says(&sample), "{text}");
    }

    #[test]
    fn hostile_bytes_do_no_harm(bytes in prop::collection::vec(
        prop_oneof![0..0x19u8, any::<u8>(), 0x0C..0x0Fu8], 0..200,
    )) {
        if let Some(value) = Encoded::read(&mut bytes.as_slice()) {
            Json::read(&of_bytes(value.bytes()));
            value.fingerprint();
        }
    }

    #[test]
    fn damaged_values_do_no_harm(
        sample in samples(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode(UNLIMITED, |value| value.serialize(&sample));
        for (index, byte) in damage {
            *index.get_mut(&mut bytes) = byte;
        }
        if let Some(value) = Encoded::read(&mut bytes.as_slice()) {
            Json::read(&of_bytes(value.bytes()));
            value.fingerprint();
        }
    }
}
