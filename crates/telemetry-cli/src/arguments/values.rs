//! Values on the command line that are more than a word or a number.

use std::time::Duration;

use telemetry_core::status::Status;

const INTERVAL_MIN: Duration = Duration::from_millis(50);
const INTERVAL_MAX: Duration = Duration::from_hours(1);

pub(crate) fn parse_status(word: &str) -> Result<Status, String> {
    Status::from_word(&word.to_ascii_uppercase()).ok_or_else(|| {
        let known: Vec<String> = Status::ALL.iter().map(|status| status.as_str().to_lowercase()).collect();
        format!("known are {}", known.join(", "))
    })
}

pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 1e9 { Ok(seconds) } else { Err("must be above 0".to_owned()) }
}

pub(super) fn parse_age(text: &str) -> Result<u64, String> {
    telemetry_store::parse_age(text).ok_or_else(|| "a number and one of s, min, h, d, w".to_owned())
}

pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    telemetry_store::parse_size(text)
        .ok_or_else(|| "a number and one of kB, MB, GB, KiB, MiB, GiB".to_owned())
}

/// Nanoseconds of a duration: `10ms`, `1.5s`, `2min`.
pub(super) fn parse_duration(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10)];
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| factor);
    match (number.parse::<f64>(), factor) {
        (Ok(number), Some(factor)) => Ok((number * factor) as u64),
        _ => Err("a number and one of ns, us, ms, s, min".to_owned()),
    }
}

/// A duration between two frames.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = Duration::from_nanos(parse_duration(text)?);
    if (INTERVAL_MIN..=INTERVAL_MAX).contains(&interval) {
        Ok(interval)
    } else {
        Err("between 50ms and 60min".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("10ms"), Ok(10_000_000));
        assert_eq!(parse_duration("1.5 s"), Ok(1_500_000_000));
        assert!(parse_duration("10").is_err() && parse_duration("ms").is_err());
    }
}
