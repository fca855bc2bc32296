//! The integration tests: one binary, one module a topic.

mod quickstart;
mod recording;
mod tidy;
