//! The program `telemetry`: everything about recorded runs, from a shell.
#![forbid(unsafe_code)]

mod arguments;
mod calls;
mod commands;
mod failure;
mod files;
mod find;
mod grid;
mod ink;
mod place;
mod printer;
mod progress;
mod screen;
mod table;
mod text;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    let mut printer = printer::Printer::new(arguments.global.color);
    match commands::run(&arguments, &mut printer) {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(&mut printer),
    }
}
