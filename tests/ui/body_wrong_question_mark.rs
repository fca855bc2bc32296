use telemetry::task;

#[task]
fn parse(text: &str) -> i64 {
    text.parse()?
}

fn main() {}
