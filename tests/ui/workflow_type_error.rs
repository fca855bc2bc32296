use telemetry::workflow;

#[workflow]
fn main() -> Result<(), String> {
    Err(5)
}
