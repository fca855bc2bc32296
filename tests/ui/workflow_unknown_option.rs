use telemetry::workflow;

#[workflow(name = "demo", campain = "c")]
fn main() {}
