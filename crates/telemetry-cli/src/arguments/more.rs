//! The arguments of the commands that write, run, draw and pass on.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::FormatArguments;
use super::values::{parse_age, parse_duration, parse_size};

#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The file to write
    #[arg(default_value = "settings.yaml")]
    pub(crate) file: PathBuf,
    /// Which settings
    #[arg(long, default_value = "full")]
    pub(crate) profile: Profile,
    /// Replace the file without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Settings for a kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// The few keys that most people change
    Minimal,
    /// Every key with its default
    Full,
    /// Many processes on a cluster: little cost, nothing on the network file system while they run
    Hpc,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The workflow's name [default: the program's]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The campaign that the workflow belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) campaign: Option<String>,
    /// Keep what the program prints, too: in files beside the database
    #[arg(long)]
    pub(crate) keep_output: bool,
    /// Say nothing, not even on a terminal
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct Tree {
    /// A workflow or a task: its id or the beginning of it, @last, @last~1, or a workflow's name
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// So many levels; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) depth: usize,
    /// Leave out lines that took less together, e.g. 10ms
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "0ns")]
    pub(crate) min_duration: u64,
    /// A line for each call, instead of one for all calls of an activity by one caller
    #[arg(long)]
    pub(crate) each: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct Lineage {
    /// A task: its id or the beginning of it; or a workflow, for everything in it
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// Only what led to it
    #[arg(long, conflicts_with = "ahead")]
    pub(crate) back: bool,
    /// Only what came of it
    #[arg(long)]
    pub(crate) ahead: bool,
    /// At most so many steps away
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) steps: u32,
    /// A graph for Graphviz
    #[arg(long, group = "format")]
    pub(crate) dot: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct Export {
    /// What to write
    pub(crate) format: ExportFormat,
    /// Workflows: an id or the beginning of it, @last, @last~1, a name; without one, @last
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All workflows
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which view, as CSV
    #[arg(long, value_name = "VIEW", default_value = "tasks")]
    pub(crate) view: ExportView,
}

/// A format for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Everything, an object a line; `telemetry import` reads it
    Jsonl,
    /// The rows of a view
    Csv,
    /// For Perfetto (ui.perfetto.dev) and Chrome's own viewer
    ChromeTrace,
}

/// A view to write as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportView {
    Workflows,
    Tasks,
    Activities,
    Snapshots,
    Derivations,
    #[value(name = "task_telemetry")]
    TaskTelemetry,
    Events,
    #[value(name = "event_series")]
    EventSeries,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// Databases or JSON lines files; - for JSON lines from stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SnapshotArguments {
    /// The file to make
    pub(crate) file: PathBuf,
    /// Replace the file without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Gc {
    /// Delete workflows that ended longer ago, e.g. 30d
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<u64>,
    /// Keep so many workflows, the newest
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u64>,
    /// Delete the oldest workflows until the rest takes at most this much, e.g. 10GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_size: Option<u64>,
    /// Only show what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Delete without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the settings that a program started here would have
    Show(ConfigShow),
    /// Check a settings file
    Check(ConfigCheck),
}

#[derive(Args, Debug)]
pub(crate) struct ConfigShow {
    /// Say where each value comes from
    #[arg(long)]
    pub(crate) origin: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigCheck {
    /// The file [default: the one that a program started here would find]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
