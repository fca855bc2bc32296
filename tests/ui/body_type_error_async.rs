use telemetry::task;

#[task]
async fn double(x: i64) -> i64 {
    let y = 2 * x;
    format!("{y}")
}

fn main() {}
