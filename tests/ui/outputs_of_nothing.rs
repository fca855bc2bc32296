use telemetry::task;

#[task(outputs("a", "b"))]
fn forget(x: i64) {
    let _ = x;
}

fn main() {}
