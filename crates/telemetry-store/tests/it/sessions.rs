//! Packets, figures of sessions, and which sessions still need their files.

use serde_json::{Value, json};
use telemetry_core::record::TaskEnd;
use telemetry_core::status::{ErrorKind, Status};
use telemetry_store::{Cell, PacketRow, SessionSummaryRow, Store};

use crate::harness::*;

/// Items with this metadata.
fn metadata(object: &Value) -> Vec<u8> {
    items(|encoder| {
        for (key, member) in object.as_object().unwrap() {
            encoder.metadata(key, |value| {
                value.serialize(member);
            });
        }
    })
}

/// A packet that ended well.
fn packet(number: u64, [from, to]: [u64; 2], says: &Value) -> [Framed; 2] {
    [start(started(number, from), &metadata(says)), end(ended(number, to), &[])]
}

/// A workflow from 0 to 1 s with packets on two devices, some of which overlap, fail or say nothing.
fn session() -> Vec<Framed> {
    let ms = 1_000_000;
    let router = json!({"device": "cpu", "operation": "router", "layer_idx": 0, "experts": [1, 2], "num_experts": 4,
        "flops": 10, "dense_flops": 40});
    let expert = json!({"device": "igpu", "operation": "ffn", "layer_idx": 0, "packet_id": 7});
    let late = json!({"device": "cpu", "operation": "router", "layer_idx": 1, "experts": {"1": 3, "expert_x": 1},
        "flops": 10, "dense_flops": 10, "tokens_generated": 2});
    let mut records = vec![workflow_start(1, 0, &[]), workflow_end(1, 1000 * ms, &[])];
    records.extend(packet(1, [100 * ms, 300 * ms], &router));
    records.extend(packet(2, [200 * ms, 500 * ms], &expert));
    // Within the packet before: its device is busy all the same.
    records.extend(packet(3, [250 * ms, 350 * ms], &expert));
    records.extend(packet(4, [600 * ms, 700 * ms], &late));
    records.extend(packet(5, [100 * ms, 900 * ms], &json!({"packet": false, "tokens_generated": 99})));
    records.push(start(started(6, 800 * ms), &[]));
    records.push(failed(6, 900 * ms, ErrorKind::Err, "no, \"really\"\nnot"));
    // Open when its process ends.
    records.push(start(started(8, 950 * ms), &[]));
    records.push(update(6, 1, &metadata(&json!({"prompt_tokens": 5}))));
    records
}

fn packets(store: &Store) -> Vec<PacketRow> {
    let mut packets = Vec::new();
    store.packets(&workflow_id(1).to_string(), |packet| packets.push(packet)).unwrap();
    packets
}

fn summary(store: &Store) -> SessionSummaryRow {
    store.session_summary(&workflow_id(1).to_string()).unwrap().unwrap()
}

#[test]
fn a_packet_is_what_its_task_says_or_what_is_known_of_the_task() {
    let (_folder, store, _reader) = store_with(&session());
    let packets = packets(&store);
    let numbers: Vec<String> = packets.iter().map(|packet| packet.task_id.clone()).collect();
    assert_eq!(numbers, [1, 3, 2, 4, 6].map(|number| task_id(number).to_string()));
    let says_nothing = packets.last().unwrap();
    assert_eq!(
        (&says_nothing.device, &says_nothing.worker_instance, &says_nothing.operation),
        (&"cpu".into(), &"main".into(), &"step_1".into())
    );
    assert_eq!(says_nothing.packet_id, Cell::Text(task_id(6).to_string()));
    assert_eq!(says_nothing.layer_idx, Cell::Integer(-1));
    assert_eq!(says_nothing.memory_used_mb, Cell::Null);
    assert_eq!(says_nothing.error_message.as_deref(), Some("no, \"really\"\nnot"));
    assert_eq!(says_nothing.prompt_tokens, Cell::Integer(5));
    assert_eq!((packets[1].packet_id.clone(), packets[1].success), (Cell::Integer(7), true));
}

#[test]
fn the_figures_of_a_session_are_what_a_pencil_says() {
    let (_folder, mut store, reader) = store_with(&session());
    store.interrupt(Journal::default().id, 2_000_000_000).unwrap();
    let found = summary(&store);
    assert_eq!(reader.session_summary(&workflow_id(1).to_string()).unwrap(), Some(found.clone()));
    let found = serde_json::to_value(found).unwrap();
    let expected = json!({
        "workflow_id": workflow_id(1).to_string(), "session_name": null, "status": "FINISHED",
        "start_time": 0.0, "end_time": 1.0, "total_time_s": 1.0,
        "prompt_tokens": 5, "tokens_generated": 2, "total_tokens": 7, "tokens_per_second": 2.0,
        "total_packets_processed": 5, "cpu_packets": 3, "igpu_packets": 2, "failed_packets": 1,
        "interrupted_packets": 1, "success_rate": 0.8,
        "total_cpu_time_ms": 400.0, "total_igpu_time_ms": 400.0,
        "avg_cpu_time_ms": 400.0 / 3.0, "avg_igpu_time_ms": 200.0,
        "cpu_utilization": 0.4, "igpu_utilization": 0.3,
        // Both packets on the iGPU began while the router was at work on the CPU.
        "cpu_igpu_contention_events": 2,
        "p50_time_ms": 100.0, "p95_time_ms": 300.0, "p99_time_ms": 300.0,
        "flop_reduction": 0.6,
        "devices": {
            "cpu": {"packets": 3, "failed": 1, "total_time_ms": 400.0, "avg_time_ms": 133.333_333,
                "busy_time_ms": 400.0, "utilization": 0.4},
            "igpu": {"packets": 2, "failed": 0, "total_time_ms": 400.0, "avg_time_ms": 200.0,
                "busy_time_ms": 300.0, "utilization": 0.3},
        },
        "operation_breakdown": {
            "ffn": {"count": 2, "avg_time_ms": 200.0, "cpu_count": 0, "igpu_count": 2, "total_time_ms": 400.0,
                "min_time_ms": 100.0, "max_time_ms": 300.0, "failed_count": 0},
            "router": {"count": 2, "avg_time_ms": 150.0, "cpu_count": 2, "igpu_count": 0, "total_time_ms": 300.0,
                "min_time_ms": 100.0, "max_time_ms": 200.0, "failed_count": 0},
            // All of its packets failed: they took their time all the same.
            "step_1": {"count": 1, "avg_time_ms": 100.0, "cpu_count": 1, "igpu_count": 0, "total_time_ms": 100.0,
                "min_time_ms": 100.0, "max_time_ms": 100.0, "failed_count": 1},
        },
        "expert_selection_distribution": {"expert_1": 4, "expert_2": 1, "expert_x": 1},
        "csv_log": null, "json_summary": null,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&found[key], value, "{key}");
    }
    assert_eq!(found.as_object().unwrap().len(), expected.as_object().unwrap().len());
}

#[test]
fn the_load_of_experts_is_told_by_layer() {
    let (_folder, _store, reader) = store_with(&session());
    let rows = lines(
        &reader,
        "select layer_idx, expert, selections, share, load, experts, balance from expert_selection",
    );
    assert_eq!(
        rows,
        [
            "0 | 1 | 1 | 0.5 | 2.0 | 4 | 0.5",
            "0 | 2 | 1 | 0.5 | 2.0 | 4 | 0.5",
            "1 | 1 | 3 | 0.75 | 1.5 | 2 | 0.8",
            "1 | expert_x | 1 | 0.25 | 0.5 | 2 | 0.8",
        ]
    );
}

#[test]
fn a_workflow_without_packets_has_no_figures() {
    let (_folder, store, _reader) = store_with(&[workflow_start(1, 0, &[]), start(started(1, 1), &[])]);
    assert_eq!(store.session_summary(&workflow_id(1).to_string()).unwrap(), None);
    assert_eq!(packets(&store), []);
}

#[test]
fn a_cancelled_packet_failed() {
    let cancelled = TaskEnd { status: Status::Cancelled, ..ended(1, 2) };
    let (_folder, store, _reader) = store_with(&[start(started(1, 1), &[]), end(cancelled, &[])]);
    let packet = packets(&store).remove(0);
    assert_eq!((packet.success, packet.error_message.as_deref()), (false, Some("CANCELLED")));
}

/// A journal whose settings want session files.
fn wanting() -> Journal {
    let settings = json!({"session": {"enabled": true, "output_dir": "/out", "session_name": "run"}});
    Journal { settings, ..Journal::default() }
}

#[test]
fn a_session_is_noted_with_its_workflow_until_its_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let journal = wanting();
    let id = workflow_id(1).to_string();
    store.apply(&Journal { id: 9, ..Journal::default() }, &batch_of(&[workflow_start(2, 0, &[])])).unwrap();
    assert_eq!(store.session(&workflow_id(2).to_string()).unwrap(), None);
    store.apply(&journal, &batch_of(&[workflow_start(1, 0, &[])])).unwrap();
    let session = store.session_of(&id, journal.id).unwrap().unwrap();
    assert_eq!((session.folder.as_deref(), session.wanted_name.as_deref()), (Some("/out"), Some("run")));
    assert!(session.default_name.starts_with("session_19"), "{}", session.default_name);
    assert_eq!((session.name, session.has_ended, session.is_written), (None, false, false));
    assert_eq!(store.session_of(&id, 9).unwrap(), None);
    assert_eq!(store.sessions_of_the_dead().unwrap(), []);
    store.apply(&journal, &batch_of(&[workflow_end(1, 5, &[])])).unwrap();
    store.interrupt(journal.id, 9).unwrap();
    store.name_session(&id, "/elsewhere", "run_2").unwrap();
    let dead = store.sessions_of_the_dead().unwrap().remove(0);
    assert_eq!((dead.folder.as_deref(), dead.name.as_deref()), (Some("/elsewhere"), Some("run_2")));
    assert!(dead.has_ended);
    store.set_session_written(&id, true).unwrap();
    assert_eq!(store.sessions_of_the_dead().unwrap(), []);
    assert_eq!(store.sessions_of(journal.id).unwrap(), []);
}

#[test]
fn what_ended_is_told_once_and_only_to_those_who_ask() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("provenance.db"));
    let journal = Journal::default();
    store.apply(&journal, &batch_of(&packet(1, [1, 2], &json!({})))).unwrap();
    assert!(store.take_ended().is_empty());
    store.watch_ends();
    store.apply(&journal, &batch_of(&[start(started(2, 3), &[])])).unwrap();
    assert!(store.take_ended().is_empty());
    let both: Vec<Framed> =
        packet(3, [4, 5], &json!({})).into_iter().chain([end(ended(2, 6), &[])]).collect();
    store.apply(&journal, &batch_of(&both)).unwrap();
    let mut found = Vec::new();
    let ended = store.take_ended();
    store.packets_that_ended(&ended, |packet| found.push(packet.task_id)).unwrap();
    found.sort();
    assert_eq!(found, [2, 3].map(|number| task_id(number).to_string()));
    assert!(store.take_ended().is_empty());
}
