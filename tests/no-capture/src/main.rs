//! A program that would leave a database behind if it recorded.

#[telemetry::workflow(name = "demo")]
fn main() {
    println!("{}", telemetry_no_capture::attributed::whole(21));
}
