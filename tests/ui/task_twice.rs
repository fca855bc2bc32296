use telemetry::task;

#[task]
#[task(level = data)]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
