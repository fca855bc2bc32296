//! The order in which things are dropped is the one of the function without the attribute.

use std::future::Future;
use std::pin::Pin;

use telemetry::{task, testing};

use crate::helpers::{Noisy, block_on, note, pause, poll_once, trace};

/// Makes one module with the attribute and one without.
macro_rules! twice {
    ($($item:item)*) => {
        #[expect(clippy::needless_pass_by_value, reason = "what becomes of the arguments is the question")]
        mod bare {
            use super::*;
            $($item)*
        }
        mod recorded {
            use super::*;
            $(#[task] $item)*
        }
    };
}

struct Owner {
    first: Noisy,
    _second: Noisy,
}

fn owner() -> Owner {
    Owner { first: Noisy("first"), _second: Noisy("second") }
}

fn pair(left: &'static str, right: &'static str) -> (Noisy, Noisy) {
    (Noisy(left), Noisy(right))
}

twice! {
    pub(super) fn plain(a: Noisy, b: Noisy, c: Noisy) {
        let _local = Noisy("local");
        drop(b);
        note("body");
        let _ = (&a, &c);
    }

    pub(super) fn wildcards(_: Noisy, a: Noisy, _: Noisy) {
        let _ = &a;
        note("body");
    }

    pub(super) fn patterns((a, _): (Noisy, Noisy), b: Noisy, (_, c): (Noisy, Noisy)) -> u8 {
        let _ = (&a, &b, &c);
        note("body");
        1
    }

    pub(super) fn early(a: Noisy, leave: bool) -> Option<Noisy> {
        let _local = Noisy("local");
        if leave {
            return None;
        }
        Some(a)
    }

    pub(super) async fn futures(a: Noisy, b: Noisy, c: Noisy) {
        let _local = Noisy("local");
        pause().await;
        note("body");
        let _ = (&b, &a, &c);
    }

    pub(super) async fn futures_of_patterns((a, _): (Noisy, Noisy), _: Noisy, (_, c): (Noisy, Noisy), d: Noisy) {
        pause().await;
        note("body");
        let _ = (&c, &a, &d);
    }

    pub(super) async fn futures_unused(_a: Noisy, b: Noisy, _c: Noisy) {
        pause().await;
        drop(b);
        note("body");
    }
}

impl Owner {
    #[task]
    fn part(self, b: Noisy) -> usize {
        note("body");
        let _ = &b;
        self.first.0.len()
    }

    #[expect(clippy::needless_pass_by_value, reason = "what becomes of the arguments is the question")]
    fn bare_part(self, b: Noisy) -> usize {
        note("body");
        let _ = &b;
        self.first.0.len()
    }

    #[task]
    async fn later(self, b: Noisy, c: Noisy) -> usize {
        let _ = (&c, &b);
        pause().await;
        note("body");
        self.first.0.len()
    }

    async fn bare_later(self, b: Noisy, c: Noisy) -> usize {
        let _ = (&c, &b);
        pause().await;
        note("body");
        self.first.0.len()
    }
}

macro_rules! same {
    ($function:ident($($argument:expr),*)) => {
        assert_eq!(trace(|| recorded::$function($($argument),*)), trace(|| bare::$function($($argument),*)));
    };
}

macro_rules! same_future {
    ($function:ident($($argument:expr),*)) => {
        same!($function($($argument),*));
        let run = [block_on_unit, poll_once_unit];
        for run in run {
            assert_eq!(
                trace(|| run(Box::pin(recorded::$function($($argument),*)))),
                trace(|| run(Box::pin(bare::$function($($argument),*)))),
            );
        }
    };
}

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

fn block_on_unit(mut future: Boxed) {
    block_on(future.as_mut());
    note("ready");
}

fn poll_once_unit(mut future: Boxed) {
    poll_once(future.as_mut());
    note("polled");
}

#[test]
fn functions_drop_as_before() {
    testing::record(|| {
        same!(plain(Noisy("a"), Noisy("b"), Noisy("c")));
        same!(wildcards(Noisy("1"), Noisy("2"), Noisy("3")));
        same!(patterns(pair("a", "1"), Noisy("b"), pair("2", "c")));
        same!(early(Noisy("a"), true));
        same!(early(Noisy("a"), false));
    });
}

#[test]
fn futures_drop_as_before() {
    testing::record(|| {
        same_future!(futures(Noisy("a"), Noisy("b"), Noisy("c")));
        same_future!(futures_of_patterns(pair("a", "1"), Noisy("2"), pair("3", "c"), Noisy("d")));
        same_future!(futures_unused(Noisy("a"), Noisy("b"), Noisy("c")));
    });
}

#[test]
fn methods_drop_as_before() {
    testing::record(|| {
        assert_eq!(trace(|| owner().part(Noisy("b"))), trace(|| owner().bare_part(Noisy("b"))));
        assert_eq!(
            trace(|| block_on(owner().later(Noisy("b"), Noisy("c")))),
            trace(|| block_on(owner().bare_later(Noisy("b"), Noisy("c")))),
        );
    });
}
