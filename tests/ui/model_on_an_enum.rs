use telemetry::model;

#[model]
pub enum Net {
    Small,
}

fn main() {}
