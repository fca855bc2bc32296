//! What the encoder promises whatever the values do.

mod secrets;

use super::{Encoder, Limits, RESERVE_BYTES};
use crate::record::{Field, Items, Key};
use crate::value::Encoded;
use crate::value::testing::{Json, UNLIMITED, encode, json, samples};
use proptest::prelude::*;
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Display};

/// What `Serialize` says; the type of what was cut is left to the tests that look for it.
fn of(limits: Limits, value: &(impl Serialize + ?Sized)) -> String {
    let json = json(limits, |encoder| encoder.serialize(value));
    match json.rsplit_once(r#","type":"#) {
        Some((before, after)) if !after.contains(r#"","preview""#) => {
            let (_, after) = after[1..].split_once('"').expect("the type is a text");
            format!("{before}{after}")
        }
        _ => json,
    }
}

/// A type whose `Serialize` does what the body says.
macro_rules! serialize {
    (|$serializer:ident| $body:expr) => {{
        struct Played;
        impl Serialize for Played {
            fn serialize<S: Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                $body
            }
        }
        Played
    }};
}

struct Deep(Option<Box<Deep>>);

impl Deep {
    fn new(levels: usize) -> Self {
        (0..levels).fold(Self(None), |deep, _| Self(Some(Box::new(deep))))
    }
}

impl Serialize for Deep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("Deep", &self.0)
    }
}

impl Debug for Deep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("").field(&self.0).finish()
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut deep) = next {
            next = deep.0.take();
        }
    }
}

#[test]
fn items_read_back_in_order() {
    let mut encoder = Encoder::new();
    encoder.used(0, |value| value.int(-5));
    encoder.output(200, |value| value.boolean(false));
    encoder.used_named("x", |value| value.boolean(true));
    encoder.generated_named("y", |_| {});
    encoder.metadata("m", |value| value.float(1.5));
    encoder.result(|value| {
        value.serialize(&[1, 2]);
        value.character('c');
    });
    encoder.error(|value| value.display(&"bad"));
    encoder.text(Field::Tag, "tag");
    encoder.telemetry(&[1.0f32; 2]);
    let text: Vec<_> = Items::new(encoder.bytes())
        .map(|item| {
            let mut json = Vec::new();
            item.value.write_json(&mut json);
            let key = match item.key {
                Some(Key::Index(index)) => format!(" {index}"),
                Some(Key::Inline(key)) => format!(" {key}"),
                None => String::new(),
            };
            format!("{}{key} = {}", item.field, String::from_utf8(json).unwrap())
        })
        .collect();
    assert_eq!(
        text,
        [
            "used 0 = -5",
            "generated 200 = false",
            "used x = true",
            "generated y = null",
            "metadata m = 1.5",
            "result = \"c\"",
            "stderr = \"bad\"",
            "tag = \"tag\"",
            "telemetry = [1.0,1.0]",
        ]
    );
}

#[test]
fn without_values_only_the_rest_is_written() {
    let mut encoder = Encoder::new();
    encoder.reset(Limits::DEFAULT);
    encoder.keep_values(false);
    encoder.used(0, |_| panic!("not called"));
    encoder.output(0, |_| panic!("not called"));
    encoder.result(|_| panic!("not called"));
    encoder.used_named("a", |_| panic!("not called"));
    encoder.generated_named("a", |_| panic!("not called"));
    assert!(encoder.is_empty());
    encoder.error(|value| value.text("bad"));
    assert_eq!(Items::new(encoder.bytes()).count(), 1);
}

#[test]
fn huge_values_end_early() {
    // Nobody lives to see the end of these.
    let endless = &[(); usize::MAX];
    let nulls = "null,".repeat(1000);
    assert_eq!(
        of(Limits::DEFAULT, &endless[..]),
        format!(r#"[{nulls}{{"$cut":{{"items":{}}}}}]"#, u64::MAX - 1)
    );
    assert!(
        json(Limits::DEFAULT, |value| value.debug_slice(endless))
            .starts_with(r#"{"$cut":{"items":18446744073709551614,"type":"[()]","preview":"[(), ()"#)
    );
    let text = "x".repeat(1 << 20);
    let cut = json(Limits::DEFAULT, |value| value.text(&text));
    assert!(cut.starts_with(r#"{"$cut":{"bytes":1048576,"type":"text","preview":"xxx"#), "{cut}");
    let cut = of(Limits::DEFAULT, &(&text, 1));
    assert!(cut.ends_with(r#""}},{"$cut":{"items":2}}]"#), "{cut}");
}

#[test]
fn deep_values_do_not_overflow_a_small_stack() {
    let run = || {
        let deep = Deep::new(1_000_000);
        assert_eq!(of(Limits::DEFAULT, &deep), r#"{"$cut":"depth"}"#);
        let debug = json(Limits::DEFAULT, |value| value.debug(&deep));
        assert!(debug.contains(r#"::Deep","preview":"(Some((Some(("#), "{debug}");
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn items_cut_their_container_and_nothing_else() {
    #[derive(Serialize)]
    enum Wrapped {
        Newtype(Vec<i32>),
        Tuple(i32, i32, i32),
    }
    let limits = Limits { items_max: 2, ..UNLIMITED };
    assert_eq!(of(limits, &([1, 2, 3], 4)), r#"[[1,2,{"$cut":{"items":3}}],4]"#);
    let endless = serialize!(|serializer| serializer.collect_seq(0..));
    assert_eq!(of(limits, &endless), r#"[0,1,{"$cut":{"items":null}}]"#);
    assert_eq!(of(limits, &Wrapped::Newtype(vec![1; 9])), r#"{"Newtype":[1,1,{"$cut":{"items":9}}]}"#);
    let tuples = [Wrapped::Tuple(1, 2, 3), Wrapped::Newtype(vec![])];
    assert_eq!(of(limits, &tuples), r#"[{"Tuple":[1,2,{"$cut":{"items":3}}]},{"Newtype":[]}]"#);
}

#[test]
fn depth_cuts_what_lies_below_and_nothing_else() {
    #[derive(Serialize)]
    enum Wrapped {
        Tuple(i32, i32),
    }
    let limits = Limits { depth_max: 2, ..UNLIMITED };
    assert_eq!(of(limits, &([[1]], 2)), r#"[[{"$cut":"depth"}],2]"#);
    assert_eq!(of(limits, &(Some(Some(1)), 2)), r#"[{"$cut":"depth"},2]"#);
    assert_eq!(of(limits, &[Wrapped::Tuple(1, 2)]), r#"[{"Tuple":{"$cut":"depth"}}]"#);
    assert_eq!(of(Limits { depth_max: 0, ..limits }, &[1]), r#"{"$cut":"depth"}"#);
}

#[test]
fn bytes_end_the_whole_value() {
    let limits = Limits { value_bytes_max: 64, ..UNLIMITED };
    let long = "x".repeat(200);
    let cut = of(limits, &((1, &long, 2), 3));
    assert!(cut.ends_with(r#"x"}},{"$cut":{"items":3}}],{"$cut":{"items":2}}]"#), "{cut}");
    let last = of(limits, &(1, &long));
    assert!(last.ends_with(r#"x"}}]"#), "the last item may be cut while its sequence is whole: {last}");
}

#[test]
fn a_long_slice_is_cut_before_its_debug_runs() {
    let limits = Limits { items_max: 3, ..UNLIMITED };
    let of = |numbers: &[i32]| json(limits, |value| value.debug_slice(numbers));
    assert_eq!(of(&[1, 2, 3]), r#""[1, 2, 3]""#);
    assert_eq!(of(&[1, 2, 3, 4]), r#"{"$cut":{"items":4,"type":"[i32]","preview":"[1, 2, 3"}}"#);
}

#[test]
fn an_error_stays_with_the_value_that_made_it() {
    let failing = serialize!(|_serializer| Err(S::Error::custom("no luck")));
    assert_eq!(of(UNLIMITED, &failing), r#"{"$error":"no luck"}"#);
    assert_eq!(of(UNLIMITED, &(1, failing, 2)), r#"[1,{"$error":"no luck"},2]"#);
    let halfway = serialize!(|serializer| {
        let mut sequence = serializer.serialize_seq(None)?;
        sequence.serialize_element(&[1])?;
        Err(S::Error::custom("x".repeat(1 << 20)))
    });
    assert!(of(UNLIMITED, &(1, halfway)).len() < 1100);
}

#[test]
fn a_panic_becomes_a_failure() {
    struct Evil;
    impl Debug for Evil {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("half")?;
            std::panic::panic_any(PanicsOnDrop)
        }
    }
    impl Display for Evil {
        fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("and again");
        }
    }
    let panicking = serialize!(|serializer| {
        let mut sequence = serializer.serialize_seq(None)?;
        sequence.serialize_element(&[1])?;
        panic!("on purpose")
    });
    assert_eq!(of(UNLIMITED, &(1, panicking)), r#"{"$error":"panicked"}"#);
    assert_eq!(json(UNLIMITED, |value| value.debug(&Evil)), r#"{"$error":"panicked"}"#);
    assert_eq!(
        json(UNLIMITED, |value| value.display(&Evil)),
        r#"{"$error":"its formatting returned an error"}"#
    );
    let collected = serialize!(|serializer| serializer.collect_str(&Evil));
    assert_eq!(of(UNLIMITED, &collected), r#"{"$error":"its formatting returned an error"}"#);
}

#[test]
fn a_serialize_that_ignores_errors_leaves_a_whole_value() {
    let limits = Limits { items_max: 2, ..UNLIMITED };
    let stubborn = serialize!(|serializer| {
        let mut sequence = serializer.serialize_seq(Some(5))?;
        for number in 0..5 {
            let _ = sequence.serialize_element(&number);
        }
        sequence.end()
    });
    assert_eq!(of(limits, &(stubborn, 7)), r#"[[0,1,{"$cut":{"items":5}}],7]"#);
    let disguised = serialize!(|serializer| {
        [1, 2, 3].serialize(serializer).map_err(|error| S::Error::custom(format!("wrapped: {error}")))
    });
    assert_eq!(of(limits, &(disguised, 7)), r#"[[1,2,{"$cut":{"items":3}}],7]"#);
    let careless = serialize!(|serializer| {
        let mut map = serializer.serialize_map(None)?;
        let _ = map.serialize_value("value without key");
        map.serialize_key("a")?;
        map.serialize_key("b")?;
        map.end()
    });
    assert_eq!(of(limits, &careless), r#"{"a":null,"b":null}"#);
}

#[test]
fn a_full_record_still_takes_the_error() {
    let mut encoder = Encoder::new();
    encoder.reset(Limits { record_bytes_max: 100, ..Limits::DEFAULT });
    encoder.used(0, |value| value.text(&"x".repeat(500)));
    encoder.used(1, |_| panic!("not called"));
    encoder.error(|value| value.text("bad"));
    let values: Vec<_> = Items::new(encoder.bytes()).map(|item| item.value).collect();
    assert_eq!(values.len(), 3);
    assert_eq!(values[1].bytes(), [crate::value::tag::LEFT_OUT]);
    assert_eq!(values[2].as_str(), Some("bad"));
}

prop_compose! {
    fn limits()(value_bytes_max in prop_oneof![0..400u32, 400..4000u32], record_bytes_max in 0..1000u32, depth_max in 0..6u32, items_max in 0..6u32) -> Limits {
        Limits { value_bytes_max, record_bytes_max, depth_max, items_max }
    }
}

/// Outside of all containers a number or the header of a cut text is written whatever the limit.
const SHORTEST_MARK_MAX: usize = 21;

proptest! {
    #[test]
    fn a_value_keeps_its_budget(sample in samples(), limits in limits()) {
        let limits = Limits { record_bytes_max: 1 << 20, ..limits };
        let bytes = encode(limits, |value| value.serialize(&sample));
        prop_assert!(bytes.len() <= SHORTEST_MARK_MAX.max(limits.value_bytes_max as usize), "{}", bytes.len());
        let mut out = Vec::new();
        Encoded::read(&mut bytes.as_slice()).unwrap().write_json(&mut out);
        Json::read(std::str::from_utf8(&out).unwrap());
    }

    #[test]
    fn formatted_text_keeps_its_budget(text in ".{0,300}", limits in limits()) {
        let limits = Limits { record_bytes_max: 1 << 20, ..limits };
        for bytes in [
            encode(limits, |value| value.debug(&text)),
            encode(limits, |value| value.display(&text)),
            encode(limits, |value| value.path(text.as_ref())),
            encode(limits, |value| value.failed(&text)),
        ] {
            prop_assert!(bytes.len() <= SHORTEST_MARK_MAX.max(limits.value_bytes_max as usize));
        }
    }

    #[test]
    fn a_record_keeps_its_budget(
        samples in prop::collection::vec((samples(), ".{0,400}"), 0..20),
        limits in limits(),
    ) {
        let mut encoder = Encoder::new();
        encoder.reset(limits);
        for (index, (sample, key)) in samples.iter().enumerate() {
            encoder.used(index, |value| value.serialize(sample));
            encoder.metadata(key, |value| value.debug(sample));
            encoder.text(Field::Tag, key);
        }
        let slack = RESERVE_BYTES + super::KEY_BYTES_MAX + 2 * SHORTEST_MARK_MAX;
        prop_assert!(encoder.bytes().len() <= limits.record_bytes_max as usize + slack);
        let read: usize = Items::new(encoder.bytes()).count();
        if encoder.bytes().len() < limits.record_bytes_max as usize {
            prop_assert_eq!(read, samples.len() * 3);
        }
    }

    #[test]
    fn what_fits_is_not_cut(sample in samples()) {
        let whole = encode(UNLIMITED, |value| value.serialize(&sample));
        // The bytes of closing marks and of headers are kept free until they are needed.
        let limits = Limits { value_bytes_max: whole.len() as u32 + 200, ..UNLIMITED };
        prop_assert_eq!(encode(limits, |value| value.serialize(&sample)), whole);
    }
}
