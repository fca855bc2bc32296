//! Methods: every kind of `self`, in impls and traits.

use std::fmt::Debug;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use telemetry::task;

use crate::helpers::{block_on, check, is_send, pause};

#[derive(Debug, Clone, Default)]
struct Named {
    name: String,
    parts: (String, String),
}

impl Named {
    const SUFFIX: &str = "!";

    #[task]
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    #[task]
    fn shown(&self, before: &str) -> String {
        format!("{before}{}{}", self.name, Self::SUFFIX)
    }

    #[task]
    fn name_mut(&mut self) -> &mut String {
        self.name.push('x');
        &mut self.name
    }

    #[task]
    fn name(&self) -> &str {
        &self.name
    }

    #[task]
    fn into_part(self) -> String {
        self.parts.0
    }

    #[task]
    fn renamed(mut self, (name, _): (&str, u8)) -> Self {
        self.name.replace_range(.., name);
        self
    }

    #[task]
    fn boxed(self: Box<Self>) -> String {
        self.name
    }

    #[task]
    fn shared(self: Arc<Self>, other: &Rc<Self>) -> usize {
        Arc::strong_count(&self) + Rc::strong_count(other)
    }

    #[task]
    fn pinned(self: Pin<&mut Self>) -> usize {
        self.name.len()
    }

    #[task]
    async fn later(&self, x: u8) -> usize {
        pause().await;
        self.name.len() + usize::from(x)
    }

    #[task]
    async fn later_mut(&mut self) -> &mut String {
        pause().await;
        &mut self.name
    }

    #[task]
    async fn later_by_value(mut self, x: char) -> String {
        self.name.push(x);
        pause().await;
        self.name
    }
}

#[test]
fn every_kind_of_self() {
    check(
        r#"
new FINISHED {"name":"a"} → {"result":"Named { name: \"a\", parts: (\"\", \"\") }"}
shown FINISHED {"before":"<"} → {"result":"<a!"}
name_mut FINISHED → {"result":"ax"}
name FINISHED → {"result":"axy"}
renamed FINISHED {"name":"b"} → {"result":"Named { name: \"b\", parts: (\"\", \"\") }"}
pinned FINISHED → {"result":1}
shared FINISHED {"other":"Named { name: \"\", parts: (\"\", \"\") }"} → {"result":2}
boxed FINISHED → {"result":"b"}
later FINISHED {"x":1} → {"result":2}
later_mut FINISHED → {"result":"b"}
later_by_value FINISHED {"x":"d"} → {"result":"bcd"}
into_part FINISHED → {"result":""}
"#,
        || {
            let mut named = Named::new("a");
            assert_eq!(named.shown("<"), "<a!");
            named.name_mut().push('y');
            assert_eq!(named.name(), "axy");
            named = named.renamed(("b", 1));
            assert_eq!(Pin::new(&mut named).pinned(), 1);
            assert_eq!(Arc::new(named.clone()).shared(&Rc::new(Named::default())), 2);
            assert_eq!(Box::new(named.clone()).boxed(), "b");
            assert_eq!(block_on(is_send(named.later(1))), 2);
            block_on(is_send(named.later_mut())).push('c');
            assert_eq!(block_on(is_send(named.clone().later_by_value('d'))), "bcd");
            assert_eq!(named.into_part(), "");
        },
    );
}

#[derive(Debug)]
struct Holder<T>(T);

impl<T: Copy + Debug> Holder<T> {
    #[task]
    fn new(value: T) -> Self {
        Self(value)
    }

    #[task]
    fn of_pair((value, _): (T, u8)) -> Option<T> {
        Some(value)
    }

    #[task]
    fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    #[task]
    fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.0)
    }

    #[task]
    fn both<U: Into<T>>(&self, other: U) -> [T; 2] {
        [self.0, other.into()]
    }

    #[task]
    async fn later<U: Debug>(&self, other: U) -> (T, U) {
        pause().await;
        (self.0, other)
    }
}

#[test]
fn impls_with_generics() {
    check(
        r#"
new FINISHED {"value":"1"} → {"result":"Holder(1)"}
get_mut FINISHED → {"result":"1"}
iter FINISHED → {"result":"Once { inner: IntoIter { inner: Item { opt: Some(2) } } }"}
of_pair FINISHED {"value":"1"} → {"result":"Some(1)"}
both FINISHED {"other":{"$type":"u8"}} → {"result":"[2, 3]"}
later FINISHED {"other":"\"x\""} → {"result":"(2, \"x\")"}
"#,
        || {
            let mut holder = Holder::new(1_u16);
            *holder.get_mut() += 1;
            assert_eq!(holder.iter().sum::<u16>(), 2);
            assert_eq!(Holder::of_pair((1, 2)), Some(1));
            assert_eq!(holder.both(3_u8), [2, 3]);
            assert_eq!(block_on(is_send(holder.later("x"))), (2, "x"));
        },
    );
}

trait Service {
    const NUMBER: u8;

    #[task]
    fn with_default(&self, x: u8) -> u8 {
        x + Self::NUMBER
    }

    #[task]
    fn consumed(self) -> u8
    where
        Self: Sized,
    {
        Self::NUMBER
    }

    fn required(&self, x: u8) -> Result<u8, String>;
    fn numbers(&self) -> impl Iterator<Item = u8>;
    async fn later(&self, x: u8) -> u8;
}

impl Service for Named {
    const NUMBER: u8 = 7;

    #[task]
    fn required(&self, x: u8) -> Result<u8, String> {
        x.checked_add(Self::NUMBER).ok_or_else(|| self.name.clone())
    }

    #[task]
    fn numbers(&self) -> impl Iterator<Item = u8> {
        0..Self::NUMBER
    }

    #[task]
    async fn later(&self, x: u8) -> u8 {
        pause().await;
        x + Self::NUMBER
    }
}

#[test]
fn traits_and_their_implementations() {
    check(
        r#"
new FINISHED {"name":"full"} → {"result":"Named { name: \"full\", parts: (\"\", \"\") }"}
with_default FINISHED {"x":1} → {"result":8}
required FINISHED {"x":1} → {"result":8}
required ERROR {"x":255} err: full
numbers FINISHED → {"start":0,"end":7}
later FINISHED {"x":1} → {"result":8}
consumed FINISHED → {"result":7}
"#,
        || {
            let named = Named::new("full");
            assert_eq!(named.with_default(1), 8);
            assert_eq!(named.required(1), Ok(8));
            assert_eq!(named.required(255), Err("full".to_owned()));
            assert_eq!(named.numbers().count(), 7);
            assert_eq!(block_on(Service::later(&named, 1)), 8);
            assert_eq!(named.consumed(), 7);
        },
    );
}

macro_rules! made {
    ($name:ident, $self:ident, $value:expr) => {
        impl Named {
            #[task]
            fn $name(&$self) -> usize {
                $value
            }
        }
    };
}

made!(made_by_macro, self, self.name.len());

#[test]
fn methods_made_by_macros() {
    check(
        r#"
new FINISHED {"name":"abc"} → {"result":"Named { name: \"abc\", parts: (\"\", \"\") }"}
made_by_macro FINISHED → {"result":3}
"#,
        || {
            assert_eq!(Named::new("abc").made_by_macro(), 3);
        },
    );
}

#[derive(Debug, Default)]
struct Counter {
    count: u32,
}

#[task(skip(count), level = data)]
impl Counter {
    const STEP: u32 = 2;

    const fn zero() -> Self {
        Self { count: 0 }
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn add(&mut self, times: u32) -> &mut Self {
        self.count += times * Self::STEP;
        self
    }

    #[task(name = "later", output = "count")]
    async fn add_later(mut self, times: u32) -> u32 {
        pause().await;
        self.add(times).count()
    }
}

#[test]
fn whole_impl_blocks() {
    check(
        r#"
add FINISHED {"times":1} → {"result":"Counter { count: 2 }"}
later FINISHED {"times":2} → {"count":6}
└─ add FINISHED {"times":2} → {"result":"Counter { count: 6 }"}
"#,
        || {
            let mut counter = Counter::zero();
            assert_eq!(counter.add(1).count(), 2);
            assert_eq!(block_on(counter.add_later(2)), 6);
        },
    );
}
