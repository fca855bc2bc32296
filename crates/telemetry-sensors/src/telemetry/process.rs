//! The block `process`.

use serde::Serialize;

/// This process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The processor that the thread runs on that takes the reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_number: Option<u32>,
    /// Its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ProcessMemory>,
    /// Its resident share of the machine's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_percent: Option<f64>,
    /// Its CPU times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_times: Option<ProcessCpuTimes>,
    /// How much of one processor it used since the previous reading; above 100 with several threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// The file that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<String>,
    /// Its arguments, the program's name first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd_line: Option<Vec<String>>,
    /// How many descriptors it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_open_file_descriptors: Option<u64>,
    /// How many of them are TCP or UDP sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_connections: Option<u64>,
    /// What it read and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_counters: Option<IoCounters>,
    /// How many of its descriptors are regular files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_open_files: Option<u64>,
    /// How many threads it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_threads: Option<u64>,
    /// How often its threads were switched away; psutil counts its first thread alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_ctx_switches: Option<ContextSwitches>,
}

/// The memory of a process in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are psutil's; proc_pid_statm(5) explains them")]
pub struct ProcessMemory {
    pub rss: u64,
    pub vms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lib: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<u64>,
}

/// The CPU times of a process and of its ended children, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are psutil's; proc_pid_stat(5) explains them")]
pub struct ProcessCpuTimes {
    pub user: f64,
    pub system: f64,
    pub children_user: f64,
    pub children_system: f64,
    pub iowait: f64,
}

/// What a process read and wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IoCounters {
    /// Calls that read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_count: Option<u64>,
    /// Calls that wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_count: Option<u64>,
    /// Bytes that came from a disk.
    pub read_bytes: u64,
    /// Bytes that are to go to a disk.
    pub write_bytes: u64,
    /// Bytes read from anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_chars: Option<u64>,
    /// Bytes written to anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_chars: Option<u64>,
}

/// How often a thread left its processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextSwitches {
    /// Because it waited.
    pub voluntary: u64,
    /// Because another thread had its turn.
    pub involuntary: u64,
}
