use telemetry::task;

trait Service {
    #[task]
    fn call(&self, x: i64) -> i64;
}

fn main() {}
