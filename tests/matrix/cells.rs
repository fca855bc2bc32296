//! The cells: form of function × sync or async × what is returned × kind of `self` × pattern of the argument.
//!
//! Each level of macros makes one module a word; the last one turns the five words into a function, with the attribute
//! in the module `recorded` and without it in `bare`, and compares what the two do.

#![expect(clippy::boxed_local, reason = "a boxed `self` is one of the forms")]
#![expect(improper_ctypes_definitions, reason = "the forms of C have the same arguments as all others")]

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, UnwindSafe, catch_unwind, set_hook, take_hook};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// Forms × flows × outcomes × kinds of self × patterns.
pub(crate) const CELLS: usize = 5 * 2 * 5 * 6 * 7;
/// Goes on to the end, leaves early, panics.
const MODES: u8 = 3;
/// And for futures: dropped after a poll, and without one.
const CANCELLED: u8 = MODES;
const UNPOLLED: u8 = MODES + 1;

/// What was run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ran {
    pub(crate) cells: usize,
    /// Calls of functions with the attribute that come to their first statement.
    pub(crate) calls: usize,
}

/// Bytes, and which auto traits there are, of what an async function returns; nothing of a sync one.
type Facts = Option<(usize, [bool; 3])>;

thread_local! {
    static TRACE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static COMPLAINTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static RAN: Cell<Ran> = const { Cell::new(Ran { cells: 0, calls: 0 }) };
}

/// One at a time may listen to panics.
static TURN: Mutex<()> = Mutex::new(());

fn note(text: impl Into<String>) {
    TRACE.with_borrow_mut(|trace| trace.push(text.into()));
}

/// Notes its name when it is dropped.
#[derive(Debug)]
pub(crate) struct Noisy(&'static str);

impl Drop for Noisy {
    fn drop(&mut self) {
        note(self.0);
    }
}

#[derive(Debug)]
pub(crate) struct Pair {
    _left: Noisy,
    right: Noisy,
}

fn pair() -> Pair {
    Pair { _left: Noisy("left"), right: Noisy("right") }
}

async fn pause() {
    let mut paused = false;
    poll_fn(move |_| if std::mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending })
        .await;
}

/// Polls to the end, or gives up as the mode has it.
fn drive<F: Future<Output: Debug>>(future: F, mode: u8) -> Option<String> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let polls_max = match mode {
        UNPOLLED => 0,
        CANCELLED => 1,
        _ => usize::MAX,
    };
    for _ in 0..polls_max {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(shown(output));
        }
        note("pending");
    }
    None
}

/// An output as text, while what it borrows is still there.
fn shown(output: impl Debug) -> String {
    format!("{output:?}")
}

/// Everything that can be seen of a call: output or payload, where it panicked, and the order of what happened.
fn observe<R: Debug>(call: impl FnOnce() -> R) -> String {
    TRACE.take();
    let outcome = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(output) => format!("{output:?}"),
        Err(payload) => format!("panic {:?}", payload.downcast_ref::<String>()),
    };
    format!("{outcome} {:?}", TRACE.take())
}

/// Tells whether a type has an auto trait: the compiler prefers the method that needs no reference more.
struct Probe<T>(PhantomData<T>);

fn probe<T>(_: &T) -> Probe<T> {
    Probe(PhantomData)
}

macro_rules! probe {
    ($($has:ident $has_not:ident $method:ident $auto:ident;)*) => {
        $(
            trait $has {
                fn $method(&self) -> bool {
                    true
                }
            }
            impl<T: $auto> $has for Probe<T> {}
            trait $has_not {
                fn $method(&self) -> bool {
                    false
                }
            }
            impl<T> $has_not for &Probe<T> {}
        )*
    };
}

probe! {
    IsSend IsNotSend is_send Send;
    IsSync IsNotSync is_sync Sync;
    IsUnwindSafe IsNotUnwindSafe is_unwind_safe UnwindSafe;
}

/// Compares the two functions of a cell; what differs is collected, since a panic would be listened to.
fn compare(cell: &str, facts: [Facts; 2], more_bytes_max: usize, run: [&dyn Fn(u8) -> String; 2]) {
    let complain =
        |text: String| COMPLAINTS.with_borrow_mut(|complaints| complaints.push(format!("{cell}: {text}")));
    let [bare, recorded] = facts;
    if bare.map(|facts| facts.1) != recorded.map(|facts| facts.1) {
        complain(format!("auto traits {bare:?} {recorded:?}"));
    }
    if let (Some((bare, _)), Some((recorded, _))) = (bare, recorded)
        && recorded > bare + more_bytes_max
    {
        complain(format!("{recorded} bytes instead of {bare}"));
    }
    let (modes, calls) = if recorded.is_some() { (UNPOLLED + 1, UNPOLLED) } else { (MODES, MODES) };
    for mode in 0..modes {
        let (bare, recorded) = (run[0](mode), run[1](mode));
        if bare != recorded {
            complain(format!("mode {mode}\n  {bare}\n  {recorded}"));
        }
    }
    let ran = RAN.get();
    RAN.set(Ran { cells: ran.cells + 1, calls: ran.calls + usize::from(calls) });
}

/// Runs all cells; a future may be larger by so many bytes.
pub(crate) fn run_all(more_bytes_max: usize) -> Ran {
    let turn = TURN.lock().expect("no cell panics outside of its call");
    let hook = take_hook();
    set_hook(Box::new(|panic| note(format!("panicked at {:?}", panic.location().map(ToString::to_string)))));
    RAN.take();
    forms::check("", more_bytes_max);
    set_hook(hook);
    drop(turn);
    let complaints = COMPLAINTS.take();
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), complaints.join("\n"));
    RAN.get()
}

/// One module a word, each with what `$next` makes of the words so far.
macro_rules! level {
    ($next:ident $words:tt $($name:ident)*) => {
        $(
            pub(crate) mod $name {
                use super::*;
                $next! { $words $name }
            }
        )*

        pub(crate) fn check(above: &str, more_bytes_max: usize) {
            $($name::check(&format!("{above} {}", stringify!($name)), more_bytes_max);)*
        }
    };
}

macro_rules! by_flow {
    ([] $form:ident) => {
        level! { by_outcome [$form] sync future }
    };
}

macro_rules! by_outcome {
    ([$($words:ident)*] $flow:ident) => { level! { by_receiver [$($words)* $flow] plain result option never opaque } };
}

macro_rules! by_receiver {
    ([$($words:ident)*] $outcome:ident) => {
        level! { by_pattern [$($words)* $outcome] none value shared exclusive boxed pinned }
    };
}

macro_rules! by_pattern {
    ([$($words:ident)*] $receiver:ident) => {
        level! { cell [$($words)* $receiver] named mutable wild tuple fields reference not_send }
    };
}

/// Pattern, type and value of the argument.
macro_rules! cell {
    ($words:tt named) => {
        receiver! { $words [a] [Noisy] [Noisy("a")] [note(a.0);] }
    };
    ($words:tt mutable) => {
        receiver! { $words [mut a] [Noisy] [Noisy("a")] [a.0 = "changed"; note(a.0);] }
    };
    ($words:tt wild) => {
        receiver! { $words [_] [Noisy] [Noisy("a")] }
    };
    ($words:tt tuple) => {
        receiver! { $words [(a, _)] [(Noisy, Noisy)] [(Noisy("a"), Noisy("b"))] [drop(a);] }
    };
    ($words:tt fields) => {
        receiver! { $words [Pair { right, .. }] [Pair] [pair()] [note(right.0);] }
    };
    ($words:tt reference) => {
        receiver! { $words [&a] [&u8] [&7] [note(a.to_string());] }
    };
    ($words:tt not_send) => {
        receiver! { $words [a] [std::rc::Rc<Noisy>] [std::rc::Rc::new(Noisy("a"))] [note(a.0);] }
    };
}

/// The receiver, what the body does with it, and what the function is called on.
macro_rules! receiver {
    ([$form:ident $flow:ident $outcome:ident none] $($argument:tt)*) => { outcome! { [$form $flow $outcome] [] [] [] $($argument)* } };
    ([$form:ident $flow:ident $outcome:ident value] $($argument:tt)*) => {
        outcome! { [$form $flow $outcome] [self,] [note(self.part.0);] [owner()] $($argument)* }
    };
    ([$form:ident $flow:ident $outcome:ident shared] $($argument:tt)*) => {
        outcome! { [$form $flow $outcome] [&self,] [note(self.part.0);] [owner()] $($argument)* }
    };
    ([$form:ident $flow:ident $outcome:ident exclusive] $($argument:tt)*) => {
        outcome! { [$form $flow $outcome] [&mut self,] [self.part.0 = "self, changed";] [owner()] $($argument)* }
    };
    ([$form:ident $flow:ident $outcome:ident boxed] $($argument:tt)*) => {
        outcome! { [$form $flow $outcome] [self: Box<Self>,] [note(self.part.0);] [Box::new(owner())] $($argument)* }
    };
    ([$form:ident $flow:ident $outcome:ident pinned] $($argument:tt)*) => {
        outcome! {
            [$form $flow $outcome] [self: std::pin::Pin<&mut Self>,] [note(self.part.0);] [Box::pin(owner()).as_mut()]
            $($argument)*
        }
    };
}

/// What is returned, and how the body comes to it.
macro_rules! outcome {
    ([$form:ident $flow:ident plain] $($rest:tt)*) => {
        flow! { [$form $flow] [u8] [|mode| if mode == 1 { return 1 }] [2] $($rest)* }
    };
    ([$form:ident $flow:ident result] $($rest:tt)*) => {
        flow! { [$form $flow] [Result<u8, String>] [|mode| if mode == 1 { Err("early".to_owned())? }] [Ok(2)] $($rest)* }
    };
    ([$form:ident $flow:ident option] $($rest:tt)*) => {
        flow! { [$form $flow] [Option<u8>] [|mode| if mode == 1 { None? }] [Some(2)] $($rest)* }
    };
    ([$form:ident $flow:ident never] $($rest:tt)*) => {
        flow! { [$form $flow] [!] [|mode| if mode == 1 { panic!("early {mode}") }] [panic!("late")] $($rest)* }
    };
    ([$form:ident $flow:ident opaque] $($rest:tt)*) => {
        flow! { [$form $flow] [impl Debug] [|mode| if mode == 1 { return 1_u8 }] [2_u8] $($rest)* }
    };
}

/// How a call is made, and what is known about what it returns.
macro_rules! flow {
    ([$form:ident sync] [impl Debug] $($rest:tt)*) => { both! { $form [] [] [sync shown] [impl Debug] $($rest)* } };
    ([$form:ident sync] $($rest:tt)*) => { both! { $form [] [] [sync] $($rest)* } };
    ([$form:ident future] $($rest:tt)*) => { both! { $form [async] [pause().await;] [future] $($rest)* } };
}

/// The function twice, and the comparison.
macro_rules! both {
    ($form:ident $($rest:tt)*) => {
        pub(crate) mod bare {
            use super::*;
            $form! { [] $($rest)* }
        }
        pub(crate) mod recorded {
            use super::*;
            $form! { [#[telemetry::task]] $($rest)* }
        }

        pub(crate) fn check(cell: &str, more_bytes_max: usize) {
            let facts = [bare::facts(), recorded::facts()];
            compare(cell, facts, more_bytes_max, [&bare::run, &recorded::run]);
        }
    };
}

/// `struct Owner`, whose methods are called.
macro_rules! owner {
    () => {
        pub(crate) struct Owner {
            pub(crate) part: Noisy,
        }

        pub(crate) fn owner() -> Owner {
            Owner { part: Noisy("self") }
        }
    };
}

/// The body of every function.
macro_rules! body {
    ([$($pause:tt)*] [|$mode:ident| $early:expr] [$late:expr] [$($receive:tt)*] [$($touch:tt)*] $inner:ident) => {{
        let _local = Noisy("local");
        note("body");
        $($receive)*
        $($touch)*
        $($pause)*
        let $mode = $inner;
        $early;
        if $mode == 2 {
            panic!("boom {}", $mode);
        }
        $late
    }};
}

/// The functions `run` and `facts` of a module, for this call.
macro_rules! callers {
    ([sync $($shown:ident)?] [$($word:tt)?] |$mode:ident| $call:expr) => {
        pub(crate) fn run($mode: u8) -> String {
            observe(|| $($word)? { $($shown)? ($call) })
        }

        pub(crate) fn facts() -> Facts {
            None
        }
    };
    ([future] [$($word:tt)?] |$mode:ident| $call:expr) => {
        pub(crate) fn run($mode: u8) -> String {
            observe(|| $($word)? { drive($call, $mode) })
        }

        pub(crate) fn facts() -> Facts {
            let $mode = 0;
            $($word)? {
                match &$call {
                    future => {
                        let probe = &probe(future);
                        Some((size_of_val(future), [probe.is_send(), probe.is_sync(), probe.is_unwind_safe()]))
                    }
                }
            }
        }
    };
}

macro_rules! plain_function {
    ($($rest:tt)*) => { headed_function! { [] [] $($rest)* } };
}

macro_rules! unsafe_function {
    ($($rest:tt)*) => { headed_function! { [unsafe] [unsafe] $($rest)* } };
}

macro_rules! extern_function {
    ($($rest:tt)*) => { headed_function! { [extern "C-unwind"] [] $($rest)* } };
}

/// A function with these words before it, called within a block of that word.
macro_rules! headed_function {
    ([$($header:tt)*] $word:tt [$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt []
        $receive:tt [] [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        /// # Safety
        ///
        /// If anything, it only looks unsafe.
        $($attribute)*
        pub(crate) $($flow)* $($header)* fn call($($pattern)*: $($type)*, inner: u8, z: Noisy) -> $output {
            body!($pause $early $late $receive [$($($touch)*)? note(z.0);] inner)
        }
        // SAFETY: if anything, it only looks unsafe.
        callers! { $how $word |mode| call($value, mode, Noisy("z")) }
    };
    ([$($header:tt)*] $word:tt [$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt
        [$($receiver:tt)+] $receive:tt [$on:expr] [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        owner!();
        impl Owner {
            /// # Safety
            ///
            /// If anything, it only looks unsafe.
            $($attribute)*
            pub(crate) $($flow)* $($header)* fn call(
                $($receiver)* $($pattern)*: $($type)*, inner: u8, z: Noisy,
            ) -> $output {
                body!($pause $early $late $receive [$($($touch)*)? note(z.0);] inner)
            }
        }
        // SAFETY: if anything, it only looks unsafe.
        callers! { $how $word |mode| $on.call($value, mode, Noisy("z")) }
    };
}

macro_rules! generic_function {
    ([$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt [] $receive:tt []
        [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        $($attribute)*
        pub(crate) $($flow)* fn call<T: Debug, const N: usize>(
            $($pattern)*: $($type)*, inner: u8, z: T, list: [Noisy; N], text: &str,
        ) -> $output {
            body!($pause $early $late $receive [$($($touch)*)? note(format!("{z:?}{text}{}", list.len()));] inner)
        }
        callers! { $how [] |mode| call($value, mode, Noisy("z"), [Noisy("1"), Noisy("2")], "text") }
    };
    ([$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt [$($receiver:tt)+] $receive:tt
        [$on:expr] [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        owner!();
        impl Owner {
            $($attribute)*
            pub(crate) $($flow)* fn call<T: Debug>(
                $($receiver)* $($pattern)*: $($type)*, inner: u8, z: T, other: impl Into<String>,
            ) -> $output {
                body!($pause $early $late $receive [$($($touch)*)? note(other.into()); note(format!("{z:?}"));] inner)
            }
        }
        callers! { $how [] |mode| $on.call($value, mode, Noisy("z"), "other") }
    };
}

macro_rules! trait_function {
    ([$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt [] $receive:tt []
        [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        pub(crate) struct Owner;
        trait Callable {
            $($flow)* fn call(_: $($type)*, inner: u8, z: Noisy) -> $output;
        }
        impl Callable for Owner {
            $($attribute)*
            $($flow)* fn call($($pattern)*: $($type)*, inner: u8, z: Noisy) -> $output {
                body!($pause $early $late $receive [$($($touch)*)? note(z.0);] inner)
            }
        }
        callers! { $how [] |mode| Owner::call($value, mode, Noisy("z")) }
    };
    ([$($attribute:tt)*] [$($flow:tt)*] $pause:tt $how:tt [$output:ty] $early:tt $late:tt [$($receiver:tt)+] $receive:tt
        [$on:expr] [$($pattern:tt)*] [$($type:tt)*] [$value:expr] $([$($touch:tt)*])?) => {
        owner!();
        trait Callable {
            $($flow)* fn call($($receiver)* _: $($type)*, inner: u8, z: Noisy) -> $output;
        }
        impl Callable for Owner {
            $($attribute)*
            $($flow)* fn call($($receiver)* $($pattern)*: $($type)*, inner: u8, z: Noisy) -> $output {
                body!($pause $early $late $receive [$($($touch)*)? note(z.0);] inner)
            }
        }
        callers! { $how [] |mode| $on.call($value, mode, Noisy("z")) }
    };
}

pub(crate) mod forms {
    use super::*;
    level! { by_flow [] plain_function generic_function unsafe_function extern_function trait_function }
}
