struct Sender;

#[telemetry::task(group = 1, redact(x), capture(y = 2))]
impl Sender {
    fn send(&self, x: u8) -> u8 {
        x
    }
}

fn main() {}
