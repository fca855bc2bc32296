//! `telemetry critical-path`: what a run was waiting for, and what it would gain without it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use telemetry_export::critical::{self, Bounds, CriticalPath, Step};
use telemetry_store::{Reader, Run, StoreError};

use crate::arguments::{CriticalPathArguments, Format};
use crate::failure::{Failure, Outcome};
use crate::find::find_workflow;
use crate::grid::Grid;
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, headed};
use crate::text::{self, count, visible};

const COLUMNS: [&str; 6] = ["activity_id", "calls", "own_ns", "share", "waiting_ns", "gain_ns"];
const CHAIN_COLUMNS: [&str; 6] = ["activity_id", "task_id", "started_at", "own_ns", "is_waiting", "parts"];
const CHAIN_SHOWN_MAX: usize = 200;
const OUTSIDE: &str = "(outside of calls)";

pub(super) fn run(
    command: &CriticalPathArguments,
    place: &Place,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let id = find_workflow(&reader, &command.id)?;
    let found = watched(printer, "Looking for the critical path", || read(&reader, &id))?;
    let Some((run, path)) = found else {
        printer.talk_quietly("It has no calls.");
        return Ok(Outcome::Done);
    };
    let chain = if command.chain { chain(&reader, &run, &path)? } else { Vec::new() };
    match command.format.format(printer.is_terminal()) {
        Format::Json if !command.chain => printer.json(&path)?,
        Format::Table => {
            let (ink, width) = (printer.ink, printer.width());
            let table =
                if command.chain { links(&chain, ink, width) } else { steps(&path.steps, ink, width) };
            printer.data(&(summary(&path, ink) + "\n" + &table))?;
            if chain.len() > CHAIN_SHOWN_MAX {
                let more = count(chain.len() - CHAIN_SHOWN_MAX, "line");
                printer.talk_quietly(&format!("{more} more; --csv shows all."));
            }
        }
        format if command.chain => printer.data(&chain_grid(&chain).write(format))?,
        format => printer.data(&grid(&path).write(format))?,
    }
    Ok(Outcome::Done)
}

/// The run and its path; none for one without calls.
fn read(reader: &Reader, id: &str) -> Result<Option<(Run, CriticalPath)>, StoreError> {
    let run = reader.run_of(id)?;
    let bounds = Bounds::of(&run);
    let Some(bounds) = bounds.filter(|_| !run.calls.is_empty()) else { return Ok(None) };
    let path = critical::find(&run, bounds);
    Ok(Some((run, path)))
}

fn summary(path: &CriticalPath, ink: Ink) -> String {
    format!(
        "{} from start to end, {} of work, {} calls at once on average, {} on the path\n",
        ink.bold(&text::duration(Some(path.total_ns))),
        text::duration(Some(path.work_ns)),
        ink.bold(&format!("{:.2}", path.parallelism)),
        count(path.calls, "call"),
    )
}

fn steps(steps: &[Step], ink: Ink, width: Option<usize>) -> String {
    let names = ["activity", "calls", "own time", "share", "of it waiting", "gain without it"];
    let row = |step: &Step| {
        vec![
            step.activity_id.as_deref().map_or_else(|| ink.dim(OUTSIDE), visible),
            step.calls.to_string(),
            text::duration(Some(step.own_ns)),
            format!("{:.1} %", step.share * 100.0),
            text::duration(Some(step.waiting_ns).filter(|ns| *ns > 0)),
            text::duration(step.gain_ns),
        ]
    };
    table::plain(&headed(&names, &[0], ink), steps.iter().map(row).collect(), width)
}

fn grid(path: &CriticalPath) -> Grid {
    let row = |step: &Step| -> Vec<Value> {
        vec![
            json!(step.activity_id),
            json!(step.calls),
            json!(step.own_ns),
            json!(step.share),
            json!(step.waiting_ns),
            json!(step.gain_ns),
        ]
    };
    Grid::new(COLUMNS, path.steps.iter().map(row).collect())
}

/// Neighbours of one activity that have the same caller are one link.
struct Link {
    activity_id: Option<String>,
    task_id: Option<String>,
    started_ns: i64,
    own_ns: i64,
    is_waiting: bool,
    parts: usize,
}

fn chain(reader: &Reader, run: &Run, path: &CriticalPath) -> Result<Vec<Link>, StoreError> {
    let mut chain: Vec<Link> = Vec::new();
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for part in &path.parts {
        let activity_id = part.call.and_then(|call| run.activities.get(&run.calls[call].activity).cloned());
        let own_ns = part.ended_ns - part.started_ns;
        if let Some(last) = chain.last_mut()
            && last.activity_id == activity_id
            && last.is_waiting == part.is_waiting
        {
            last.own_ns += own_ns;
            last.parts += 1;
            continue;
        }
        let task_id = match part.call {
            Some(call) if !names.contains_key(&call) => {
                let id = reader.task_id(run.calls[call].key)?;
                names.insert(call, id.clone());
                Some(id)
            }
            Some(call) => names.get(&call).cloned(),
            None => None,
        };
        let (started_ns, is_waiting) = (part.started_ns, part.is_waiting);
        chain.push(Link { activity_id, task_id, started_ns, own_ns, is_waiting, parts: 1 });
    }
    Ok(chain)
}

fn links(chain: &[Link], ink: Ink, width: Option<usize>) -> String {
    let first_ns = chain.first().map_or(0, |link| link.started_ns);
    let names = ["activity", "at", "own time", "", "task"];
    let row = |link: &Link| {
        let name = link.activity_id.as_deref().map_or_else(|| ink.dim(OUTSIDE), visible);
        let repeated = if link.parts > 1 { format!(" ×{}", link.parts) } else { String::new() };
        vec![
            name + &repeated,
            text::duration(Some(link.started_ns - first_ns)),
            text::duration(Some(link.own_ns)),
            if link.is_waiting { ink.odd("waiting") } else { String::new() },
            ink.dim(link.task_id.as_deref().unwrap_or_default()),
        ]
    };
    table::plain(&headed(&names, &[0], ink), chain.iter().take(CHAIN_SHOWN_MAX).map(row).collect(), width)
}

fn chain_grid(chain: &[Link]) -> Grid {
    let row = |link: &Link| -> Vec<Value> {
        vec![
            json!(link.activity_id),
            json!(link.task_id),
            json!(link.started_ns as f64 / 1e9),
            json!(link.own_ns),
            json!(link.is_waiting),
            json!(link.parts),
        ]
    };
    Grid::new(CHAIN_COLUMNS, chain.iter().map(row).collect())
}
