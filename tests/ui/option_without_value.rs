use telemetry::task;

#[task(name, output =)]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
