use telemetry::task;

#[task(skip(x, x))]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
