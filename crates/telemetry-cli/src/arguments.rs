//! What can be said on the command line.

mod insight;
mod more;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use telemetry_core::status::Status;

pub(crate) use insight::{Analyze, CriticalPathArguments, Diff, ReportArguments, TimelineArguments};
pub(crate) use more::{
    Completions, Config, ConfigCheck, ConfigCommand, ConfigShow, Export, ExportFormat, ExportView, Gc,
    Import, Init, Lineage, Profile, Run, SnapshotArguments, Tree,
};
use values::{parse_age, parse_seconds};
pub(crate) use values::{parse_interval, parse_status};

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
    /// Write a commented settings.yaml
    #[command(after_help = include_str!("help/init.txt"))]
    Init(Init),
    /// Run a program as a workflow
    #[command(after_help = include_str!("help/run.txt"))]
    Run(Run),
    /// List workflows, the newest first
    #[command(after_help = include_str!("help/ls.txt"))]
    Ls(Ls),
    /// Show all about a workflow or a task
    #[command(after_help = include_str!("help/show.txt"))]
    Show(Show),
    /// Draw the call tree of a workflow, or below a task
    #[command(after_help = include_str!("help/tree.txt"))]
    Tree(Tree),
    /// Follow whose output is whose input, both ways
    #[command(after_help = include_str!("help/lineage.txt"))]
    Lineage(Lineage),
    /// Draw what ran when, thread by thread
    #[command(after_help = include_str!("help/timeline.txt"))]
    Timeline(TimelineArguments),
    /// Find what a run was waiting for
    #[command(after_help = include_str!("help/critical-path.txt"))]
    CriticalPath(CriticalPathArguments),
    /// Compare two workflows, or two campaigns
    #[command(after_help = include_str!("help/diff.txt"))]
    Diff(Diff),
    /// Write the card of a workflow, as Markdown or HTML
    #[command(after_help = include_str!("help/report.txt"))]
    Report(ReportArguments),
    /// Sum up the packets of a session
    #[command(after_help = include_str!("help/analyze.txt"))]
    Analyze(Analyze),
    /// Ask a question in SQL, which can only read
    #[command(after_help = include_str!("help/sql.txt"))]
    Sql(Sql),
    /// Write workflows to a file for other programs
    #[command(after_help = include_str!("help/export.txt"))]
    Export(Export),
    /// Bring in another database, or an export
    #[command(after_help = include_str!("help/import.txt"))]
    Import(Import),
    /// Copy the database as it is now, while programs write
    #[command(after_help = include_str!("help/snapshot.txt"))]
    Snapshot(SnapshotArguments),
    /// Delete old workflows
    #[command(after_help = include_str!("help/gc.txt"))]
    Gc(Gc),
    /// Bring in what killed processes had recorded
    #[command(after_help = include_str!("help/recover.txt"))]
    Recover(Recover),
    /// Check the database, the journals and their counters
    #[command(after_help = include_str!("help/doctor.txt"))]
    Doctor(Doctor),
    /// Watch what running programs record, as it happens
    #[command(after_help = include_str!("help/tail.txt"))]
    Tail(crate::commands::tail::Tail),
    /// Watch what running programs do, as it happens, activity by activity
    #[command(after_help = include_str!("help/top.txt"))]
    Top(crate::commands::top::Top),
    /// Write for programs that only fill their journals
    #[command(after_help = include_str!("help/drain.txt"))]
    Drain(crate::commands::drain::Drain),
    /// Show or check settings
    #[command(after_help = include_str!("help/config.txt"), subcommand_required = true, disable_help_subcommand = true)]
    Config(Config),
    /// Print completions for a shell
    #[command(after_help = include_str!("help/completions.txt"))]
    Completions(Completions),
    /// Print the manual page
    #[command(after_help = include_str!("help/man.txt"))]
    Man,
}

#[derive(Args, Debug)]
pub(crate) struct Ls {
    /// Only workflows that stand like this, e.g. finished, error, running
    #[arg(long, value_parser = parse_status)]
    pub(crate) status: Option<Status>,
    /// Only workflows that started at most this long ago, e.g. 90s, 30min, 2h, 7d
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) since: Option<u64>,
    /// Only workflows with this name; * stands for any characters
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only workflows of this campaign
    #[arg(long, value_name = "ID")]
    pub(crate) campaign: Option<String>,
    /// What to sort by, the largest first; by name, the first letters first
    #[arg(long, value_name = "COLUMN", default_value = "started")]
    pub(crate) sort: LsSort,
    /// The other way round
    #[arg(long)]
    pub(crate) reverse: bool,
    /// At most so many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// What `ls` sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LsSort {
    Started,
    Duration,
    Tasks,
    Errors,
    Name,
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
    /// The query, or - to read it from stdin; without one, a prompt
    pub(crate) query: Option<String>,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
