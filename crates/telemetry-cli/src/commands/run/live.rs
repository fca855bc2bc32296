//! The line that tells a person how far a run is: tasks done, their rate, errors.
//!
//! It stands on the terminal of stderr. Where the program prints to the same terminal, the two would get in each other's
//! way, so it is drawn only while stdout goes elsewhere.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use telemetry_store::{Reader, TaskCount};

use super::child::Ended;
use crate::arguments::Run;
use crate::printer::Printer;
use crate::text;

/// The database is asked at most so often, and for at most a twentieth of the time.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSES_A_QUESTION: u32 = 20;

/// A line that is drawn again and again.
#[derive(Debug)]
pub(super) struct Live {
    database: Option<PathBuf>,
    workflow_id: String,
    begun: Instant,
    next: Instant,
    done: i64,
    asked: Instant,
    is_drawn: bool,
    is_talkative: bool,
}

impl Live {
    pub(super) fn new(command: &Run, database: Option<&Path>, workflow_id: &str, printer: &Printer) -> Self {
        let now = Instant::now();
        let is_talkative = !command.quiet && printer.talks_to_terminal();
        let is_drawn = is_talkative && !printer.is_terminal();
        Self {
            database: database.filter(|_| !workflow_id.is_empty()).map(Path::to_owned),
            workflow_id: workflow_id.to_owned(),
            begun: now,
            next: now + PAUSE_MIN,
            done: 0,
            asked: now,
            is_drawn,
            is_talkative,
        }
    }

    /// Draws the line if it is time to; says whether there is a line at all.
    pub(super) fn show(&mut self, printer: &mut Printer) -> bool {
        if self.is_drawn && Instant::now() >= self.next {
            let begun = Instant::now();
            if let Some(count) = self.count() {
                let rate = (count.ended - self.done) as f64 / self.asked.elapsed().as_secs_f64();
                (self.done, self.asked) = (count.ended, Instant::now());
                printer.draw_line(&self.line(&count, rate));
            }
            self.next = Instant::now() + (begun.elapsed() * PAUSES_A_QUESTION).max(PAUSE_MIN);
        }
        self.is_drawn
    }

    pub(super) fn clear(&self, printer: &mut Printer) {
        if self.is_drawn {
            printer.draw_line("");
        }
    }

    /// Without the task of the run itself.
    fn count(&self) -> Option<TaskCount> {
        let reader = Reader::open(self.database.as_ref()?).ok()?;
        let mut count = reader.task_count_with_nested(&self.workflow_id).ok()?;
        count.tasks -= 1;
        Some(count)
    }

    fn line(&self, count: &TaskCount, rate: f64) -> String {
        let time = telemetry_export::duration(self.begun.elapsed().as_secs() * 1_000_000_000);
        let errors = text::count(count.errors, "error");
        format!("{time}  {} done  {rate:.0}/s  {errors}", text::count(count.ended, "task"))
    }

    /// The last word on a terminal.
    pub(super) fn summary(&self, ended: &Ended, printer: &mut Printer) {
        if !self.is_talkative || self.database.is_none() {
            return;
        }
        let time = telemetry_export::duration(self.begun.elapsed().as_nanos() as u64);
        let how = ended.complaint().unwrap_or_else(|| "done".to_owned());
        let tasks =
            self.count().map(|count| format!(", {}", text::count(count.tasks, "task"))).unwrap_or_default();
        let id = self.workflow_id.get(..13).unwrap_or(&self.workflow_id);
        printer.talk_quietly(&format!("{how} after {time}{tasks}; telemetry show {id}"));
    }
}
