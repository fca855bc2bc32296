use telemetry::task;

#[task(ouput = "y")]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
