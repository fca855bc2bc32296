use telemetry::task;

#[task(skip("x", y.z))]
fn double(x: i64, y: i64) -> i64 {
    x * y
}

fn main() {}
