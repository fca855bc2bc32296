use telemetry::task;

#[task(outputs("a", "b", "c"))]
fn split(x: i64) -> Result<(i64, i64), String> {
    Ok((x, x))
}

fn main() {}
