use telemetry::task;

#[task]
fn consume(names: Vec<String>) -> usize {
    drop(names);
    names.len()
}

fn main() {}
