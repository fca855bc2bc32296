use telemetry::task;

#[task(level = 3)]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
