//! `impl Trait` in both places.

use std::fmt::{Debug, Display};

use telemetry::task;

use crate::helpers::check;

#[task]
fn evens(n: u8) -> impl Iterator<Item = u8> + Debug + Clone {
    (0..n).step_by(2)
}

#[task]
fn large(values: &[u8]) -> impl Iterator<Item = &u8> {
    values.iter().filter(|value| **value > 1)
}

#[task]
fn adder(n: u8) -> impl Fn(u8) -> u8 {
    move |x| x + n
}

#[task]
fn counted(n: u8) -> Result<impl Iterator<Item = u8>, String> {
    let limit: u8 = "9".parse().map_err(|error: std::num::ParseIntError| error.to_string())?;
    if n > limit {
        return Err(format!("{n} is too many"));
    }
    Ok(0..n)
}

#[task]
fn shown(value: impl Display + Copy) -> impl Display {
    format!("<{value}>")
}

#[test]
fn opaque_types_are_returned() {
    check(
        r#"
evens FINISHED {"n":5} → {"result":"StepBy { iter: 0..3, step_minus_one: 1, first_take: true }"}
large FINISHED {"values":[1,2]} → {"result":"Filter { iter: Iter([1, 2]) }"}
adder FINISHED {"n":1} → {"result":{"$type":"forms::opaque::adder::{{closure}}::{{closure}}"}}
counted FINISHED {"n":3} → {"start":0,"end":3}
counted ERROR {"n":10} err: 10 is too many
shown FINISHED {"value":{"$type":"i32"}} → {"result":"<1>"}
"#,
        || {
            assert_eq!(evens(5).collect::<Vec<_>>(), [0, 2, 4]);
            assert_eq!(large(&[1, 2]).count(), 1);
            assert_eq!(adder(1)(2), 3);
            assert_eq!(counted(3).unwrap().count(), 3);
            assert_eq!(counted(10).err().unwrap(), "10 is too many");
            assert_eq!(shown(1).to_string(), "<1>");
        },
    );
}
