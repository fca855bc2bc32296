use telemetry::task;

#[task(tags("io", "io"), tag("x"))]
fn send(text: &str) -> usize {
    text.len()
}

fn main() {}
