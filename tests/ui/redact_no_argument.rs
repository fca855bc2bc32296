use telemetry::task;

#[task(redact(secrte, other))]
fn send(secret: &str) -> usize {
    secret.len()
}

fn main() {}
