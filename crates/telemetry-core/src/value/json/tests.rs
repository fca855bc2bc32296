//! Values through the encoder and out as JSON.

use crate::encoder::Limits;
use crate::value::testing::{FLOATS, Json, Sample, UNLIMITED, encode, json, samples};
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
fn every_class_of_float_is_kept_to_the_bit() {
    let check = |sample: &Sample, payload: &[u8]| {
        let bytes = encode(UNLIMITED, |value| value.serialize(sample));
        assert_eq!(bytes[1..], *payload, "{sample:?}");
        let text = of_bytes(&bytes);
        assert!(Json::read(&text).says(sample), "{sample:?}: {text}");
    };
    for bits in FLOATS {
        let number = f64::from_bits(bits);
        check(&Sample::F64(number), &number.to_le_bytes());
    }
    // All exponents and signs, with the first, the last and a middle fraction of each.
    for top in 0..=0x1FF_u32 {
        for fraction in [0, 1, 0x2A_AAAA, 0x40_0000, 0x7F_FFFF] {
            let number = f32::from_bits(top << 23 | fraction);
            check(&Sample::F32(number), &number.to_bits().to_le_bytes());
        }
    }
    for top in 0..=0xFFF_u64 {
        for fraction in [0, 1, 0xA_AAAA_AAAA_AAAA, 0x8_0000_0000_0000, 0xF_FFFF_FFFF_FFFF] {
            let number = f64::from_bits(top << 52 | fraction);
            check(&Sample::F64(number), &number.to_bits().to_le_bytes());
        }
    }
}

#[test]
fn integers_of_every_width_are_exact_at_every_power_of_two() {
    let check = |sample: Sample| {
        let text = of(&sample);
        assert!(Json::read(&text).says(&sample), "{sample:?}: {text}");
    };
    for bit in 0..128 {
        for number in [1u128 << bit, (1u128 << bit) - 1, !(1u128 << bit)] {
            check(Sample::U128(number));
            check(Sample::U64(number as u64));
            check(Sample::U32(number as u32));
            check(Sample::U16(number as u16));
            check(Sample::U8(number as u8));
            check(Sample::I128(number as i128));
            check(Sample::I64(number as i64));
            check(Sample::I32(number as i32));
            check(Sample::I16(number as i16));
            check(Sample::I8(number as i8));
        }
    }
}

#[test]
fn keys_of_any_type() {
    #[derive(serde::Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        Unit,
        Tuple(u8, bool),
        Struct { x: i128 },
    }
    #[derive(serde::Serialize)]
    struct Float(f64);
    struct Pairs<K>(Vec<(K, u8)>);
    impl<K: serde::Serialize> serde::Serialize for Pairs<K> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
        }
    }
    let keys = BTreeMap::from([(Key::Unit, 1), (Key::Tuple(2, true), 2), (Key::Struct { x: i128::MAX }, 3)]);
    assert_eq!(
        of(&keys),
        format!(
            r#"{{"Unit":1,"{{\"Tuple\":[2,true]}}":2,"{{\"Struct\":{{\"x\":{{\"$int\":\"{}\"}}}}}}":3}}"#,
            i128::MAX
        )
    );
    assert_eq!(of(&Pairs(vec![(Float(0.5), 1), (Float(-0.0), 2)])), r#"{"0.5":1,"-0.0":2}"#);
    assert_eq!(of(&Pairs(vec![(Float(f64::NAN), 1)])), r#"{"{\"$float\":\"NaN\"}":1}"#);
    assert_eq!(of(&Pairs(vec![((), 1)])), r#"{"null":1}"#);
    assert_eq!(of(&Pairs(vec![(BTreeMap::from([(1, 2)]), 1)])), r#"{"{\"1\":2}":1}"#);
    assert_eq!(of(&Pairs(vec![('$', 1)])), r#"{"$$":1}"#);
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
    assert_eq!(
        cut(&|value| value.text(&"é".repeat(20))),
        r#"{"$cut":{"bytes":40,"type":"text","preview":"éééééééé"}}"#
    );
    assert_eq!(
        cut(&|value| value.bytes(&[0xAB; 30])),
        format!(r#"{{"$cut":{{"bytes":30,"type":"bytes","hex":"{}"}}}}"#, "ab".repeat(17))
    );
    assert_eq!(
        cut(&|value| value.debug(&"x".repeat(99))),
        r#"{"$cut":{"type":"text","preview":"\"xxxxxxxxxxxxx"}}"#
    );
    assert_eq!(cut(&|value| value.debug(&Some(1))), r#""Some(1)""#);
    assert_eq!(cut(&|value| value.type_name::<str>()), r#"{"$type":"str"}"#);
    assert_eq!(cut(&|value| value.failed("locked")), r#"{"$error":"locked"}"#);
    assert_eq!(cut(&|value| value.redacted("password")), r#"{"$redacted":"password"}"#);
    assert_eq!(of_bytes(&[tag::LEFT_OUT]), r#"{"$cut":"record"}"#);
    assert_eq!(of_bytes(&[tag::SEQUENCE, tag::CUT_END, 0]), r#"[{"$cut":{"items":null}}]"#);
}

#[test]
fn what_is_cut_says_its_type_its_length_and_its_beginning() {
    let cut = |value: &dyn Fn(&mut crate::encoder::ValueEncoder<'_>)| json(Limits::DEFAULT, value);
    let floats = cut(&|value| value.serialize(&vec![0.5; 5000]));
    assert!(floats.starts_with("[0.5,0.5,"), "{floats}");
    assert!(
        floats.ends_with(r#",0.5,{"$cut":{"items":5000,"type":"alloc::vec::Vec<f64>"}}]"#),
        "{}",
        &floats[floats.len() - 100..]
    );
    let map: BTreeMap<u32, bool> = (0..5000).map(|number| (number, true)).collect();
    let map = cut(&|value| value.serialize(&map));
    assert!(map.starts_with(r#"{"0":true,"#) && map.contains(r#","$cut":{"items":5000,"type":"alloc::"#));
    let debug = cut(&|value| value.debug(&"x".repeat(5000)));
    assert!(debug.starts_with(r#"{"$cut":{"type":"alloc::string::String","preview":"\"xxx"#), "{debug}");
    let slice = cut(&|value| value.debug_slice(&[(); 5000]));
    assert!(slice.starts_with(r#"{"$cut":{"items":5000,"type":"[()]","preview":"[(), "#), "{slice}");
    let bytes = cut(&|value| value.bytes(&[7; 5000]));
    assert!(bytes.starts_with(r#"{"$cut":{"bytes":5000,"type":"bytes","hex":"0707"#), "{bytes}");
    for json in [floats, map, debug, slice, bytes] {
        Json::read(&json);
    }
}

#[test]
fn files() {
    use crate::value::FileState;
    let of = |path: &str, state| json(UNLIMITED, |value| value.file(Path::new(path), state));
    let found =
        FileState::Found { bytes: 9, modified_ns: 1_700_000_000_500_000_000, sha256: Some([0xAB; 32]) };
    let sum = "ab".repeat(32);
    assert_eq!(
        of("a.csv", found),
        format!(r#"{{"$file":{{"path":"a.csv","bytes":9,"modified":1700000000.5,"sha256":"{sum}"}}}}"#)
    );
    let unread = FileState::Found { bytes: 9, modified_ns: -1_500_000_000, sha256: None };
    assert_eq!(of("a", unread), r#"{"$file":{"path":"a","bytes":9,"modified":-1.5}}"#);
    assert_eq!(of("a", FileState::Missing), r#"{"$file":{"path":"a","state":"missing"}}"#);
    assert_eq!(of("a", FileState::NoFile), r#"{"$file":{"path":"a","state":"no file"}}"#);
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
            value.fingerprints().count();
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
            value.fingerprints().count();
        }
    }
}
