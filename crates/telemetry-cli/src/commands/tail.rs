//! `telemetry tail`: what running programs record, as it happens.

mod blocks;
mod filter;
mod journals;
mod lines;
mod members;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use telemetry_core::event::Category;
use telemetry_core::status::Status;
use telemetry_core::tap::{Seen, What};

use crate::arguments::parse_status;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use filter::Filter;
use journals::{Journals, Watched};
use lines::Lines;
pub(in crate::commands) use lines::moment;

/// Between two looks at a journal.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Between two looks for new journals and ended programs.
const SEARCH_EVERY: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags, of which at most two are given")]
pub(crate) struct Tail {
    /// A journal or a folder with journals; or a recorder: its name, its process, or the beginning of its id
    /// [default: all programs that record here]
    #[arg(value_name = "PATH|ID")]
    pub(crate) wanted: Option<PathBuf>,
    /// Go on until the programs end; without it, show what their journals still hold
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Nothing older than this, e.g. 30s, 5m, 2h; 0s for only what comes
    #[arg(long, value_name = "AGE", value_parser = filter::parse_age)]
    pub(crate) since: Option<Duration>,
    /// Only events of this category, e.g. memory, transfer, performance; can be repeated
    #[arg(long, value_parser = filter::parse_category)]
    pub(crate) category: Vec<Category>,
    /// Only events whose name fits; * stands for any characters
    #[arg(long, value_name = "GLOB")]
    pub(crate) name: Option<String>,
    /// Only tasks whose activity fits; * stands for any characters
    #[arg(long, value_name = "GLOB")]
    pub(crate) activity: Option<String>,
    /// Only tasks that stand like this: running when they start, finished, error, … when they end
    #[arg(long, value_parser = parse_status)]
    pub(crate) status: Option<Status>,
    /// A line each; what is not asked otherwise
    #[arg(long, group = "form", help_heading = "Formats")]
    pub(crate) line: bool,
    /// A block of lines each
    #[arg(long, group = "form", help_heading = "Formats")]
    pub(crate) block: bool,
    /// An object a line, with everything
    #[arg(long, group = "form", help_heading = "Formats")]
    pub(crate) jsonl: bool,
}

pub(super) fn run(command: &Tail, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut journals = Journals::find(command.wanted.as_deref(), place)?;
    let mut watched = journals.open_new(printer)?;
    if watched.is_empty() {
        if !command.follow {
            return Err(journals.none_found());
        }
        printer.talk_quietly(&format!("Waiting for {}.", journals.awaited()));
    }
    let mut show = Show { command, filter: Filter::new(command), lines: Lines::default() };
    let mut searched = Instant::now();
    loop {
        let is_due = !command.follow || searched.elapsed() >= SEARCH_EVERY;
        let has_more = is_due && journals.may_grow() && command.follow;
        if has_more {
            watched.extend(journals.open_new(printer)?);
        }
        // To be asked before the look: what comes between the two is seen.
        let is_over: Vec<bool> = watched.iter().map(|watched| is_due && watched.tap.is_over()).collect();
        show.look(&mut watched, printer)?;
        if is_due {
            searched = Instant::now();
            let mut is_over = is_over.into_iter().chain(std::iter::repeat(false));
            watched.retain_mut(|watched| {
                let is_over = is_over.next().unwrap_or(false) || !command.follow;
                watched.report(is_over, printer);
                !is_over
            });
        }
        if watched.is_empty() && !(command.follow && journals.may_grow()) {
            return Ok(Outcome::Done);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Prints what is seen.
struct Show<'a> {
    command: &'a Tail,
    filter: Filter<'a>,
    lines: Lines,
}

impl Show<'_> {
    fn look(&mut self, watched: &mut [Watched], printer: &mut Printer) -> Result<(), Failure> {
        let has_several = watched.len() > 1;
        let mut seen: Vec<(u32, Seen)> = Vec::new();
        for watched in watched {
            let pid = watched.tap.pid();
            seen.extend(watched.tap.look()?.into_iter().map(|seen| (pid, seen)));
        }
        seen.sort_by_key(|(_, seen)| seen.at_unix_ns);
        let mut text = String::new();
        for (pid, seen) in &seen {
            // Also what is not shown may say when a task began.
            let line = self.lines.line(seen, has_several.then_some(*pid), printer);
            // To JSON belongs every record; a person learns nothing from one without anything to show.
            if self.filter.wants(seen) && (self.command.jsonl || !is_blank(seen)) {
                match self.command {
                    Tail { jsonl: true, .. } => text.push_str(&seen.to_json()),
                    Tail { block: true, .. } => text.push_str(&blocks::block(seen)),
                    _ => text.push_str(&line),
                }
                text.push('\n');
            }
        }
        if text.is_empty() { Ok(()) } else { printer.data(&text) }
    }
}

/// Whether an update says only what is not shown here, such as tags or metadata.
fn is_blank(seen: &Seen) -> bool {
    matches!(&seen.what, What::TaskUpdate { used, generated, .. } if used == "{}" && generated == "{}")
}
