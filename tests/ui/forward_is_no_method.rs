use telemetry::forward;

#[forward(tags("a"))]
fn run(xs: &[f32]) -> f32 {
    xs[0]
}

fn main() {
    run(&[1.0]);
}
