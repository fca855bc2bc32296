//! Values as JSON and as text.

use telemetry_core::value::Encoded;

/// The value as JSON.
pub(super) fn to_text(value: Encoded<'_>) -> String {
    let mut json = Vec::new();
    value.write_json(&mut json);
    String::from_utf8_lossy(&json).into_owned()
}

/// The text itself where the value is one, with an ellipsis where it was cut; else its JSON.
pub(super) fn plain_text(value: Encoded<'_>) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let json = to_text(value);
    match serde_json::from_str(&json) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(object) => match object.pointer("/$cut/preview").and_then(serde_json::Value::as_str) {
            Some(preview) => format!("{preview}…"),
            None => json,
        },
        Err(_) => json,
    }
}

/// The key of a map as the name of a value: a text, or else its JSON.
pub(super) fn name(key: Encoded<'_>) -> String {
    if let Some(text) = key.as_str() {
        return text.to_owned();
    }
    let json = to_text(key);
    serde_json::from_str(&json).unwrap_or(json)
}

/// What the JSON of a map that was cut says about that, in its last member `$cut`.
pub(super) fn cut_of_map(map: Encoded<'_>) -> Option<String> {
    let json = to_text(map);
    let (_, cut) = json.rsplit_once(r#""$cut":{"items":"#)?;
    Some(format!(r#"{{"items":{}"#, cut.strip_suffix('}')?))
}
