//! The integration tests: one binary, one module a topic.

mod bad_input;
mod bodies;
mod context;
mod defects;
mod loads;
mod options;
mod processes;
mod programs;
mod quickstart;
mod readings;
mod recording;
mod storm;
mod tidy;
