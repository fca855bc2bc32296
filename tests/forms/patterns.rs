//! Patterns in place of argument names.

use std::cell::RefCell;

use telemetry::task;

use crate::helpers::check;

struct Point {
    x: u8,
    y: u8,
}

struct Wrapped<T>(T);

#[task]
fn tuple((x, mut y): (u8, u8), z: u8) -> u8 {
    y += 1;
    x + y + z
}

#[task(skip(y))]
fn structs(Point { x, y, .. }: Point, Wrapped(z): Wrapped<u8>) -> u8 {
    x + y + z
}

#[task]
fn references(&x: &[u8; 9], &(a, ref b): &(u8, String)) -> usize {
    x.len() + usize::from(a) + b.len()
}

#[task]
fn by_reference(ref x: String, ref mut y: String) -> usize {
    y.push('a');
    x.len() + y.len()
}

#[task]
fn slices([first, .., last]: [u8; 3], all @ [_, second]: [u8; 2]) -> u8 {
    first + last + second + all[0]
}

#[task]
fn wildcards(_: u8, mut x: Vec<u8>, _: String) -> Vec<u8> {
    x.push(1);
    x
}

#[task]
fn last_expression_borrows((cell, _): (RefCell<u8>, u8)) -> u8 {
    *cell.borrow()
}

#[task]
fn diverging((leave, _): (bool, u8)) -> u8 {
    if leave {
        return 1;
    }
    unreachable!()
}

#[test]
fn patterns_bind_what_they_did() {
    check(
        r#"
tuple FINISHED {"x":1,"y":2,"z":3} → {"result":7}
structs FINISHED {"x":1,"z":3} → {"result":6}
references FINISHED {"x":[0,0,0,0,0,0,0,0,0],"a":2,"b":"abc"} → {"result":14}
by_reference FINISHED {"x":"a","y":"b"} → {"result":3}
slices FINISHED {"first":1,"last":3,"all":[4,5],"second":5} → {"result":13}
wildcards FINISHED {"x":[2]} → {"result":[2,1]}
last_expression_borrows FINISHED {"cell":1} → {"result":1}
diverging FINISHED {"leave":true} → {"result":1}
"#,
        || {
            assert_eq!(tuple((1, 2), 3), 7);
            assert_eq!(structs(Point { x: 1, y: 2 }, Wrapped(3)), 6);
            assert_eq!(references(&[0; 9], &(2, "abc".to_owned())), 14);
            assert_eq!(by_reference("a".to_owned(), "b".to_owned()), 3);
            assert_eq!(slices([1, 2, 3], [4, 5]), 13);
            assert_eq!(wildcards(1, vec![2], String::new()), [2, 1]);
            assert_eq!(last_expression_borrows((RefCell::new(1), 2)), 1);
            assert_eq!(diverging((true, 1)), 1);
        },
    );
}
