#![deny(unused_must_use)]

use telemetry::task;

#[task]
#[must_use]
fn double(x: i64) -> i64 {
    2 * x
}

fn main() {
    double(2);
}
