use telemetry::task;

struct Counter(u32);

#[task(level = data)]
impl Counter {
    fn add(&mut self, n: u32) -> u32 {
        self.0 += n;
        "five"
    }
}

fn main() {}
