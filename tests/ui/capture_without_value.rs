use telemetry::task;

#[task(capture(length))]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
