use telemetry::task;

struct Counter(u32);

impl Counter {
    #[task(skip(self))]
    fn add(&mut self, n: u32) {
        self.0 += n;
    }
}

fn main() {}
