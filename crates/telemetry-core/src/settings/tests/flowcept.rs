//! Flowcept's file works unchanged.

use super::{check_error, read};
use crate::settings::{ChildrenMode, LoopMode, What};

const SAMPLE: &str = include_str!("flowcept.yaml");

#[test]
fn its_sample_file_loads() {
    let loaded = read(SAMPLE).unwrap();
    assert_eq!(
        loaded.ignored,
        [
            "flowcept_version",
            "project",
            "log",
            "mq",
            "kv_db",
            "web_server",
            "sys_metadata",
            "extra_metadata",
            "db_buffer",
            "agent",
            "databases",
            "adapters"
        ]
    );
    let mut expected = read("").unwrap().settings;
    let telemetry = &mut expected.telemetry_capture;
    (telemetry.cpu, telemetry.per_cpu, telemetry.process_info, telemetry.mem) = (false, false, false, false);
    (telemetry.disk, telemetry.network, telemetry.machine_info) = (false, false, false);
    expected.experiment.user = Some("root".into());
    assert_eq!(loaded.settings, expected);
}

#[test]
fn torch_is_another_name_for_model() {
    let text = "instrumentation:\n  torch:\n    what: parent_only\n    children_mode: lightweight\n    \
                epoch_loop: default\n    batch_loop: ~\n    capture_epochs_at_every: 5\n    register_workflow: false\n";
    let model = read(text).unwrap().settings.instrumentation.model;
    assert_eq!(model, read(&text.replace("torch", "model")).unwrap().settings.instrumentation.model);
    assert_eq!(model.what, Some(What::ParentOnly));
    assert_eq!(model.children_mode, ChildrenMode::Lightweight);
    assert_eq!((model.epoch_loop, model.batch_loop), (Some(LoopMode::Default), None));
    assert_eq!((model.capture_epochs_at_every, model.register_workflow), (5, false));
}

#[test]
fn both_names_at_once_are_an_error() {
    check_error(
        "instrumentation:\n  model: {what: ~}\n  torch: {what: parent_only}\n",
        "
settings.yaml:3: `instrumentation.torch` and `instrumentation.model` are the same key
    3 |   torch: {what: parent_only}
hint: keep one of them",
    );
}

#[test]
fn mistakes_under_the_other_name_are_named_as_written() {
    check_error(
        "instrumentation:\n  torch:\n    wat: ~\n",
        "
settings.yaml:3: unknown key `instrumentation.torch.wat`
    3 |     wat: ~
hint: did you mean `instrumentation.torch.what`?",
    );
}
