use telemetry::forward;

struct Net;

impl Net {
    #[forward]
    fn forward(&self, xs: &[f32]) -> Vec<f32> {
        xs.to_vec()
    }
}

fn main() {
    Net.forward(&[1.0]);
}
