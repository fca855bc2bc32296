use telemetry::workflow;

#[workflow]
fn answer() -> u8 {
    "forty-two"
}

fn main() {}
