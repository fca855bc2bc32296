//! Values as JSON, and their fingerprints: the only place that asks the core for either.

use telemetry_core::value::Encoded;

/// Appends the value as JSON.
pub(super) fn write(value: Encoded<'_>, out: &mut Vec<u8>) {
    let bytes = value.bytes();
    if let Some(text) = value.as_str() {
        serde_json::to_writer(out, text).expect("a text can be written into memory");
        return;
    }
    match bytes.first() {
        Some(2) => out.extend_from_slice(b"false"),
        Some(3) => out.extend_from_slice(b"true"),
        Some(9) => {
            let number = f64::from_le_bytes(bytes[1..9].try_into().expect("eight bytes"));
            serde_json::to_writer(out, &number).expect("a number can be written into memory");
        }
        Some(small @ 0x40..=0x7F) => out.extend_from_slice((small - 0x40).to_string().as_bytes()),
        _ => out.extend_from_slice(b"null"),
    }
}

/// What a value is recognised by where it is used again.
pub(super) fn fingerprint(value: Encoded<'_>) -> Option<u64> {
    let _ = value;
    None
}

/// The value as JSON.
pub(super) fn to_text(value: Encoded<'_>) -> String {
    let mut json = Vec::new();
    write(value, &mut json);
    String::from_utf8_lossy(&json).into_owned()
}

/// The text itself where the value is one, even where it was cut; else its JSON.
pub(super) fn plain_text(value: Encoded<'_>) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let json = to_text(value);
    serde_json::from_str::<String>(&json).unwrap_or(json)
}
