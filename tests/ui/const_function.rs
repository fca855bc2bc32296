use telemetry::task;

#[task]
const fn double(x: i64) -> i64 {
    2 * x
}

const FOUR: i64 = double(2);

fn main() {}
