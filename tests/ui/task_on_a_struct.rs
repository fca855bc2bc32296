use telemetry::task;

#[task]
pub struct Point {
    pub x: u32,
}

fn main() {}
