use telemetry::task;

#[task(name = "a", skip_all, name = "b")]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {}
