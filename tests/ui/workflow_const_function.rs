use telemetry::workflow;

#[workflow]
const fn demo() {}

fn main() {}
