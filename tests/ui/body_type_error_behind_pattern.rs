use telemetry::task;

#[task]
fn sum((x, y): (i64, i64)) -> i64 {
    let z = x + y;
    format!("{z}")
}

fn main() {}
