use telemetry::task;

#[task(output = "pair", outputs("a", "b"))]
fn split(x: i64) -> (i64, i64) {
    (x, x)
}

fn main() {}
