use telemetry::task;

#[task(level = telemtry)]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
