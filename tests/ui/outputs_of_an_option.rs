use telemetry::task;

#[task(outputs("a", "b"))]
fn split(x: i64) -> Option<(i64, i64)> {
    Some((x, x))
}

fn main() {}
