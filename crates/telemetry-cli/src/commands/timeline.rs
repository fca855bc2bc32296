//! `telemetry timeline`: what ran when, thread by thread.

use serde_json::{Value, json};
use telemetry_export::critical::Bounds;
use telemetry_export::plot::gantt;
use telemetry_export::timeline::{Bar, Timeline, TimelineLimits, TimelineRow};
use telemetry_store::{Reader, StoreError};

use crate::arguments::{Format, TimelineArguments};
use crate::failure::{Failure, Outcome};
use crate::files::write;
use crate::find::find_workflow;
use crate::grid::Grid;
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::text::{self, cut, pad, visible};

const COLUMNS: [&str; 7] = ["thread", "depth", "activity_id", "started_s", "ended_s", "calls", "errors"];
const NAME_WIDTH: usize = 16;
const WIDTH_USUAL: usize = 100;
/// Letters stand for activities; the rest shares the last one.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const OTHER: char = '·';
const FINE_COLUMNS: usize = 2_000;

pub(super) fn run(
    command: &TimelineArguments,
    place: &Place,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let id = find_workflow(&reader, &command.id)?;
    let format = command.format.format(printer.is_terminal());
    let is_drawn = format == Format::Table;
    let width = printer.width().unwrap_or(WIDTH_USUAL).saturating_sub(NAME_WIDTH + 1).max(20);
    let columns = if is_drawn && command.svg.is_none() { width } else { FINE_COLUMNS };
    let limits = TimelineLimits { columns, depth_max: command.depth.max(1), ..TimelineLimits::default() };
    let found = watched(printer, "Drawing", || read(&reader, &id, limits))?;
    let Some(timeline) = found.filter(|timeline| !timeline.rows.is_empty()) else {
        printer.talk_quietly("It has no calls.");
        return Ok(Outcome::Done);
    };
    if let Some(path) = &command.svg {
        write(path, &gantt(&timeline)?.file(), printer)?;
        return Ok(Outcome::Done);
    }
    if is_drawn {
        printer.data(&draw(&timeline, width, printer.ink))?;
    } else {
        printer.data(&grid(&timeline).write(format))?;
    }
    if timeline.left_out > 0 {
        let more = text::count(timeline.left_out, "row");
        printer.talk_quietly(&format!("{more} more; --depth 1 shows a row for each thread."));
    }
    Ok(Outcome::Done)
}

fn read(reader: &Reader, id: &str, limits: TimelineLimits) -> Result<Option<Timeline>, StoreError> {
    let run = reader.run_of(id)?;
    let bounds = Bounds::of(&run);
    Ok(bounds.map(|bounds| Timeline::new(&run, bounds, limits)))
}

fn draw(timeline: &Timeline, width: usize, ink: Ink) -> String {
    let mut page = String::new();
    for row in &timeline.rows {
        let name = if row.depth == 0 { cut(&visible(&row.thread), NAME_WIDTH) } else { String::new() };
        let line = line(timeline, row, width);
        page.extend([&*pad(&name, NAME_WIDTH + 1), line.trim_end(), "\n"]);
    }
    let span = text::duration(Some(timeline.ended_ns - timeline.started_ns));
    let gap = " ".repeat(width.saturating_sub(1 + span.chars().count()));
    page.push_str(&ink.dim(&format!("{}0{gap}{span}\n\n", " ".repeat(NAME_WIDTH + 1))));
    for (name, letter) in timeline.ranked.iter().zip(LETTERS.chars()) {
        page.extend([&*ink.bold(&letter.to_string()), "  ", &*visible(name), "\n"]);
    }
    if timeline.ranked.len() > LETTERS.len() {
        let more = timeline.ranked.len() - LETTERS.len();
        page.push_str(&ink.dim(&format!("{OTHER}  {}\n", text::count(more, "other"))));
    }
    page
}

/// A letter where a call ran; of several in one place, that of the one which covers most of it.
fn line(timeline: &Timeline, row: &TimelineRow, width: usize) -> String {
    let span_ns = (timeline.ended_ns - timeline.started_ns).max(1) as f64;
    let place = |ns: i64| (ns - timeline.started_ns) as f64 / span_ns * width as f64;
    let mut cells = vec![(' ', 0.0); width];
    for bar in &row.bars {
        let (from, to) = (place(bar.started_ns), place(bar.ended_ns));
        let last = (to.ceil() as usize).clamp(from as usize + 1, width.max(from as usize + 1));
        for (number, cell) in cells.iter_mut().enumerate().take(last).skip(from as usize) {
            let covered = to.min(number as f64 + 1.0) - from.max(number as f64);
            if covered > cell.1 || cell.0 == ' ' {
                *cell = (letter(bar), covered);
            }
        }
    }
    cells.into_iter().map(|(letter, _)| letter).collect()
}

fn letter(bar: &Bar) -> char {
    LETTERS.chars().nth(bar.rank).unwrap_or(OTHER)
}

fn grid(timeline: &Timeline) -> Grid {
    let second = |ns: i64| json!((ns - timeline.started_ns) as f64 / 1e9);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for row in &timeline.rows {
        for bar in &row.bars {
            rows.push(vec![
                json!(row.thread),
                json!(row.depth),
                json!(timeline.name(bar)),
                second(bar.started_ns),
                second(bar.ended_ns),
                json!(bar.calls),
                json!(bar.errors),
            ]);
        }
    }
    Grid::new(COLUMNS, rows)
}
