//! Lists whose items are `Debug` and not `Serialize`.

use crate::encoder::ValueEncoder;
use std::fmt::Debug;

/// A list that can be cut before its items are visited.
#[doc(hidden)]
pub trait DebugSlice {
    /// Writes the first items.
    fn write(&self, value_encoder: &mut ValueEncoder<'_>);
}

impl<T: Debug> DebugSlice for [T] {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        value_encoder.debug_slice(self);
    }
}

impl<T: Debug, const N: usize> DebugSlice for [T; N] {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        value_encoder.debug_slice(self);
    }
}

impl<T: Debug> DebugSlice for Vec<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        value_encoder.debug_slice(self);
    }
}

impl<T: DebugSlice + ?Sized> DebugSlice for &T {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        (**self).write(value_encoder);
    }
}

impl<T: DebugSlice + ?Sized> DebugSlice for &mut T {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        (**self).write(value_encoder);
    }
}
