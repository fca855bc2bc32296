//! The store from outside: records in, views out.
#![expect(clippy::unwrap_used, reason = "what a test cannot do is a failed test, in its helpers too")]

mod answers;
mod critical;
mod events;
mod exchange;
mod files;
mod harness;
mod left_out;
mod lineage;
mod merging;
mod plans;
mod reading;
mod sessions;
