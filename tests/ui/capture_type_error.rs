use telemetry::task;

#[task(capture(length = text.lenght()))]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
