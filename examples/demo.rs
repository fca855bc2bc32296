//! The program of the README: `cargo run --example demo`, then `telemetry ls`.

use telemetry::{task, workflow};

#[task(output = "y")]
fn mult_two(x: i64) -> i64 {
    2 * x
}

#[workflow(name = "demo")]
fn main() {
    let y = mult_two(21);
    assert_eq!(y, 42);
}
