//! Every order that the memory model allows: `cargo xtask torture loom`.

use super::Role::{self, Drains, Produces, ProducesAndReleases, Watches, WatchesFromTheFirst};
use super::play_once;

/// The first begins: loom forgets that a thread read a word once another one did, so that who reads and then
/// writes must be first to be interrupted everywhere.
///
/// What would take hours is tried with so many interruptions of a thread at the most: `preemptions`.
fn play(roles: &'static [Role], preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(preemptions);
    model.check(move || play_once(roles));
}

/// A producer, with the drain in its pauses, overwrites what the tap reads.
#[test]
fn a_tap_is_overrun_and_knows_it() {
    play(&[ProducesAndReleases(3), WatchesFromTheFirst], Some(2));
}

/// A producer and a drain hand every frame over once, in order, and free the space only when it is read.
#[test]
fn a_drain_gets_every_frame_once() {
    play(&[Produces(4), Drains(2)], None);
}

#[test]
fn a_producer_a_drain_and_a_tap() {
    play(&[Produces(3), Drains(1), Watches(1)], Some(2));
}

#[test]
fn a_drain_a_producer_and_a_tap() {
    play(&[Drains(1), Produces(3), Watches(1)], None);
}

#[test]
fn a_tap_a_producer_and_a_drain() {
    play(&[Watches(1), Produces(3), Drains(1)], None);
}
