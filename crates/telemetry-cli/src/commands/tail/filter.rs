//! Which of the records are shown.

use std::time::Duration;

use telemetry_core::event::Category;
use telemetry_core::glob::matches;
use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};
use telemetry_journal::clock;

use super::Tail;

/// What was asked for. Whoever asks for events of a kind wants no tasks, and the other way round, unless both
/// are asked for.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    command: &'a Tail,
    oldest_unix_ns: i64,
    wants_events: bool,
    wants_tasks: bool,
    wants_rest: bool,
}

impl<'a> Filter<'a> {
    pub(super) fn new(command: &'a Tail) -> Self {
        let asks_events = !command.category.is_empty() || command.name.is_some();
        let asks_tasks = command.activity.is_some() || command.status.is_some();
        let now_ns = i64::try_from(clock::unix_ms()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let age_ns = command.since.map(|age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
        Self {
            command,
            oldest_unix_ns: age_ns.map_or(i64::MIN, |age| now_ns.saturating_sub(age)),
            wants_events: asks_events || !asks_tasks,
            wants_tasks: asks_tasks || !asks_events,
            wants_rest: !asks_events && !asks_tasks,
        }
    }

    pub(super) fn wants(&self, seen: &Seen) -> bool {
        seen.at_unix_ns >= self.oldest_unix_ns
            && match &seen.what {
                What::Event { series, .. } => {
                    let category = Category::from_word(&series.category);
                    self.wants_events
                        && (self.command.category.is_empty()
                            || category.is_some_and(|category| self.command.category.contains(&category)))
                        && fits(self.command.name.as_deref(), Some(&series.name))
                }
                What::TaskStart { activity, .. } | What::TaskUpdate { activity, .. } => {
                    self.wants_task(activity.as_deref(), Status::Running)
                }
                What::TaskEnd { activity, status, .. } => self.wants_task(activity.as_deref(), *status),
                _ => self.wants_rest,
            }
    }

    fn wants_task(&self, activity: Option<&str>, status: Status) -> bool {
        self.wants_tasks
            && self.command.status.is_none_or(|wanted| wanted == status)
            && fits(self.command.activity.as_deref(), activity)
    }
}

fn fits(glob: Option<&str>, text: Option<&str>) -> bool {
    glob.is_none_or(|glob| matches(glob, text.unwrap_or_default()))
}

pub(super) fn parse_category(word: &str) -> Result<Category, String> {
    Category::from_word(&word.to_ascii_uppercase()).ok_or_else(|| {
        let known: Vec<String> = Category::ALL.iter().map(|known| known.as_str().to_lowercase()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// A number and its unit.
pub(super) fn parse_age(text: &str) -> Result<Duration, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return Err("write a number and its unit: 500ms, 30s, 5m, 2h, 1d".to_owned()),
    };
    let number: u32 = number.parse().map_err(|_| "the number is missing or too large".to_owned())?;
    Ok(Duration::from_secs_f64(f64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, age) in
            [("500ms", 0.5), ("0s", 0.0), ("5m", 300.0), ("5min", 300.0), ("2h", 7200.0), ("1d", 86_400.0)]
        {
            assert_eq!(parse_age(text), Ok(Duration::from_secs_f64(age)));
        }
        for text in ["", "5", "m", "5y", "-1s", "99999999999s"] {
            assert!(parse_age(text).is_err(), "{text}");
        }
    }
}
