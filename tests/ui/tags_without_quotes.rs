use telemetry::task;

#[task(tags(io, 3))]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
