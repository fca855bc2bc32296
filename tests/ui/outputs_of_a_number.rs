use telemetry::task;

#[task(outputs("a", "b"))]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
