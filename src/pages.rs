//! The pages of the documentation, so that their Rust examples are tests.

#[doc = include_str!("../README.md")]
mod readme {}

#[doc = include_str!("../docs/coming-from-flowcept.md")]
mod coming_from_flowcept {}

#[doc = include_str!("../docs/events.md")]
mod events {}
#[doc = include_str!("../docs/models.md")]
mod models {}
#[doc = include_str!("../docs/sessions.md")]
mod sessions {}

#[doc = include_str!("../docs/sql.md")]
mod sql {}

#[doc = include_str!("../docs/task.md")]
mod task {}

#[doc = include_str!("../docs/telemetry.md")]
mod telemetry {}
