//! How an argument becomes a value: chosen at compile time, for each argument, among the traits that its
//! type has.
//!
//! | tier | for | written as |
//! |---|---|---|
//! | 10 | in code of models only: [`Inspect`](crate::inspect::Inspect) | what is to be seen of the tensor |
//! | 9 | [`Capture`], the trait for a form of one's own | what it writes |
//! | 8 | numbers, texts, paths, and pointers to them or options of them | themselves, without a guard against panics |
//! | 7 | `Mutex`, `RwLock`, `RefCell` of something that is `Serialize` | their content, if they are free |
//! | 6 | `Serialize` | what it says |
//! | 5 | `Arc` and `Rc` of something that is `Serialize` | what they point to |
//! | 4 | [`Inspect`](crate::inspect::Inspect) | what is to be seen of the tensor |
//! | 3 | lists of something that is `Debug` | the text of the first items |
//! | 2 | `Debug` | its text |
//! | 1 | everything else | the name of the type |
//!
//! A call on `&&&&&&&&&Probe` finds the trait of the highest tier that holds: the compiler tries it with the
//! fewest dereferences first. Nothing here but [`Capture`] is an interface for users; generated code calls
//! the macros.

mod custom;
mod lock;
mod outcome;
mod plain;
mod shared;
mod slice;
mod tier;

pub use custom::Capture;
pub use lock::TryLock;
pub use outcome::{AnyOutcome, Outcome, ResultOutcome};
pub use plain::Plain;
pub use shared::Shared;
pub use slice::DebugSlice;
pub use tier::{CustomTier, DebugTier, ErrorDebugTier, ErrorDisplayTier, ErrorNameTier};
pub use tier::{
    InspectTier, LockTier, NameTier, PlainTier, SerializeTier, SharedTier, SliceTier, TensorTier,
};

/// A reference on its way to the tier that fits its type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Probe<'a, T: ?Sized>(pub &'a T);

/// The traits of the tiers without their names, so that generated code can import them and nothing else.
#[doc(hidden)]
pub mod tiers {
    pub use super::{AnyOutcome as _, ResultOutcome as _};
    pub use super::{CustomTier as _, DebugTier as _, LockTier as _, NameTier as _, PlainTier as _};
    pub use super::{ErrorDebugTier as _, ErrorDisplayTier as _, ErrorNameTier as _};
    pub use super::{InspectTier as _, SerializeTier as _, SharedTier as _, SliceTier as _};
}

/// Writes what a reference refers to with a [`ValueEncoder`](crate::encoder::ValueEncoder).
#[doc(hidden)]
#[macro_export]
macro_rules! __capture {
    ($value_encoder:expr, $reference:expr $(,)?) => {
        match ($value_encoder, $crate::capture::Probe($reference)) {
            (value_encoder, probe) => {
                use $crate::capture::tiers::*;
                (&&&&&&&&&probe).__telemetry_capture(value_encoder)
            }
        }
    };
}

/// Like `__capture`, but a tensor shows never its data, even if it is `Serialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! __inspect {
    ($value_encoder:expr, $reference:expr $(,)?) => {
        match ($value_encoder, $crate::capture::Probe($reference)) {
            (value_encoder, probe) => {
                use $crate::capture::TensorTier as _;
                use $crate::capture::tiers::*;
                (&&&&&&&&&&probe).__telemetry_capture(value_encoder)
            }
        }
    };
}

/// Writes an error with a [`ValueEncoder`](crate::encoder::ValueEncoder): `Display`, else `Debug`, else
/// the name of its type.
#[doc(hidden)]
#[macro_export]
macro_rules! __capture_error {
    ($value_encoder:expr, $reference:expr $(,)?) => {
        match ($value_encoder, $crate::capture::Probe($reference)) {
            (value_encoder, probe) => {
                use $crate::capture::tiers::*;
                (&&&probe).__telemetry_capture_error(value_encoder)
            }
        }
    };
}

/// Tells the value of a call from its error: an [`Outcome`](crate::capture::Outcome) of references.
#[doc(hidden)]
#[macro_export]
macro_rules! __outcome {
    ($reference:expr $(,)?) => {
        match $crate::capture::Probe($reference) {
            probe => {
                use $crate::capture::tiers::*;
                (&&probe).__telemetry_outcome()
            }
        }
    };
}

#[cfg(test)]
mod tests;
