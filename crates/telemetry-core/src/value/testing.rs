//! For tests: values of every kind, and a reader of JSON that keeps numbers as they are written.

use crate::encoder::{Encoder, Limits, ValueEncoder};
use crate::record::Items;
use crate::value::Encoded;
use proptest::prelude::*;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// Limits that cut nothing in a test.
pub(crate) const UNLIMITED: Limits =
    Limits { value_bytes_max: 1 << 24, record_bytes_max: 1 << 24, depth_max: 1 << 20, items_max: 1 << 20 };

/// The bytes of one value.
pub(crate) fn encode(limits: Limits, write: impl FnOnce(&mut ValueEncoder<'_>)) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.reset(limits);
    encoder.result(write);
    let mut items = Items::new(encoder.bytes());
    let value = items.next().expect("one item was written").value.bytes().to_vec();
    assert!(items.next().is_none());
    assert_eq!(encoder.bytes().len(), 1 + value.len(), "nothing follows the value");
    value
}

/// The JSON text of one value.
pub(crate) fn json(limits: Limits, write: impl FnOnce(&mut ValueEncoder<'_>)) -> String {
    let bytes = encode(limits, write);
    let mut out = Vec::new();
    Encoded::read(&mut bytes.as_slice()).expect("a whole value was written").write_json(&mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// A value of any kind that serde knows.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    Null,
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    Some(Box<Sample>),
    Newtype(Box<Sample>),
    Variant(Box<Sample>),
    Sequence(Vec<Sample>, LengthHint),
    Map(Vec<(Sample, Sample)>, LengthHint),
}

/// Whether a container tells its length ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LengthHint {
    Right,
    Unknown,
    Wrong(usize),
}

impl LengthHint {
    fn of(self, length: usize) -> Option<usize> {
        match self {
            Self::Right => Some(length),
            Self::Unknown => None,
            Self::Wrong(length) => Some(length),
        }
    }
}

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::I8(value) => serializer.serialize_i8(*value),
            Self::I16(value) => serializer.serialize_i16(*value),
            Self::I32(value) => serializer.serialize_i32(*value),
            Self::I64(value) => serializer.serialize_i64(*value),
            Self::I128(value) => serializer.serialize_i128(*value),
            Self::U8(value) => serializer.serialize_u8(*value),
            Self::U16(value) => serializer.serialize_u16(*value),
            Self::U32(value) => serializer.serialize_u32(*value),
            Self::U64(value) => serializer.serialize_u64(*value),
            Self::U128(value) => serializer.serialize_u128(*value),
            Self::F32(value) => serializer.serialize_f32(*value),
            Self::F64(value) => serializer.serialize_f64(*value),
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Some(value) => serializer.serialize_some(value),
            Self::Newtype(value) => serializer.serialize_newtype_struct("Newtype", value),
            Self::Variant(value) => serializer.serialize_newtype_variant("Sample", 0, "Variant", value),
            Self::Sequence(items, hint) => {
                let mut sequence = serializer.serialize_seq(hint.of(items.len()))?;
                items.iter().try_for_each(|item| sequence.serialize_element(item))?;
                sequence.end()
            }
            Self::Map(items, hint) => {
                let mut map = serializer.serialize_map(hint.of(items.len()))?;
                items.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

/// Random values, some levels deep.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    scalars().prop_recursive(6, 80, 8, |inner| {
        let hint = prop_oneof![
            4 => Just(LengthHint::Right),
            1 => Just(LengthHint::Unknown),
            1 => any::<usize>().prop_map(LengthHint::Wrong),
            1 => (0..9usize).prop_map(LengthHint::Wrong),
        ];
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(Sample::Some),
            boxed.clone().prop_map(Sample::Newtype),
            boxed.prop_map(Sample::Variant),
            (prop::collection::vec(inner.clone(), 0..8), hint.clone())
                .prop_map(|(items, hint)| Sample::Sequence(items, hint)),
            (prop::collection::vec((keys(), inner), 0..8), hint)
                .prop_map(|(items, hint)| Sample::Map(items, hint)),
        ]
    })
}

/// Keys of maps: mostly texts, and anything else that a key may be.
fn keys() -> impl Strategy<Value = Sample> {
    prop_oneof![
        3 => texts().prop_map(Sample::Text),
        1 => scalars(),
        1 => scalars().prop_map(|key| Sample::Some(Box::new(key))),
        1 => scalars().prop_map(|key| Sample::Variant(Box::new(key))),
        1 => prop::collection::vec(scalars(), 0..3).prop_map(|key| Sample::Sequence(key, LengthHint::Right)),
    ]
}

/// Numbers at which something changes: kinds of zero, of the very small, of the endless, and of what is
/// no number.
pub(crate) const FLOATS: [u64; 20] = [
    0,
    1 << 63,
    1,
    (1 << 63) | 1,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0001,
    0x3FB9_9999_9999_999A,
    0x4340_0000_0000_0000,
    0x4340_0000_0000_0001,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF8_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFF,
];

fn scalars() -> impl Strategy<Value = Sample> {
    prop_oneof![
        Just(Sample::Null),
        any::<bool>().prop_map(Sample::Bool),
        any::<i8>().prop_map(Sample::I8),
        any::<i16>().prop_map(Sample::I16),
        any::<i32>().prop_map(Sample::I32),
        any::<i64>().prop_map(Sample::I64),
        (any::<i128>(), 0..128u32).prop_map(|(number, shift)| Sample::I128(number >> shift)),
        any::<u8>().prop_map(Sample::U8),
        any::<u16>().prop_map(Sample::U16),
        any::<u32>().prop_map(Sample::U32),
        prop::sample::select(FLOATS.to_vec()).prop_map(|bits| Sample::F64(f64::from_bits(bits))),
        (any::<u64>(), 0..64u32).prop_map(|(number, shift)| Sample::U64(number >> shift)),
        (any::<u128>(), 0..128u32).prop_map(|(number, shift)| Sample::U128(number >> shift)),
        any::<u32>().prop_map(|bits| Sample::F32(f32::from_bits(bits))),
        any::<u64>().prop_map(|bits| Sample::F64(f64::from_bits(bits))),
        prop::num::f64::ANY.prop_map(Sample::F64),
        any::<char>().prop_map(Sample::Char),
        texts().prop_map(Sample::Text),
        prop::collection::vec(any::<u8>(), 0..100).prop_map(Sample::Bytes),
    ]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(any::<char>(), 0..100).prop_map(String::from_iter),
        "[$\"\\\\\u{0}-\u{1f}a-c]{0,8}",
    ]
}

/// JSON as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a whole text; panics where it is not JSON.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str::<serde_json::Value>(text).expect("another reader takes it too");
        let mut reader = Reader { rest: text };
        let json = reader.value();
        assert_eq!(reader.rest, "");
        json
    }

    /// Whether it says exactly what the value is.
    pub(crate) fn says(&self, sample: &Sample) -> bool {
        match (self, sample) {
            (Self::Null, Sample::Null) => true,
            (Self::Bool(json), Sample::Bool(value)) => json == value,
            (_, Sample::I8(value)) => self.says_integer(value, true),
            (_, Sample::I16(value)) => self.says_integer(value, true),
            (_, Sample::I32(value)) => self.says_integer(value, true),
            (_, Sample::I64(value)) => self.says_integer(value, true),
            (_, Sample::I128(value)) => self.says_integer(value, i64::try_from(*value).is_ok()),
            (_, Sample::U8(value)) => self.says_integer(value, true),
            (_, Sample::U16(value)) => self.says_integer(value, true),
            (_, Sample::U32(value)) => self.says_integer(value, true),
            (_, Sample::U64(value)) => self.says_integer(value, i64::try_from(*value).is_ok()),
            (_, Sample::U128(value)) => self.says_integer(value, i64::try_from(*value).is_ok()),
            (Self::Number(json), Sample::F32(value)) => {
                json.contains(['.', 'e']) && json.parse::<f32>().unwrap().to_bits() == value.to_bits()
            }
            (Self::Number(json), Sample::F64(value)) => {
                json.contains(['.', 'e']) && json.parse::<f64>().unwrap().to_bits() == value.to_bits()
            }
            (_, Sample::F32(value)) => self.says_class(f64::from(*value)),
            (_, Sample::F64(value)) => self.says_class(*value),
            (Self::Text(json), Sample::Char(value)) => *json == value.to_string(),
            (Self::Text(json), Sample::Text(value)) => json == value,
            (_, Sample::Bytes(value)) => self.marked("$bytes") == Some(&hex(value)),
            (_, Sample::Some(value) | Sample::Newtype(value)) => self.says(value),
            (Self::Object(json), Sample::Variant(value)) => {
                json.len() == 1 && json[0].0 == "Variant" && json[0].1.says(value)
            }
            (Self::Array(json), Sample::Sequence(items, _)) => {
                json.len() == items.len() && json.iter().zip(items).all(|(json, item)| json.says(item))
            }
            (Self::Object(json), Sample::Map(items, _)) => {
                json.len() == items.len()
                    && json
                        .iter()
                        .zip(items)
                        .all(|(json, item)| key_says(&json.0, &item.0) && json.1.says(&item.1))
            }
            _ => false,
        }
    }

    fn says_integer(&self, value: &impl ToString, plain: bool) -> bool {
        match self {
            Self::Number(json) => plain && *json == value.to_string(),
            _ => !plain && self.marked("$int") == Some(&value.to_string()),
        }
    }

    fn says_class(&self, value: f64) -> bool {
        let word = self.marked("$float").map(String::as_str);
        match word {
            Some("NaN") => value.is_nan(),
            Some("Infinity") => value == f64::INFINITY,
            Some("-Infinity") => value == f64::NEG_INFINITY,
            _ => false,
        }
    }

    fn marked(&self, mark: &str) -> Option<&String> {
        match self {
            Self::Object(members) => match members.as_slice() {
                [(key, Self::Text(text))] if key == mark => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A key that is a text gets one more `$` where it begins with one; any other key is its own JSON.
fn key_says(json: &str, key: &Sample) -> bool {
    let is_text = |text: &str| {
        json.strip_prefix('$').unwrap_or(json) == text && json.starts_with("$$") == text.starts_with('$')
    };
    match key {
        Sample::Text(text) => is_text(text),
        Sample::Char(sign) => is_text(&sign.to_string()),
        Sample::Some(inner) | Sample::Newtype(inner) => key_says(json, inner),
        other => Json::read(json).says(other),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Json {
        if self.take("null") {
            Json::Null
        } else if self.take("true") {
            Json::Bool(true)
        } else if self.take("false") {
            Json::Bool(false)
        } else if self.take("[") {
            Json::Array(self.items("]", Self::value))
        } else if self.take("{") {
            Json::Object(self.items("}", |reader| {
                let key = reader.text();
                assert!(reader.take(":"));
                (key, reader.value())
            }))
        } else if self.rest.starts_with('"') {
            Json::Text(self.text())
        } else {
            Json::Number(self.number())
        }
    }

    fn items<T>(&mut self, end: &str, read: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.take(end) {
            assert!(items.is_empty() || self.take(","));
            items.push(read(self));
        }
        items
    }

    fn number(&mut self) -> String {
        let length = self.rest.find(|sign: char| !"+-.e0123456789".contains(sign));
        let (number, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        self.rest = rest;
        number.to_owned()
    }

    fn text(&mut self) -> String {
        let mut escaped = false;
        let end = self.rest[1..].find(|sign| {
            let ends = sign == '"' && !escaped;
            escaped = sign == '\\' && !escaped;
            ends
        });
        let (text, rest) = self.rest.split_at(end.expect("a string ends") + 2);
        self.rest = rest;
        serde_json::from_str(text).expect("a string is valid")
    }
}
