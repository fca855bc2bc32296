use telemetry::task;

#[task]
fn double(x: i64) -> i64 {
    2 * x;
}

fn main() {}
