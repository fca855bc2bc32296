//! The members of a JSON object as a person reads them: `key=value`, as the labels of events are written.

use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object; other JSON as it is.
pub(super) fn members(json: &str) -> String {
    serde_json::Deserializer::from_str(json).deserialize_map(Members).unwrap_or_else(|_| json.to_owned())
}

/// Takes each value as it is written: numbers keep all of their digits, and members their order.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            members.push(format!("{key}={}", bare(value.get())));
        }
        Ok(members.join("  "))
    }
}

/// A text without its quotes, where it reads as a text all the same.
fn bare(json: &str) -> String {
    let is_one_word = |text: &String| {
        let separates = |character: char| character.is_whitespace() || matches!(character, '"' | '=');
        !text.is_empty() && !text.contains(separates) && serde_json::from_str::<&RawValue>(text).is_err()
    };
    serde_json::from_str(json).ok().filter(is_one_word).unwrap_or_else(|| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_read_like_labels() {
        for (json, text) in [
            ("{}", ""),
            (r#"{"x":21,"name":"fc1"}"#, "x=21  name=fc1"),
            (r#"{"z":{"b":1,"a":[2,"c"]},"a":null}"#, r#"z={"b":1,"a":[2,"c"]}  a=null"#),
            (r#"{"n":340282366920938463463374607431768211455}"#, "n=340282366920938463463374607431768211455"),
        ] {
            assert_eq!(members(json), text);
        }
    }

    #[test]
    fn texts_that_would_read_as_something_else_keep_their_quotes() {
        for value in
            [r#""""#, r#""7""#, r#""true""#, r#""two words""#, r#""a=b""#, r#""say \"no\"""#, r#""[1]""#]
        {
            assert_eq!(members(&format!("{{\"x\":{value}}}")), format!("x={value}"));
        }
    }

    #[test]
    fn what_is_no_object_stays() {
        for json in ["[1,2]", "7", "\"text\"", "{\"cut"] {
            assert_eq!(members(json), json);
        }
    }
}
