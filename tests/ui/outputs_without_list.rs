use telemetry::task;

#[task(outputs)]
fn split(x: i64) -> (i64, i64) {
    (x, x)
}

fn main() {}
