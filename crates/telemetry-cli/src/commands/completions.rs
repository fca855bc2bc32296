//! `telemetry completions` and `telemetry man`: what a shell and a reader of manuals need.

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions};
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;

pub(super) fn run(command: &Completions, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(command.shell, &mut Arguments::command(), "telemetry", &mut text);
    printer.data(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Done)
}

/// One page for the program and all of its commands.
pub(super) fn man(printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        let man = clap_mangen::Man::new(subcommand.clone());
        let name = subcommand.get_name().to_uppercase();
        page.extend(format!(".SH \"COMMAND {name}\"\n").into_bytes());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        man.render_extra_section(&mut page)?;
    }
    printer.data(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}
