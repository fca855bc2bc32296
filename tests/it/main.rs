//! The integration tests: one binary, one module a topic.

mod bad_input;
mod bodies;
mod bounds;
mod context;
mod defects;
mod evil;
mod hosts;
mod left_out;
mod life_cycle;
mod loads;
mod naughty;
mod options;
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
mod sessions;
mod storage;
mod storm;
mod tidy;
