//! The integration tests: one binary, one module a topic.

mod bad_input;
mod bodies;
mod defects;
mod loads;
mod processes;
mod programs;
mod quickstart;
mod readings;
mod recording;
mod tidy;
