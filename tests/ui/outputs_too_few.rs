use telemetry::task;

#[task(outputs("a", "b"))]
fn split(x: i64) -> (i64, i64, i64) {
    (x, x, x)
}

fn main() {}
