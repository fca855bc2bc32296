use telemetry::{forward, model};

#[model]
struct Net;

impl Net {
    #[forward]
    fn run(self: Box<Self>, xs: &[f32]) -> f32 {
        xs[0]
    }
}

fn main() {
    Box::new(Net).run(&[1.0]);
}
