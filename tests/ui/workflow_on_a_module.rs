use telemetry::workflow;

#[workflow]
mod demo {}

fn main() {}
