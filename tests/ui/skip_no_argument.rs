use telemetry::task;

#[task(skip(widht, depth))]
fn area(width: u32, height: u32) -> u32 {
    width * height
}

fn main() {}
