use telemetry::task;

type Alias = i64;

#[task(outputs("a"))]
fn double(x: i64) -> Alias {
    2 * x
}

fn main() {}
