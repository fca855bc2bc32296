//! The default file: complete, and what the design says.

use serde_json::json;

use super::read;
use crate::settings::node::{self, Kind, Node};
use crate::settings::{DEFAULT_FILE, Settings, environment, load, schema};

#[test]
fn the_defaults_are_those_of_the_design() {
    let expected = json!({
        "telemetry_capture": {
            "gpu": null, "cpu": true, "per_cpu": true, "process_info": true, "mem": true, "disk": true,
            "network": true, "machine_info": true, "max_age_ms": 100, "slow_age_ms": 1000,
            "sample_every_ms": null,
        },
        "instrumentation": {
            "enabled": true,
            "model": {
                "what": "parent_and_children", "children_mode": "telemetry_and_tensor_inspection",
                "epoch_loop": "lightweight", "batch_loop": "lightweight",
                "capture_epochs_at_every": 1, "register_workflow": true,
            },
        },
        "capture": {
            "default_level": "full", "rules": [], "value_bytes_max": 4096, "record_bytes_max": 65536,
            "depth_max": 64, "items_max": 1000, "reload": false, "sampling": {"keep_errors": true},
            "events": ["*"], "critical_tags": {},
        },
        "redaction": {
            "enabled": true, "names": [], "patterns": [], "allow": [], "email": false,
            "environment_allow": ["PATH", "HOME", "USER", "LANG", "TZ", "SLURM_*", "CUDA_VISIBLE_DEVICES",
                                  "ROCR_VISIBLE_DEVICES"],
        },
        "journal": {
            "lane_bytes": 1_048_576, "lanes_max": 256, "on_full": "wait", "wait_ms_max": 5000,
            "drain": "thread", "drain_interval_ms": 100, "dir": null, "name": null,
        },
        "store": {"path": ".telemetry/provenance.db", "durability": "process", "retention": null},
        "session": {"enabled": false, "output_dir": ".telemetry/sessions", "session_name": null},
        "experiment": {"user": null, "campaign": null},
    });
    assert_eq!(Settings::default().to_json(), expected);
}

#[test]
fn the_default_file_sets_every_key() {
    let tree = node::parse(DEFAULT_FILE).unwrap();
    let missing: Vec<&String> = schema::keys().iter().filter(|key| find(&tree, key).is_none()).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn the_default_file_is_the_default() {
    let mut expected = Settings::default();
    load::resolve(&mut expected, &environment::working_dir());
    assert_eq!(read(DEFAULT_FILE).unwrap().settings, expected);
    assert_eq!(read("").unwrap().settings, expected);
}

/// Changing a key of the default file to something else must not go unnoticed.
#[test]
fn every_key_of_the_default_file_is_read() {
    for key in schema::keys() {
        let text =
            key.split('.').rev().fold("[[wrong]]".to_owned(), |below, part| format!("{{{part}: {below}}}"));
        let message = read(&text).expect_err(key).to_string();
        assert!(message.starts_with(&format!("settings.yaml:1: `{key}")), "{message}");
    }
}

#[test]
fn a_file_changes_only_what_it_names() {
    let loaded = read("capture: {default_level: data}\njournal:\nstore: ~\n").unwrap();
    let mut expected = read("").unwrap().settings;
    expected.capture.default_level = crate::level::Level::Data;
    assert_eq!(loaded.settings, expected);
}

fn find<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    key.split('.').try_fold(node, |node, part| match &node.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == part).map(|entry| &entry.node),
        _ => None,
    })
}
