//! The integration tests: one binary, one module a topic.

mod bodies;
mod defects;
mod programs;
mod quickstart;
mod recording;
mod tidy;
