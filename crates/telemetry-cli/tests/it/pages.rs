//! x
use crate::fixture::*;
#[test]
fn look() {
    for arguments in [&["ls"][..], &["show"], &["show", "plain"], &["sql", "select * from tasks"], &["recover"], &["doctor"], &["ls","--json"], &["show","--json"],&["doctor","--json"]] {
        println!("$ {arguments:?}\n{}", masked(&telemetry(arguments)));
    }
    println!("{}", database().display());
}
