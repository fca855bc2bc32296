use telemetry::workflow;

#[workflow]
#[track_caller]
fn demo() {}

fn main() {}
