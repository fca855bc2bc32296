//! The smallest program that records: `cargo run --example first`, then `telemetry ls`.
use telemetry::{task, workflow};

#[task(output = "y")]
fn mult_two(x: i64) -> i64 {
    2 * x
}

#[task]
fn outer(n: i64) -> Result<i64, String> {
    let y = mult_two(n);
    if y > 50 { Err(format!("{y} is too much")) } else { Ok(y) }
}

#[workflow(name = "demo")]
fn main() {
    let _ = outer(21);
    let _ = outer(30);
}
