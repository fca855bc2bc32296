use telemetry::task;

#[task(output = "y")]
fn forget(x: i64) {
    let _ = x;
}

fn main() {}
