//! Tasks that are neither cargo nor a test.
fn main() {}
