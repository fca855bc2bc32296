use telemetry::model;

#[model(skip(layr), nmae = "net")]
struct Net {
    layer: u8,
}

fn main() {
    let _ = Net { layer: 1 }.layer;
}
