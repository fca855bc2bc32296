//! A number that is the same on both sides, digit for digit: whole ones stay whole, and JSON's lack of infinity is no loss.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

const INFINITE: &str = "inf";
const NEGATIVE: &str = "-inf";

/// The value of an event. What is not finite is a text in JSON: `"inf"`, `"-inf"`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExactNumber {
    /// A whole number.
    Int(i64),
    /// Any other.
    Float(f64),
}

impl FromSql for ExactNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Integer(number) => Ok(Self::Int(number)),
            ValueRef::Real(number) => Ok(Self::Float(number)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for ExactNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(match *self {
            Self::Int(number) => Value::Integer(number),
            Self::Float(number) => Value::Real(number),
        }))
    }
}

impl Serialize for ExactNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Int(number) => serializer.serialize_i64(number),
            Self::Float(f64::INFINITY) => serializer.serialize_str(INFINITE),
            Self::Float(f64::NEG_INFINITY) => serializer.serialize_str(NEGATIVE),
            Self::Float(number) => serializer.serialize_f64(number),
        }
    }
}

impl<'de> Deserialize<'de> for ExactNumber {
    /// From the digits themselves: a JSON reader may round.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let float = || text.trim_matches('"').parse().ok().map(Self::Float);
        let number = text.parse().ok().map(Self::Int).or_else(float);
        number.ok_or_else(|| D::Error::custom(format_args!("{text} is no number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        let numbers = [1.0, -0.0, 0.1 + 0.2, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY];
        let whole = [0, i64::MIN, i64::MAX, 1 << 60].map(ExactNumber::Int);
        for number in numbers.map(ExactNumber::Float).into_iter().chain(whole) {
            let text = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<ExactNumber>(&text).unwrap(), number, "{text}");
        }
        assert!(serde_json::from_str::<ExactNumber>("\"three\"").is_err());
    }
}
