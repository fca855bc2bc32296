use telemetry::workflow;

#[workflow("demo", name = "demo")]
fn main() {}
