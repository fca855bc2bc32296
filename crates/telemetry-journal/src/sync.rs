//! The atomics of a lane: the processor's, or those of loom, which tries every order that they allow, or of shuttle,
//! which draws some.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(all(test, loom))]
pub(crate) use loom::{sync::Arc, thread};
#[cfg(all(test, shuttle))]
pub(crate) use shuttle::{sync::Arc, thread};
