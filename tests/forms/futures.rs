//! Async functions, and functions that return futures.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Mutex;

use async_trait::async_trait;
use telemetry::task;

use crate::helpers::{block_on, check, is_send, pause, poll_once};

#[task]
async fn double(x: i64) -> i64 {
    pause().await;
    2 * x
}

#[task(outputs("low", "high"), skip(text))]
async fn parse(text: &str) -> Result<(i32, i32), Box<dyn Error + Send + Sync>> {
    let value: i32 = text.parse()?;
    pause().await;
    if value > 5 {
        return Err("too large".into());
    }
    Ok((value - 1, value + 1))
}

#[task]
async fn push(values: &mut Vec<u8>) {
    pause().await;
    values.push(1);
}

#[task]
async fn pushed(mut values: Vec<u8>) -> Vec<u8> {
    pause().await;
    values.push(1);
    values
}

#[task]
async fn first_mut(values: &mut [u8]) -> &mut u8 {
    pause().await;
    &mut values[0]
}

#[task]
async fn nested(x: i64) -> i64 {
    double(x).await + double(1).await
}

#[task]
async fn pattern((x, _): (u8, u8), mut y: u8, _: String) -> u8 {
    y += 1;
    pause().await;
    x + y
}

#[task]
async fn generic<T: Debug + Send>(value: T) -> T {
    pause().await;
    value
}

#[task]
async fn coerced(number: bool) -> Box<dyn Debug + Send> {
    if number { Box::new(1) } else { Box::new("text") }
}

#[task]
async fn opaque(n: u8) -> Result<impl Iterator<Item = u8>, String> {
    if n == 0 {
        Err("none".to_owned())?;
    }
    Ok(0..n)
}

#[task]
async fn not_shareable(cell: Cell<u8>) -> u8 {
    pause().await;
    cell.get()
}

#[task]
async fn last_expression_borrows(mutex: Mutex<u8>) -> u8 {
    *mutex.lock().expect("not poisoned")
}

#[test]
fn async_functions_stay_what_they_are() {
    check(
        r#"
double FINISHED {"x":2} → {"result":4}
parse FINISHED → {"low":1,"high":3}
parse ERROR err: too large
parse ERROR err: invalid digit found in string
push FINISHED {"values":[]}
first_mut FINISHED {"values":[1]} → {"result":1}
pushed FINISHED {"values":[2]} → {"result":[2,1]}
nested FINISHED {"x":1} → {"result":4}
├─ double FINISHED {"x":1} → {"result":2}
└─ double FINISHED {"x":1} → {"result":2}
pattern FINISHED {"x":1,"y":3} → {"result":5}
generic FINISHED {"value":"\"x\""} → {"result":"\"x\""}
coerced FINISHED {"number":true} → {"result":"1"}
opaque FINISHED {"n":2} → {"start":0,"end":2}
opaque ERROR {"n":0} err: none
not_shareable FINISHED {"cell":1} → {"result":1}
last_expression_borrows FINISHED {"mutex":1} → {"result":1}
"#,
        || {
            assert_eq!(block_on(is_send(double(2))), 4);
            assert_eq!(block_on(is_send(parse("2"))).unwrap(), (1, 3));
            assert_eq!(block_on(parse("6")).unwrap_err().to_string(), "too large");
            assert!(block_on(parse("x")).is_err());
            let mut values = vec![];
            block_on(is_send(push(&mut values)));
            *block_on(is_send(first_mut(&mut values))) += 1;
            assert_eq!(block_on(is_send(pushed(values))), [2, 1]);
            assert_eq!(block_on(is_send(nested(1))), 4);
            assert_eq!(block_on(is_send(pattern((1, 2), 3, String::new()))), 5);
            assert_eq!(block_on(is_send(generic("x"))), "x");
            assert_eq!(format!("{:?}", block_on(coerced(true))), "1");
            assert_eq!(block_on(opaque(2)).unwrap().count(), 2);
            assert_eq!(block_on(opaque(0)).err().unwrap(), "none");
            assert_eq!(block_on(is_send(not_shareable(Cell::new(1)))), 1);
            assert_eq!(block_on(is_send(last_expression_borrows(Mutex::new(1)))), 1);
        },
    );
}

#[task]
async fn never(text: &str) -> ! {
    pause().await;
    panic!("{text}")
}

#[task]
async fn endless() {
    pending::<()>().await;
}

#[test]
fn futures_may_panic_and_be_dropped() {
    check(
        r#"
never ERROR {"text":"boom"} panic: boom
endless CANCELLED
"#,
        || {
            let payload = catch_unwind(AssertUnwindSafe(|| block_on(never("boom")))).unwrap_err();
            assert_eq!(*payload.downcast::<String>().unwrap(), "boom");
            drop(endless());
            poll_once(endless());
        },
    );
}

#[task]
fn by_hand(x: u8, _not_in_the_future: Rc<u8>) -> impl Future<Output = u8> + Send {
    async move {
        pause().await;
        x + 1
    }
}

#[task(output = "y")]
fn boxed(text: &str) -> Pin<Box<dyn Future<Output = Result<u8, String>> + Send + '_>> {
    Box::pin(async move {
        let value: u8 = text.parse().map_err(|_| "no number".to_owned())?;
        pause().await;
        Ok(value)
    })
}

#[task]
fn from_elsewhere(x: i64) -> impl Future<Output = i64> {
    double(x)
}

#[test]
fn returned_futures_are_the_task() {
    check(
        r#"
by_hand FINISHED {"x":1} → {"result":2}
boxed FINISHED {"text":"3"} → {"y":3}
boxed ERROR {"text":"x"} err: no number
from_elsewhere FINISHED {"x":3} → {"result":{"$type":"telemetry_core::runtime::future::TaskFuture<forms::futures::double::{{closure}}, forms::futures::double::{{closure}}>"}}
double FINISHED {"x":3} → {"result":6}
"#,
        || {
            assert_eq!(block_on(is_send(by_hand(1, Rc::new(2)))), 2);
            assert_eq!(block_on(is_send(boxed("3"))), Ok(3));
            assert_eq!(block_on(boxed("x")), Err("no number".to_owned()));
            assert_eq!(block_on(from_elsewhere(3)), 6);
        },
    );
}

#[async_trait]
trait Service {
    async fn call(&self, x: u8) -> Result<u8, String>;

    #[task]
    async fn twice(&self, x: u8) -> u8
    where
        Self: Sync,
    {
        pause().await;
        2 * x
    }
}

#[async_trait]
impl Service for u8 {
    #[task]
    async fn call(&self, x: u8) -> Result<u8, String> {
        pause().await;
        self.checked_add(x).ok_or_else(|| "full".to_owned())
    }
}

#[task]
#[async_trait]
impl Service for i8 {
    async fn call(&self, x: u8) -> Result<u8, String> {
        pause().await;
        Ok(x)
    }
}

#[test]
fn methods_of_async_traits() {
    check(
        r#"
call FINISHED {"x":2} → {"result":3}
call ERROR {"x":255} err: full
call FINISHED {"x":4} → {"result":4}
twice FINISHED {"x":5} → {"result":10}
"#,
        || {
            assert_eq!(block_on(is_send(1_u8.call(2))), Ok(3));
            assert_eq!(block_on(1_u8.call(255)), Err("full".to_owned()));
            assert_eq!(block_on(1_i8.call(4)), Ok(4));
            let service: &(dyn Service + Sync) = &1_u8;
            assert_eq!(block_on(is_send(service.twice(5))), 10);
        },
    );
}

/// An argument that is gone before the first pause.
#[task]
#[expect(clippy::large_types_passed_by_value, reason = "its size is the question")]
async fn gone(bytes: [u8; 1024]) -> u8 {
    let first = bytes[0];
    pause().await;
    first
}

#[expect(clippy::large_types_passed_by_value, reason = "its size is the question")]
async fn bare_gone(bytes: [u8; 1024]) -> u8 {
    let first = bytes[0];
    pause().await;
    first
}

/// What others expand still is an `async fn`. It runs beside tests that record into memory, so it records nothing.
#[task(level = "off")]
#[tokio::test]
async fn below_a_test_of_a_runtime() {
    tokio::task::yield_now().await;
}

async fn bare_double(x: i64) -> i64 {
    pause().await;
    2 * x
}

#[task]
#[expect(clippy::large_types_passed_by_value, reason = "its size is the question")]
async fn first(bytes: [u8; 1024]) -> u8 {
    pause().await;
    bytes[0]
}

#[expect(clippy::large_types_passed_by_value, reason = "its size is the question")]
async fn bare_first(bytes: [u8; 1024]) -> u8 {
    pause().await;
    bytes[0]
}

/// By how much a future may grow.
const MORE_BYTES_MAX: usize = 72;

#[test]
fn futures_grow_by_a_few_words_whatever_the_arguments_are() {
    let small = size_of_val(&double(1)) - size_of_val(&bare_double(1));
    let large = size_of_val(&first([0; 1024])) - size_of_val(&bare_first([0; 1024]));
    let gone = size_of_val(&gone([0; 1024])) - size_of_val(&bare_gone([0; 1024]));
    let most = small.max(large).max(gone);
    assert!(most <= MORE_BYTES_MAX, "{small}, {large} and {gone} bytes more");
}
