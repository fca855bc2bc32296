use telemetry::workflow;

#[workflow(skip_all)]
fn main() {}
