use telemetry::task;

#[task(crate = "telemetry")]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
