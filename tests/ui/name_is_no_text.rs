use telemetry::task;

#[task(name = 5)]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
