use telemetry::task;

struct Counter(u32);

#[task(name = "counter", skip(ad), level = data)]
impl Counter {
    fn add(&mut self, n: u32) {
        self.0 += n;
    }
}

fn main() {}
