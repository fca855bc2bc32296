//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use telemetry_core::status::Status;

/// Shows what programs recorded: their workflows, tasks, inputs, outputs and failures.
#[derive(Debug, Parser)]
#[command(name = "telemetry", version, after_help = include_str!("help/telemetry.txt"))]
#[command(propagate_version = false, disable_help_subcommand = true, subcommand_required = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// The database to look into [default: store.path of the settings that are found here]
    #[arg(long, value_name = "PATH", global = true, help_heading = "Everywhere")]
    pub(crate) database: Option<PathBuf>,
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = "Everywhere")]
    #[arg(help = "When to use colours; NO_COLOR and CLICOLOR_FORCE are respected")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List workflows, the newest first
    #[command(after_help = include_str!("help/ls.txt"))]
    Ls(Ls),
    /// Show all about a workflow or a task
    #[command(after_help = include_str!("help/show.txt"))]
    Show(Show),
    /// Ask a question in SQL, which can only read
    #[command(after_help = include_str!("help/sql.txt"))]
    Sql(Sql),
    /// Bring in what killed processes had recorded
    #[command(after_help = include_str!("help/recover.txt"))]
    Recover(Recover),
    /// Check the database, the journals and their counters
    #[command(after_help = include_str!("help/doctor.txt"))]
    Doctor(Doctor),
    /// Watch what running programs record, as it happens
    #[command(after_help = include_str!("help/tail.txt"))]
    Tail(crate::commands::tail::Tail),
    /// Write for programs that only fill their journals
    #[command(after_help = include_str!("help/drain.txt"))]
    Drain(crate::commands::drain::Drain),
}

#[derive(Args, Debug)]
pub(crate) struct Ls {
    /// Only workflows that stand like this, e.g. finished, error, running
    #[arg(long, value_parser = parse_status)]
    pub(crate) status: Option<Status>,
    /// Only workflows with this name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only workflows of this campaign
    #[arg(long, value_name = "ID")]
    pub(crate) campaign: Option<String>,
    /// At most so many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// A workflow or a task: its id or the beginning of it, @last, @last~1, or a workflow's name
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// How many levels of the call tree to show; 0 for all
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) depth: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Sql {
    /// The query, or - to read it from stdin
    pub(crate) query: String,
    /// Values for ?1, ?2, … in the query
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    pub(crate) values: Vec<String>,
    /// The next value for the query, like VALUE; can be repeated
    #[arg(long = "param", value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) params: Vec<String>,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = parse_seconds)]
    pub(crate) timeout: f64,
    /// Cut the answer after this many rows
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct Recover {
    /// The folder with the journals [default: journal, beside the database]
    pub(crate) dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which form rows are printed.
#[derive(Args, Debug)]
#[group(multiple = false)]
#[command(next_help_heading = "Formats")]
#[expect(clippy::struct_excessive_bools, reason = "flags of which at most one is given")]
pub(crate) struct FormatArguments {
    /// An array of objects
    #[arg(long, group = "format")]
    json: bool,
    /// An object a line
    #[arg(long, group = "format")]
    jsonl: bool,
    /// Comma-separated, with a header
    #[arg(long, group = "format")]
    csv: bool,
    /// Tab-separated, with a header; what a pipe gets
    #[arg(long, group = "format")]
    tsv: bool,
    /// A Markdown table
    #[arg(long, group = "format")]
    markdown: bool,
}

/// A form of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
    JsonLines,
    Csv,
    Tsv,
    Markdown,
}

impl FormatArguments {
    /// What was asked for, or what suits a terminal or a pipe.
    pub(crate) fn format(&self, is_terminal: bool) -> Format {
        let asked = [
            (self.json, Format::Json),
            (self.jsonl, Format::JsonLines),
            (self.csv, Format::Csv),
            (self.tsv, Format::Tsv),
            (self.markdown, Format::Markdown),
        ];
        let usual = if is_terminal { Format::Table } else { Format::Tsv };
        asked.into_iter().find_map(|(is_asked, format)| is_asked.then_some(format)).unwrap_or(usual)
    }
}

pub(crate) fn parse_status(word: &str) -> Result<Status, String> {
    Status::from_word(&word.to_ascii_uppercase()).ok_or_else(|| {
        let known: Vec<String> = Status::ALL.iter().map(|status| status.as_str().to_lowercase()).collect();
        format!("known are {}", known.join(", "))
    })
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 1e9 { Ok(seconds) } else { Err("must be above 0".to_owned()) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
