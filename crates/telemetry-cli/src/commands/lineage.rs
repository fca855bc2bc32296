//! `telemetry lineage`: whose output is whose input, both ways, with the evidence.

use std::collections::HashMap;

use serde_json::{Value, json};
use telemetry_export::dot;
use telemetry_store::{DerivationRow, Found, LineageLimits, Reader, RelatedTask, StoreError};

use crate::arguments::{Format, Lineage};
use crate::failure::{Failure, Outcome};
use crate::find::find;
use crate::grid::Grid;
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::progress::watched;
use crate::table::{self, Side};
use crate::text;

const COLUMNS: [&str; 8] = [
    "step",
    "task_id",
    "activity_id",
    "name",
    "source_task_id",
    "source_activity_id",
    "source_name",
    "evidence",
];

/// Derivations with the tasks at their ends.
#[derive(Debug, Default)]
struct Followed {
    tasks: HashMap<String, RelatedTask>,
    /// With the number of steps from the task; below 0 for what led to it.
    derivations: Vec<(i64, DerivationRow)>,
    is_complete: bool,
}

pub(super) fn run(command: &Lineage, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let reader = Reader::open(&place.database)?;
    let found = find(&reader, &command.id)?;
    let limits = LineageLimits { steps_max: command.steps, ..LineageLimits::default() };
    let followed = watched(printer, "Following", || match &found {
        Found::Task(id) => follow(&reader, id, command, limits),
        Found::Workflow(id) => within(&reader, id, limits),
        _ => Err(StoreError::NotFound { wanted: command.id.clone() }.into()),
    })?;
    if command.dot {
        printer.data(&graph(&followed, found.id()))?;
    } else {
        match command.format.format(printer.is_terminal()) {
            Format::Table => show(&followed, &found, printer)?,
            format => printer.data(&grid(&followed).write(format))?,
        }
    }
    if !followed.is_complete {
        printer.warn("there is more than is shown; --steps, --back and --ahead show a part");
    } else if followed.derivations.is_empty() {
        printer.talk_quietly("Nothing is known to derive from it, nor it from anything.");
    }
    Ok(Outcome::Done)
}

/// Both ways from a task.
fn follow(reader: &Reader, id: &str, command: &Lineage, limits: LineageLimits) -> Result<Followed, Failure> {
    let mut followed = Followed { is_complete: true, ..Followed::default() };
    for (is_back, is_wanted) in [(true, !command.ahead), (false, !command.back)] {
        if !is_wanted {
            continue;
        }
        let lineage = if is_back { reader.led_to(id, limits)? } else { reader.came_of(id, limits)? };
        followed.is_complete &= lineage.is_complete;
        let mut steps: HashMap<String, i64> =
            lineage.tasks.iter().map(|task| (task.task_id.clone(), task.depth)).collect();
        steps.insert(id.to_owned(), 0);
        for row in lineage.derivations {
            let near = if is_back { &row.task_id } else { &row.source_task_id };
            let step = steps.get(near).copied().unwrap_or(0) + 1;
            followed.derivations.push((if is_back { -step } else { step }, row));
        }
        followed.tasks.extend(lineage.tasks.into_iter().map(|task| (task.task_id.clone(), task)));
    }
    followed.derivations.sort_by_key(|(step, _)| *step);
    followed.name(reader, id)?;
    Ok(followed)
}

/// Everything in a workflow.
fn within(reader: &Reader, id: &str, limits: LineageLimits) -> Result<Followed, Failure> {
    let (rows, is_complete) = reader.derivations_within(id, limits.derivations_max)?;
    let mut followed = Followed { is_complete, ..Followed::default() };
    followed.derivations = rows.into_iter().map(|row| (1, row)).collect();
    for (_, row) in followed.derivations.clone() {
        followed.name(reader, &row.task_id)?;
        followed.name(reader, &row.source_task_id)?;
    }
    Ok(followed)
}

impl Followed {
    /// Looks a task up, unless it is known.
    fn name(&mut self, reader: &Reader, id: &str) -> Result<(), StoreError> {
        if !self.tasks.contains_key(id)
            && let Some(task) = reader.related_task(id)?
        {
            self.tasks.insert(id.to_owned(), task);
        }
        Ok(())
    }

    fn activity(&self, id: &str) -> Option<&str> {
        self.tasks.get(id)?.activity_id.as_deref()
    }
}

fn graph(followed: &Followed, id: &str) -> String {
    let mut tasks: Vec<RelatedTask> = followed.tasks.values().cloned().collect();
    tasks.sort_by(|one, other| one.task_id.cmp(&other.task_id));
    let rows: Vec<DerivationRow> = followed.derivations.iter().map(|(_, row)| row.clone()).collect();
    dot::draw(&tasks, &rows, id)
}

fn grid(followed: &Followed) -> Grid {
    let row = |(step, row): &(i64, DerivationRow)| -> Vec<Value> {
        vec![
            json!(step),
            json!(row.task_id),
            json!(followed.activity(&row.task_id)),
            json!(row.name),
            json!(row.source_task_id),
            json!(followed.activity(&row.source_task_id)),
            json!(row.source_name),
            json!(row.evidence),
        ]
    };
    Grid::new(COLUMNS, followed.derivations.iter().map(row).collect())
}

fn show(followed: &Followed, found: &Found, printer: &mut Printer) -> Result<(), Failure> {
    let (ink, width) = (printer.ink, printer.width());
    let part = |heading: &str, is_wanted: fn(i64) -> bool| {
        let rows: Vec<&(i64, DerivationRow)> =
            followed.derivations.iter().filter(|(step, _)| is_wanted(*step)).collect();
        if rows.is_empty() { String::new() } else { section(heading, &rows, followed, ink, width) }
    };
    let text = match found {
        Found::Task(id) => {
            let name = text::visible(followed.activity(id).unwrap_or("(not recorded)"));
            let title = format!("{}  {}\n", ink.bold(&name), ink.dim(id));
            title + &part("Led to it", |step| step < 0) + &part("Came of it", |step| step > 0)
        }
        _ => part("Derivations", |_| true).trim_start().to_owned(),
    };
    printer.data(&text)
}

fn section(
    heading: &str,
    rows: &[&(i64, DerivationRow)],
    followed: &Followed,
    ink: Ink,
    width: Option<usize>,
) -> String {
    let names = ["steps", "made by", "as", "used by", "as", "evidence", "task"];
    let columns: Vec<(String, Side)> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (ink.dim(name), if index == 0 { Side::Right } else { Side::Left }))
        .collect();
    let cell = |text: Option<&str>| text.map_or_else(|| "–".to_owned(), text::visible);
    let row = |(step, row): &&(i64, DerivationRow)| {
        let far = if *step < 0 { &row.source_task_id } else { &row.task_id };
        vec![
            step.abs().to_string(),
            cell(followed.activity(&row.source_task_id)),
            cell(row.source_name.as_deref()),
            cell(followed.activity(&row.task_id)),
            cell(row.name.as_deref()),
            row.evidence.clone(),
            ink.dim(far),
        ]
    };
    format!("\n{}\n{}", ink.bold(heading), table::plain(&columns, rows.iter().map(row).collect(), width))
}
