//! What stands before the default file is read, so that the file is the only place with defaults.
//!
//! A test proves that the file sets every key: nobody ever sees these values.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{
    Capture, ChildrenMode, DrainMode, Durability, Experiment, Instrumentation, Journal, Model, OnFull,
    Redaction, Rule, Sampling, Session, Settings, Store, TelemetryCapture,
};
use crate::level::Level;

/// Settings with nothing in them.
pub(super) fn settings() -> Settings {
    Settings {
        telemetry_capture: telemetry_capture(),
        instrumentation: Instrumentation { enabled: false, model: model() },
        capture: capture(),
        redaction: Redaction {
            enabled: false,
            names: Vec::new(),
            patterns: Vec::new(),
            allow: Vec::new(),
            email: false,
            environment_allow: Vec::new(),
        },
        journal: journal(),
        store: Store { path: PathBuf::new(), durability: Durability::Process, retention: None },
        session: Session { enabled: false, output_dir: PathBuf::new(), session_name: None },
        experiment: Experiment { user: None, campaign: None },
    }
}

/// A rule that changes nothing.
pub(super) fn rule() -> Rule {
    Rule {
        activity: String::new(),
        level: None,
        sample: None,
        per_second: None,
        value_bytes_max: None,
        record_bytes_max: None,
        depth_max: None,
        items_max: None,
    }
}

fn telemetry_capture() -> TelemetryCapture {
    TelemetryCapture {
        gpu: None,
        cpu: false,
        per_cpu: false,
        process_info: false,
        mem: false,
        disk: false,
        network: false,
        machine_info: false,
        max_age_ms: 0,
        slow_age_ms: 0,
        sample_every_ms: None,
    }
}

fn model() -> Model {
    Model {
        what: None,
        children_mode: ChildrenMode::Lightweight,
        epoch_loop: None,
        batch_loop: None,
        capture_epochs_at_every: 1,
        register_workflow: false,
    }
}

fn capture() -> Capture {
    Capture {
        default_level: Level::Off,
        rules: Vec::new(),
        value_bytes_max: 0,
        record_bytes_max: 0,
        depth_max: 0,
        items_max: 0,
        reload: false,
        sampling: Sampling { keep_errors: false },
        events: Vec::new(),
        critical_tags: BTreeMap::new(),
    }
}

fn journal() -> Journal {
    Journal {
        lane_bytes: 0,
        lanes_max: 0,
        on_full: OnFull::Drop,
        wait_ms_max: 0,
        drain: DrainMode::External,
        drain_interval_ms: 0,
        dir: None,
        name: None,
    }
}
