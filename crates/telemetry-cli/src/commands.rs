//! The commands, a file each.

mod analyze;
mod completions;
mod config;
mod critical_path;
mod diff;
mod doctor;
pub(crate) mod drain;
mod export;
mod gc;
mod import;
mod init;
mod lineage;
mod ls;
mod recover;
mod report;
mod run;
mod show;
mod snapshot;
mod sql;
pub(crate) mod tail;
mod timeline;
pub(crate) mod top;
mod tree;

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::printer::Printer;

/// Runs the command that was asked for.
pub(crate) fn run(arguments: &Arguments, printer: &mut Printer) -> Result<Outcome, Failure> {
    let place = || Place::find(&arguments.global);
    match &arguments.command {
        Command::Analyze(command) => analyze::run(command, printer),
        Command::Completions(command) => completions::run(command, printer),
        Command::Config(command) => config::run(command, printer),
        Command::CriticalPath(command) => critical_path::run(command, &place()?, printer),
        Command::Diff(command) => diff::run(command, &place()?, printer),
        Command::Doctor(command) => doctor::run(command, place(), printer),
        Command::Drain(command) => drain::run(command, &place()?, printer),
        Command::Export(command) => export::run(command, &place()?, printer),
        Command::Gc(command) => gc::run(command, &place()?, printer),
        Command::Import(command) => import::run(command, &place()?, printer),
        Command::Init(command) => init::run(command, printer),
        Command::Lineage(command) => lineage::run(command, &place()?, printer),
        Command::Ls(command) => ls::run(command, &place()?, printer),
        Command::Man => completions::man(printer),
        Command::Recover(command) => recover::run(command, &place()?, printer),
        Command::Report(command) => report::run(command, &place()?, printer),
        Command::Run(command) => run::run(command, &arguments.global, printer),
        Command::Show(command) => show::run(command, &place()?, printer),
        Command::Snapshot(command) => snapshot::run(command, &place()?, printer),
        Command::Sql(command) => sql::run(command, &place()?, printer),
        Command::Timeline(command) => timeline::run(command, &place()?, printer),
        Command::Tail(command) => tail::run(command, &place()?, printer),
        Command::Top(command) => top::run(command, &place()?, printer),
        Command::Tree(command) => tree::run(command, &place()?, printer),
    }
}
