use telemetry::task;

#[task(parent = 3)]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
