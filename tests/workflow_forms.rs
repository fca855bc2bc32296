//! `#[workflow]` on functions of all kinds. A process of its own, because workflows start the recorder by themselves.

#[path = "forms/helpers.rs"]
#[expect(dead_code, reason = "shared with the other forms")]
mod helpers;

use telemetry::{Recorder, Settings, task, workflow};

use helpers::{block_on, is_send, pause};

#[task]
fn step(x: u8) -> u8 {
    x + 1
}

#[workflow("named", campaign = "tests", description = "adds one", subtype = "test")]
fn with_options((x, _): (u8, u8), mut values: Vec<u8>) -> Result<usize, String> {
    values.push(step(x));
    if values.len() > 2 {
        return Err("too many".to_owned());
    }
    Ok(values.len())
}

#[workflow]
async fn later(x: u8) -> Option<u8> {
    pause().await;
    let next = x.checked_add(1)?;
    Some(step(next))
}

#[workflow(name = "outer")]
fn outer(x: u8) -> u8 {
    inner();
    x
}

#[workflow]
fn inner() {
    step(1);
}

#[test]
fn workflows_return_what_their_functions_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.store.path = folder.path().join("provenance.db");
    let _recorder = Recorder::start(settings).unwrap();
    assert_eq!(with_options((1, 2), vec![]), Ok(1));
    assert_eq!(with_options((1, 2), vec![1, 2]), Err("too many".to_owned()));
    assert_eq!(block_on(is_send(later(1))), Some(3));
    assert_eq!(block_on(later(255)), None);
    assert_eq!(outer(1), 1);
}
