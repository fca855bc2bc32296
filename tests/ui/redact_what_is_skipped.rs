use telemetry::task;

#[task(skip(secret), redact(secret))]
fn send(secret: &str) -> usize {
    secret.len()
}

fn main() {}
