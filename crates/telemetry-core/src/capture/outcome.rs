//! Tells the value of a call from its error.

use super::Probe;
use std::convert::Infallible;

/// What a call came to.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T, E> {
    /// It returned a value.
    Value(T),
    /// It returned an error.
    Error(E),
}

/// The outcome of a call that returns a `Result`.
#[doc(hidden)]
pub trait ResultOutcome {
    /// What `Ok` holds.
    type Value;
    /// What `Err` holds.
    type Error;
    /// Looks into the result.
    fn __telemetry_outcome(&self) -> Outcome<Self::Value, Self::Error>;
}

impl<'a, T, E> ResultOutcome for &Probe<'a, Result<T, E>> {
    type Value = &'a T;
    type Error = &'a E;

    #[inline]
    fn __telemetry_outcome(&self) -> Outcome<&'a T, &'a E> {
        match self.0 {
            Ok(value) => Outcome::Value(value),
            Err(error) => Outcome::Error(error),
        }
    }
}

/// The outcome of any other call.
#[doc(hidden)]
pub trait AnyOutcome {
    /// What the call returned.
    type Value;
    /// There is none.
    type Error;
    /// Passes the value on.
    fn __telemetry_outcome(&self) -> Outcome<Self::Value, Self::Error>;
}

impl<'a, R: ?Sized> AnyOutcome for Probe<'a, R> {
    type Value = &'a R;
    type Error = &'a Infallible;

    #[inline]
    fn __telemetry_outcome(&self) -> Outcome<&'a R, &'a Infallible> {
        Outcome::Value(self.0)
    }
}
