//! The commands, a file each.

mod doctor;
pub(crate) mod drain;
mod ls;
mod recover;
mod show;
mod sql;
pub(crate) mod tail;

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;

/// Runs the command that was asked for.
pub(crate) fn run(arguments: &Arguments, printer: &mut Printer) -> Result<Outcome, Failure> {
    let place = Place::find(&arguments.global);
    match &arguments.command {
        Command::Doctor(command) => doctor::run(command, place, printer),
        Command::Drain(command) => drain::run(command, &place?, printer),
        Command::Ls(command) => ls::run(command, &place?, printer),
        Command::Recover(command) => recover::run(command, &place?, printer),
        Command::Show(command) => show::run(command, &place?, printer),
        Command::Sql(command) => sql::run(command, &place?, printer),
        Command::Tail(command) => tail::run(command, &place?, printer),
    }
}
