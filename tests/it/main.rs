//! The integration tests: one binary, one module a topic.

mod bad_input;
mod bodies;
mod bounds;
mod context;
mod defects;
mod events;
mod evil;
mod left_out;
mod loads;
mod naughty;
mod options;
mod outside;
mod pipeline;
mod processes;
mod programs;
mod quickstart;
mod readings;
mod recording;
mod reload;
mod rules;
mod sampling;
mod secrets;
mod storm;
mod tap;
mod tidy;
