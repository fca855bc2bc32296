//! `telemetry drain`: writes for programs that only fill their journals.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use telemetry_journal::DrainLock;
use telemetry_store::{OutsideDrain, OutsidePass, StoreError};

use super::recover::open;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;
use crate::text::count;

/// The pause after a pass that found something, after one that found nothing, and after one that failed.
const PAUSE_BUSY: Duration = Duration::from_millis(5);
const PAUSE_IDLE: Duration = Duration::from_millis(25);
const PAUSE_FAILED: Duration = Duration::from_secs(1);
/// How often one that waits looks whether it is its turn.
const TURN_EVERY: Duration = Duration::from_millis(50);

#[derive(Args, Debug)]
pub(crate) struct Drain {
    /// The folder with the journals, or the one that has it in it [default: journal, beside the database]
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Write what there is, then end
    #[arg(long)]
    pub(crate) once: bool,
}

pub(super) fn run(command: &Drain, place: &Place, printer: &mut Printer) -> Result<Outcome, Failure> {
    let place = beside(command, place);
    let lock = take_turn(command, &place, printer)?;
    let Some(lock) = lock else { return Ok(Outcome::Done) };
    let mut drain = OutsideDrain::new(open(&place.database)?, lock);
    if !command.once {
        printer.talk_quietly(&format!(
            "Draining {} into {}.",
            drain.folder().display(),
            place.database.display()
        ));
    }
    let mut told = Told::default();
    loop {
        let pass = drain.pass();
        told.tell(&pass, printer);
        match pass {
            Ok(pass) if command.once && pass.records == 0 => {
                printer.talk_quietly(&format!("Wrote {}.", count(told.records, "record")));
                return Ok(Outcome::Done);
            }
            Err(error) if command.once => return Err(error.into()),
            Ok(pass) => thread::sleep(if pass.records > 0 { PAUSE_BUSY } else { PAUSE_IDLE }),
            Err(_) => thread::sleep(PAUSE_FAILED),
        }
    }
}

/// Where the journals and the database are: a folder that is named has its database beside the journals,
/// unless another one is named, too.
fn beside(command: &Drain, place: &Place) -> Place {
    let Some(dir) = &command.dir else { return place.clone() };
    let within = dir.join("journal");
    let is_journals = dir.file_name().is_some_and(|name| name == "journal");
    let journals = if is_journals { dir.clone() } else { within };
    let beside = journals.parent().map(|folder| folder.join("provenance.db"));
    let database = if place.is_named { place.database.clone() } else { beside.unwrap_or_default() };
    Place { database, journals, ..place.clone() }
}

/// Waits until no other process drains the folder. One that is to write once leaves it to the other.
fn take_turn(command: &Drain, place: &Place, printer: &mut Printer) -> Result<Option<DrainLock>, Failure> {
    let mut has_said = false;
    loop {
        if let Some(lock) = DrainLock::try_take(&place.journals)? {
            return Ok(Some(lock));
        }
        if !has_said {
            has_said = true;
            let holder = DrainLock::holder(&place.journals);
            let holder = holder.map_or_else(|| "Another process".to_owned(), |pid| format!("Process {pid}"));
            let then = if command.once { "" } else { "; waiting to take over" };
            printer.talk_quietly(&format!("{holder} drains {}{then}.", place.journals.display()));
        }
        if command.once {
            return Ok(None);
        }
        thread::sleep(TURN_EVERY);
    }
}

/// What was said so far.
#[derive(Debug, Default)]
struct Told {
    records: usize,
    /// The last thing that went wrong: said once, until it goes well again.
    trouble: Option<String>,
}

impl Told {
    fn tell(&mut self, pass: &Result<OutsidePass, StoreError>, printer: &mut Printer) {
        match pass {
            Ok(pass) => {
                self.trouble = None;
                self.records += pass.records;
                pass.warnings.iter().for_each(|warning| printer.warn(warning));
            }
            Err(error) => {
                let text = error.to_string();
                if self.trouble.as_ref() != Some(&text) {
                    printer.warn(&format!("cannot write for now, records stay in the journals: {text}"));
                }
                self.trouble = Some(text);
            }
        }
    }
}
