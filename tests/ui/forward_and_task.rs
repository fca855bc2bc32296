use telemetry::{forward, model, task};

#[model]
struct Net;

impl Net {
    #[forward]
    #[task]
    fn run(&self, xs: &[f32]) -> f32 {
        xs[0]
    }
}

fn main() {
    Net.run(&[1.0]);
}
