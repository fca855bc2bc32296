use telemetry::task;

#[task]
const FOUR: i64 = 4;

fn main() {}
