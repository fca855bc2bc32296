use telemetry::task;

#[task(nmae = "x", skip(z), skip_all, output = "y", outputs("a", "b"), level = max)]
const fn forget(x: i64) {
    let _ = x;
}

fn main() {}
