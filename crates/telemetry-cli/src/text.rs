//! Values as people read them.

use std::path::Path;

use chrono::{DateTime, Local};
use telemetry_journal::clock;
use unicode_width::UnicodeWidthStr;

const DAY_S: f64 = 86_400.0;

/// Without characters that a screen would obey: what was recorded may contain anything.
pub(crate) fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push('⏎'),
            '\t' => safe.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.extend(character.escape_unicode()),
            other if other.is_control() => safe.extend(other.escape_default()),
            other => safe.push(other),
        }
    }
    safe
}

/// The same, with the line breaks that it has.
pub(crate) fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n")
}

/// A path without the folder that one is in.
pub(crate) fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
    visible(&path.display().to_string())
}

/// At most so many characters; what is cut shows.
pub(crate) fn cut(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        Some(_) => text.chars().take(characters_max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Filled with spaces to a width on screen.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A time in the zone of this machine.
pub(crate) fn moment(unix_s: f64) -> String {
    let time = DateTime::from_timestamp_millis((unix_s * 1e3).round() as i64);
    time.map_or_else(
        || unix_s.to_string(),
        |time| time.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// How long ago a time of today is; a date for others.
pub(crate) fn ago(unix_s: f64) -> String {
    match age_s(unix_s) {
        age if !(0.0..DAY_S).contains(&age) => moment(unix_s),
        age if age < 1.0 => "just now".to_owned(),
        age if age < 60.0 => format!("{age:.0} s ago"),
        age if age < 3600.0 => format!("{:.0} min ago", (age / 60.0).floor()),
        age => format!("{:.0} h ago", (age / 3600.0).floor()),
    }
}

/// Seconds since a time.
pub(crate) fn age_s(unix_s: f64) -> f64 {
    now_s() - unix_s
}

/// The time, in unix seconds.
pub(crate) fn now_s() -> f64 {
    clock::unix_ms() as f64 / 1e3
}

/// A duration that may not be known.
pub(crate) fn duration(ns: Option<i64>) -> String {
    ns.and_then(|ns| u64::try_from(ns).ok()).map_or_else(|| "–".to_owned(), telemetry_export::duration)
}

/// A size in powers of 1024.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} bytes");
    }
    let power = (count.ilog2() / 10) as usize;
    let amount = count as f64 / 1024_f64.powi(power as i32);
    format!("{amount:.1} {}", UNITS[power - 1])
}

/// A count with its noun.
pub(crate) fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or_default();
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_screen_obeys_gets_through() {
        assert_eq!(visible("a\x1b[31mb\nc\td\u{202e}e"), "a\\u{1b}[31mb⏎c d\\u{202e}e");
        assert_eq!(visible_lines("a\r\nb\x07"), "a\nb\\u{7}");
    }

    #[test]
    fn what_is_near_is_named_from_here() {
        let here = std::env::current_dir().unwrap();
        let near = [".telemetry/journal", "/elsewhere/journal"].map(|path| from_here(&here.join(path)));
        assert_eq!(near, [".telemetry/journal", "/elsewhere/journal"]);
        assert_eq!(from_here(&here), here.display().to_string());
    }

    #[test]
    fn long_text_is_cut_visibly() {
        assert_eq!(cut("grüße", 5), "grüße");
        assert_eq!(cut("grüße!", 5), "grüß…");
    }

    #[test]
    fn sizes_have_one_digit() {
        let sizes = [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (u64::MAX, "16.0 EiB")];
        for (count, text) in sizes {
            assert_eq!(bytes(count), text);
        }
    }
}
