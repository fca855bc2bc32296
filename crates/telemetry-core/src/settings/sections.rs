//! The sections of a settings file as types; the comments in `settings.yaml` say more about each key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::choices::{ChildrenMode, DrainMode, Durability, LoopMode, OnFull, What};
use super::write;
use crate::level::Level;

/// What `telemetry_capture.gpu` may list.
pub const GPU_METRICS: &[&str] = &[
    "used",
    "temperature",
    "power",
    "name",
    "id",
    "activity",
    "others",
    "total",
    "utilization",
    "clocks",
    "processes",
];

/// What `capture.critical_tags` may name.
pub const CRITICAL_TAGS: &[&str] =
    &["long_duration", "high_cpu", "high_mem", "high_disk", "low_output", "high_output"];

/// So many rules count; a file with more is refused.
pub const RULES_MAX: usize = 1000;

/// What a snapshot contains and how often one is taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that a user switches on its own")]
pub struct TelemetryCapture {
    /// The GPU readings to take, of [`GPU_METRICS`]; `None` leaves GPUs alone.
    pub gpu: Option<Vec<String>>,
    /// Processor times and load.
    pub cpu: bool,
    /// The same for each core.
    pub per_cpu: bool,
    /// Readings of this process: memory, threads, input and output, open files.
    pub process_info: bool,
    /// Memory and swap.
    pub mem: bool,
    /// Disk usage and traffic.
    pub disk: bool,
    /// Network traffic.
    pub network: bool,
    /// A description of the machine, once a workflow.
    pub machine_info: bool,
    /// A snapshot younger than this is shared instead of taken again.
    pub max_age_ms: u64,
    /// The same for the readings that cost much.
    pub slow_age_ms: u64,
    /// Takes snapshots at this pace too, while no task starts or ends.
    pub sample_every_ms: Option<u64>,
}

/// Whether anything is recorded, and how models are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instrumentation {
    /// `false` makes every instrumented function run as if it were not.
    pub enabled: bool,
    /// How models, their layers and their training loops are recorded.
    pub model: Model,
}

/// How models, their layers and their training loops are recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Model {
    /// Which parts of a model are recorded; `None` for no part.
    #[serde(serialize_with = "write::optional_word")]
    pub what: Option<What>,
    /// What is captured of a layer.
    #[serde(serialize_with = "write::word")]
    pub children_mode: ChildrenMode,
    /// How epochs are recorded; `None` for not at all.
    #[serde(serialize_with = "write::optional_word")]
    pub epoch_loop: Option<LoopMode>,
    /// How batches are recorded; `None` for not at all.
    #[serde(serialize_with = "write::optional_word")]
    pub batch_loop: Option<LoopMode>,
    /// Only every so many epochs are recorded; at least 1.
    pub capture_epochs_at_every: u32,
    /// Whether a model is stored as a workflow of its own.
    pub register_workflow: bool,
}

/// How much a task captures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capture {
    /// The level of a task for which neither the code nor a rule says another.
    #[serde(serialize_with = "write::word")]
    pub default_level: Level,
    /// Exceptions by activity, at most [`RULES_MAX`]; the first that matches wins.
    pub rules: Vec<Rule>,
    /// A larger value is shortened.
    pub value_bytes_max: u32,
    /// The values of one record together are shortened to this.
    pub record_bytes_max: u32,
    /// Deeper parts of a value are left out.
    pub depth_max: u32,
    /// Further items of a list or a map are left out.
    pub items_max: u32,
    /// Whether a change of the file takes effect while the program runs.
    pub reload: bool,
    /// What sampling spares.
    pub sampling: Sampling,
    /// Which events are recorded: globs over their names.
    pub events: Vec<String>,
    /// Tags for tasks that stand out, of [`CRITICAL_TAGS`], each with its threshold.
    pub critical_tags: BTreeMap<String, f64>,
}

/// What sampling spares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// Whether a task that fails is kept although sampling left it out.
    pub keep_errors: bool,
}

/// An exception for some activities; what it leaves out stays as it would be without the rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Which activities: a glob over their path.
    pub activity: String,
    /// How much they capture.
    #[serde(serialize_with = "write::optional_word")]
    pub level: Option<Level>,
    /// The share of calls that is kept, 0 to 1.
    pub sample: Option<f64>,
    /// At most so many calls a second are kept, of all activities that match.
    pub per_second: Option<u32>,
    /// Replaces [`Capture::value_bytes_max`].
    pub value_bytes_max: Option<u32>,
    /// Replaces [`Capture::record_bytes_max`].
    pub record_bytes_max: Option<u32>,
    /// Replaces [`Capture::depth_max`].
    pub depth_max: Option<u32>,
    /// Replaces [`Capture::items_max`].
    pub items_max: Option<u32>,
}

/// What must not be written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redaction {
    /// Whether secrets are replaced at all.
    pub enabled: bool,
    /// Further names whose values are secret.
    pub names: Vec<String>,
    /// Further forms of text that are secret.
    pub patterns: Vec<String>,
    /// Names that look secret and are not.
    pub allow: Vec<String>,
    /// Whether e-mail addresses are secret.
    pub email: bool,
    /// Environment variables that may be stored; `*` stands for any characters.
    pub environment_allow: Vec<String>,
}

/// The shared memory that records pass through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Journal {
    /// The size of a thread's lane: a power of two, 4096 to 1 GiB.
    pub lane_bytes: u64,
    /// So many threads get a lane of their own, 1 to 1024.
    pub lanes_max: u32,
    /// What happens to a record when its lane is full.
    #[serde(serialize_with = "write::word")]
    pub on_full: OnFull,
    /// The longest wait for room in a lane.
    pub wait_ms_max: u64,
    /// Who moves records into the store.
    #[serde(serialize_with = "write::word")]
    pub drain: DrainMode,
    /// The pause between two batches.
    pub drain_interval_ms: u64,
    /// Where the journal's files are; `None` chooses a folder beside the store.
    #[serde(serialize_with = "write::optional_path")]
    pub dir: Option<PathBuf>,
    /// What the recorder is called; its journal's file begins with it.
    pub name: Option<String>,
}

/// The database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Store {
    /// The database file.
    #[serde(serialize_with = "write::path")]
    pub path: PathBuf,
    /// What a record survives once it is accepted.
    #[serde(serialize_with = "write::word")]
    pub durability: Durability,
    /// An age, a size or both beyond which the oldest workflows go, such as `30d` or `90d, 10GiB`.
    pub retention: Option<String>,
}

/// Files of an inference session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Whether they are written.
    pub enabled: bool,
    /// The folder that they are written to.
    #[serde(serialize_with = "write::path")]
    pub output_dir: PathBuf,
    /// The name that they begin with; `None` makes one from the time.
    pub session_name: Option<String>,
}

/// Labels of this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Experiment {
    /// Who runs it; `None` takes the name from the system.
    pub user: Option<String>,
    /// The campaign that its workflows belong to.
    pub campaign: Option<String>,
}
