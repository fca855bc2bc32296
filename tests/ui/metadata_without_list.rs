use telemetry::task;

#[task(metadata = 3, group, subtype = io)]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
