//! The integration tests: one binary, one module a topic.

mod recording;
mod tidy;
