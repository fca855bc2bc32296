#![deny(unused_variables)]

use telemetry::task;

#[task]
fn ignore(x: i64, y: i64) -> i64 {
    x
}

fn main() {}
