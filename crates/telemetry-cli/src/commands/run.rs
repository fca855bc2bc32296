//! `telemetry run`: a program as a workflow.
//!
//! The program comes first: where nothing can be recorded it runs all the same, after a warning.

mod child;
mod live;
mod output;
mod signals;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use telemetry::{Context, InCurrentTask, Recorder, Task};
use telemetry_core::encoder::Encoder;
use telemetry_core::level::Level;
use telemetry_core::record::Field;
use telemetry_core::runtime::{Ending, Entered, StartedWorkflow};
use telemetry_core::settings::Settings;
use telemetry_journal::process::unblock_signals_in;

use crate::arguments::{Global, Run};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;
use child::Ended;
use live::Live;
use output::Output;
use signals::Signals;

/// How long the end waits until everything is written; what is left then is recovered later.
const STOP_WAIT: Duration = Duration::from_secs(5);

pub(super) fn run(command: &Run, global: &Global, printer: &mut Printer) -> Result<Outcome, Failure> {
    let first = program(&command.command).to_string_lossy();
    if first.starts_with('-') {
        let message = format!("{first} is neither an option nor a program");
        return Err(Failure::Usage {
            message,
            hint: "telemetry run --help has the options; the program comes behind --",
        });
    }
    // Before any thread begins, so that none of them is interrupted by what the program is to get.
    let signals = Signals::block().map_err(|source| Failure::System { doing: "blocking signals", source })?;
    let recorder = start_recorder(command, global, printer);
    let mut recorded = Recorded::begin(command);
    let database = recorder.as_ref().and_then(Recorder::database);
    let mut child = prepare(command, &recorded, database.as_deref());
    let mut output = command.keep_output.then(|| Output::beside(database.as_deref(), &recorded.id)).flatten();
    if output.is_some() {
        Output::connect(&mut child);
    }
    let mut live = Live::new(command, database.as_deref(), &recorded.id, printer);
    let ended = match child.spawn() {
        Ok(mut child) => {
            if let Some(output) = &mut output {
                output.follow(&mut child);
            }
            let ended = child::wait(&mut child, &signals, || live.show(printer));
            if let Some(output) = &mut output {
                output.finish();
            }
            ended.map_err(|source| Failure::System { doing: "waiting for the program", source })?
        }
        Err(error) => Ended::NotStarted(error),
    };
    live.clear(printer);
    recorded.end(&ended, output.as_ref());
    if let Some(recorder) = recorder {
        recorder.stop(STOP_WAIT);
    }
    finish(command, ended, &mut live, &signals, printer)
}

/// Says what there is to say, and ends like the program.
fn finish(
    command: &Run,
    ended: Ended,
    live: &mut Live,
    signals: &Signals,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    live.summary(&ended, printer);
    match ended {
        Ended::Code(code) => Ok(Outcome::Exit(code)),
        Ended::Signal(signal) => {
            signals.die_by(signal);
            // Whoever asks for a signal that does not kill gets what a shell would say.
            Ok(Outcome::Exit((128 + signal as i32) as u8))
        }
        Ended::NotStarted(source) => {
            Err(Failure::NotStarted { program: program(&command.command).to_owned(), source })
        }
    }
}

fn program(command: &[OsString]) -> &OsString {
    &command[0]
}

/// The recorder of this process; none where it cannot be, which a warning says.
fn start_recorder(command: &Run, global: &Global, printer: &mut Printer) -> Option<Recorder> {
    let mut settings = match Settings::load() {
        Ok(loaded) => loaded.settings,
        Err(error) => {
            printer.warn(&format!("{error}\nrecording at level lightweight until this is mended"));
            let mut settings = Settings::default();
            settings.capture.default_level = Level::Lightweight;
            settings
        }
    };
    if let Some(path) = &global.database {
        path.clone_into(&mut settings.store.path);
    }
    if command.campaign.is_some() {
        settings.experiment.campaign.clone_from(&command.campaign);
    }
    let started = Recorder::start(settings);
    started.inspect_err(|error| printer.warn(&format!("nothing is recorded: {error}"))).ok()
}

/// The program with what tells it, and those that it starts, where they belong.
fn prepare(command: &Run, recorded: &Recorded, database: Option<&Path>) -> Command {
    let mut child = Command::new(program(&command.command));
    child.args(&command.command[1..]);
    recorded.context().run(|| {
        (&mut child).in_current_task();
    });
    unblock_signals_in(&mut child);
    if let Some(database) = database {
        child.env("TELEMETRY_STORE__PATH", database);
    }
    if let Some(campaign) = &command.campaign {
        child.env("TELEMETRY_EXPERIMENT__CAMPAIGN", campaign);
    }
    child
}

/// The workflow of the run, and the one task of it: the program.
struct Recorded {
    workflow: Option<StartedWorkflow>,
    task: Option<Task>,
    id: String,
    _entered: Option<Entered>,
}

impl Recorded {
    fn begin(command: &Run) -> Self {
        let path = Path::new(program(&command.command));
        let program = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let name = command.name.as_ref().unwrap_or(&program);
        let workflow = StartedWorkflow::start(name, |encoder| encoder.text(Field::Subtype, "run"));
        let entered = workflow.as_ref().map(|workflow| workflow.context().enter());
        let id = workflow.as_ref().map(|workflow| workflow.id().to_string()).unwrap_or_default();
        Self { workflow, task: Some(Task::start(&program)), id, _entered: entered }
    }

    fn context(&self) -> Context {
        self.task.as_ref().map_or_else(Context::current, Task::context)
    }

    fn end(&mut self, ended: &Ended, output: Option<&Output>) {
        if let Some(task) = self.task.take() {
            let mut task = match ended {
                Ended::Code(code) => task.generated("exit_code", code),
                Ended::Signal(signal) => task.generated("signal", signal.as_str()),
                Ended::NotStarted(_) => task,
            };
            for (name, path) in output.into_iter().flat_map(Output::files) {
                task = task.generated(name, telemetry::file(path));
            }
            match ended.complaint() {
                Some(complaint) => task.fail(complaint),
                None => task.end(),
            }
        }
        if let Some(workflow) = self.workflow.take() {
            workflow.end(Ending::Returned, |encoder| write_end(encoder, ended));
        }
    }
}

fn write_end(encoder: &mut Encoder, ended: &Ended) {
    match ended {
        Ended::Code(code) => encoder.generated_named("exit_code", |value| value.serialize(code)),
        Ended::Signal(signal) => {
            encoder.generated_named("signal", |value| value.text(Signal::as_str(*signal)));
        }
        Ended::NotStarted(_) => {}
    }
    if let Some(complaint) = ended.complaint() {
        encoder.error(|encoder| encoder.display(&complaint));
    }
}
