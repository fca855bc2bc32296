//! `telemetry top`: what running programs do, drawn again and again.

mod draw;
mod machine;
mod model;
mod rows;
mod state;
mod theme;
mod watch;

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use telemetry_core::id::TaskId;
use telemetry_store::Reader;

use crate::arguments::parse_interval;
use crate::commands::show;
use crate::failure::{Failure, Outcome};
use crate::find::find_workflow;
use crate::ink::Ink;
use crate::place::Place;
use crate::printer::Printer;
use crate::screen::{Input, Screen};
use draw::Picture;
use machine::{Load, Sensors};
use model::Model;
use state::{Sort, State, Wish};
use theme::Theme;
use watch::{Watch, now_unix_ns};

/// Between two looks at the journals: a lane of the usual size lasts longer, unless a program does nothing but record.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Between two looks for new journals and ended programs, however long the interval is.
const SEARCH_EVERY: Duration = Duration::from_millis(200);

#[derive(Args, Debug)]
pub(crate) struct Top {
    /// A workflow: its id, the beginning of it, its name, or @last; or a program: its process, or its recorder's name
    /// [default: all programs that record here]
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// How often it is drawn, e.g. 500ms, 2s
    #[arg(long, value_name = "DURATION", value_parser = parse_interval, default_value = "1s")]
    interval: Duration,
    /// What to sort by, the largest first; by name, the first letters first
    #[arg(long, value_name = "COLUMN", default_value = "time")]
    sort: Sort,
    /// Print one frame as text, after one interval; what a pipe gets
    #[arg(long)]
    once: bool,
}

pub(super) fn run(command: &Top, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut top = Running::new(command, place, printer)?;
    if command.once || !printer.is_terminal() {
        top.follow_for(command.interval);
        return printer.data(&top.picture(false).text()).map(|()| Outcome::Done);
    }
    let failed = |source| Failure::System { doing: "drawing on the terminal", source };
    let mut screen = Screen::enter().map_err(failed)?;
    match top.live(&mut screen).map_err(failed)? {
        Ending::Quit => {}
        Ending::Killed(signal) => screen.die_by(signal),
    }
    Ok(Outcome::Done)
}

/// Why it ends.
enum Ending {
    Quit,
    Killed(nix::sys::signal::Signal),
}

/// The view with all that it needs.
struct Running {
    watch: Watch,
    model: Model,
    state: State,
    sensors: Sensors,
    load: Load,
    theme: Theme,
    interval: Duration,
    searched: Instant,
    ticked: Instant,
}

impl Running {
    fn new(command: &Top, place: &Place, printer: &Printer) -> Result<Self, Failure> {
        let wanted = command.id.as_deref().map(|id| wanted(id, place)).transpose()?;
        let mut running = Self {
            watch: Watch::new(place, wanted.clone()),
            model: Model::new(wanted),
            state: State::new(command.sort),
            sensors: Sensors::new(),
            load: Load::default(),
            theme: Theme::new(printer.ink.is_on()),
            interval: command.interval,
            searched: Instant::now(),
            ticked: Instant::now(),
        };
        running.search();
        running.tick();
        Ok(running)
    }

    /// Until a person or a signal ends it.
    fn live(&mut self, screen: &mut Screen) -> std::io::Result<Ending> {
        let mut is_due = true;
        loop {
            if is_due {
                let picture = self.picture(true);
                screen.draw(|buffer| picture.draw(buffer))?;
            }
            is_due = self.step();
            match screen.input(LOOK_EVERY)? {
                Input::Nothing => {}
                Input::Resized => is_due = true,
                Input::Killed(signal) => return Ok(Ending::Killed(signal)),
                Input::Key(key) => {
                    is_due = true;
                    match self.state.press(key, &self.model) {
                        Wish::Nothing => {}
                        Wish::Quit => return Ok(Ending::Quit),
                        Wish::Open(task) => self.open(task),
                    }
                }
            }
        }
    }

    fn follow_for(&mut self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time {
            self.step();
            thread::sleep(LOOK_EVERY);
        }
        self.search();
        self.tick();
    }

    /// Looks at the journals; whether there is something new to draw.
    fn step(&mut self) -> bool {
        self.watch.look(&mut self.model);
        if self.searched.elapsed() >= SEARCH_EVERY.min(self.interval) {
            self.search();
        }
        let is_due = self.ticked.elapsed() >= self.interval;
        if is_due {
            self.tick();
        }
        is_due
    }

    fn search(&mut self) {
        self.searched = Instant::now();
        self.watch.search(&mut self.model);
        self.watch.count(&mut self.model, now_unix_ns());
        self.watch.ask(&mut self.model);
    }

    fn tick(&mut self) {
        self.ticked = Instant::now();
        self.model.tick(now_unix_ns());
        self.load = self.sensors.read();
    }

    /// Shows all that the database has about a task, or that it has nothing yet.
    fn open(&mut self, task: TaskId) {
        let id = task.to_string();
        let page = self.watch.reader().map(|reader| show::task_text(reader, &id, Ink::new(false)));
        let text = match page {
            Some(Ok(text)) => text,
            Some(Err(_)) | None => format!("Task {id}\n\nThe database does not have it yet.\n"),
        };
        self.state.show(text);
    }

    fn picture(&self, is_live: bool) -> Picture<'_> {
        Picture {
            model: &self.model,
            state: &self.state,
            load: self.load,
            folder: self.watch.folder(),
            now_unix_ns: now_unix_ns(),
            theme: self.theme,
            complaint: self.watch.complaint.as_deref(),
            is_live,
        }
    }
}

/// What the id means: `@last` is a question to the database, all else is compared with what runs.
fn wanted(id: &str, place: &Place) -> Result<String, Failure> {
    if id.starts_with('@') { find_workflow(&Reader::open(&place.database)?, id) } else { Ok(id.to_owned()) }
}
