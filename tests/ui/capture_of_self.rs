struct Sender(u8);

impl Sender {
    #[telemetry::task(capture(inner = self.0))]
    fn send(&self) -> u8 {
        self.0
    }
}

fn main() {}
