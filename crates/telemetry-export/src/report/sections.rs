//! What stands on the page, in which order.

mod activities;
mod overview;
mod rest;
mod run;

use super::Report;
use super::document::{Block, Document};
use crate::error::ExportError;

const NONE: &str = "–";

pub(super) fn write(report: &Report) -> Result<Document, ExportError> {
    let workflow = &report.workflow;
    let mut page = Document {
        title: workflow.name.clone().unwrap_or_else(|| "(no name)".to_owned()),
        status: workflow.status.clone(),
        blocks: Vec::new(),
        footer: format!(
            "Workflow {}, written by telemetry {}. Times are UTC.",
            workflow.workflow_id,
            env!("CARGO_PKG_VERSION")
        ),
    };
    run::summary(&mut page, report);
    run::infrastructure(&mut page, report);
    overview::write(&mut page, report)?;
    overview::resources(&mut page, report);
    rest::critical_path(&mut page, report);
    activities::write(&mut page, report)?;
    rest::objects(&mut page, report);
    rest::lineage(&mut page, report)?;
    rest::errors(&mut page, report);
    rest::method(&mut page);
    Ok(page)
}

fn picture(page: &mut Document, plot: Result<crate::plot::Plot, ExportError>) -> Result<(), ExportError> {
    page.blocks.push(Block::Picture(plot?));
    Ok(())
}

/// A moment in UTC, to the second.
fn moment(unix_s: f64) -> String {
    let whole = unix_s.floor() as i64;
    let (days, second) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a day since 1970; years are counted from March on, so that a leap day comes last.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn duration(ns: Option<f64>) -> String {
    ns.filter(|ns| *ns >= 0.0).map_or_else(|| NONE.to_owned(), |ns| crate::duration(ns.round() as u64))
}

/// A size, or a difference of sizes, in powers of 1024.
pub(super) fn bytes(count: i64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let size = count.unsigned_abs();
    let sign = if count < 0 { "−" } else { "" };
    if size < 1024 {
        return format!("{sign}{size} bytes");
    }
    let power = (size.ilog2() / 10) as usize;
    format!("{sign}{:.1} {}", size as f64 / 1024_f64.powi(power as i32), UNITS[power - 1])
}

fn size(count: Option<i64>) -> String {
    count.map_or_else(|| NONE.to_owned(), bytes)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        let moments = [
            (0.0, "1970-01-01 00:00:00"),
            (951_782_400.5, "2000-02-29 00:00:00"),
            (1_763_317_513.76, "2025-11-16 18:25:13"),
            (4_107_542_399.0, "2100-02-28 23:59:59"),
        ];
        for (unix_s, text) in moments {
            assert_eq!(moment(unix_s), text);
        }
    }

    #[test]
    fn differences_of_sizes_have_a_sign() {
        assert_eq!([bytes(-2048), bytes(5), bytes(0)], ["−2.0 KiB", "5 bytes", "0 bytes"]);
    }
}
