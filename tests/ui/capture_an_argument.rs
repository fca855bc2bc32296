use telemetry::task;

#[task(capture(text = 1, size = 2, size = 3))]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
