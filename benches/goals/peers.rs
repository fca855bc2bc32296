//! Beside goal 1: a task of level `data` against a span or task of peers that the goal does not name.
//!
//! Each is a process of its own. Ours has more to do than they: it records the result too, and the row is on disk after
//! a `kill -9`.

use std::error::Error;

use crate::data::burst;
use crate::options::Options;
use crate::recording::Recording;
use crate::report::Report;
use crate::rounds::Rounds;
use crate::script::Script;

const ROUNDS: usize = 101;
/// Of the peers in Python, which take milliseconds a task.
const ROUNDS_SLOW: usize = 7;

const MLFLOW: &str = include_str!("mlflow_burst.py");

const RUST: [(&str, &str); 3] = [
    ("json", "data, burst / tracing with tracing-subscriber, a line of JSON a span into a sink"),
    ("opentelemetry", "data, burst / opentelemetry_sdk, batches to an exporter that does nothing"),
    (
        "tracing-opentelemetry",
        "data, burst / tracing-opentelemetry, batches to an exporter that does nothing",
    ),
];

const PYTHON: [(&str, &str); 3] = [
    ("file", "data, burst / MLflow's child span, files"),
    ("sqlite", "data, burst / MLflow's child span, SQLite, before it is written"),
    ("sqlite-sync", "data, burst / MLflow's child span, SQLite, until it is written"),
];

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let recording = Recording::start()?;
    for (peer, name) in RUST {
        beside(&recording, name, options.rounds(ROUNDS), Script::peer(options, peer), report);
    }
    for (kind, name) in PYTHON {
        let script = Script::python(options, MLFLOW, kind);
        beside(&recording, name, options.rounds(ROUNDS_SLOW), script, report);
    }
    recording.stop();
    Ok(())
}

fn beside(
    recording: &Recording,
    name: &'static str,
    rounds: usize,
    peer: Result<Script, String>,
    report: &mut Report,
) {
    match peer {
        Ok(mut peer) => {
            let rounds = Rounds::alternate(rounds, || burst(recording), || peer.ask("burst"));
            report.ratio_without_limit(1, name, &rounds);
        }
        Err(why) => report.without_peer(1, name, &why),
    }
}
