//! The entries of the journal's name table: what repeats in records and is written once a process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What an entry of the name table describes.
    NameKind {
        /// The process: [`ProcessName`]. Always the first entry.
        Process = 1 "process",
        /// An activity: [`ActivityName`].
        Activity = 2 "activity",
        /// A thread: [`ThreadName`].
        Thread = 3 "thread",
        /// A series of events: [`SeriesName`].
        Series = 4 "series",
    }
}

/// The process that records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessName {
    /// What the recorder is called, if it has a name.
    pub name: Option<String>,
    /// The user that runs it.
    pub user: Option<String>,
    /// The host that it runs on.
    pub hostname: Option<String>,
    /// The program.
    pub exe: Option<String>,
    /// Its command line.
    pub cmd_line: Vec<String>,
    /// The settings in force, as JSON.
    pub settings: serde_json::Value,
    /// The revision of the code: `sha`, `short_sha`, `branch`, `root`, `remote`, `dirty`.
    pub code_repository: serde_json::Value,
    /// Facts about the machine that are the same in every process on it; null without `machine_info`.
    pub machine: serde_json::Value,
    /// The rest of them: what is in use, addresses, the environment.
    pub machine_state: serde_json::Value,
    /// The version of this crate.
    pub recorder_version: String,
}

/// A function or step that is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ActivityName {
    /// The name that `activity_id` shows.
    pub activity_id: String,
    /// Where it is in the code: `crate::module::function`; rules match on it.
    pub path: String,
    /// The source file.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// The names of arguments and outputs that records refer to by index.
    pub keys: Vec<String>,
}

/// A thread of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadName {
    /// What `thread` shows: the thread's own name, or `thread-N`.
    pub name: String,
}

/// What the events of one series have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesName {
    /// The word of a [`Category`](crate::event::Category).
    pub category: String,
    /// What is measured.
    pub name: String,
    /// The word of an [`EventKind`](crate::event::EventKind).
    pub kind: String,
    /// What the values count.
    pub unit: Option<String>,
    /// What tells this series from others of the same name.
    pub labels: BTreeMap<String, String>,
}
