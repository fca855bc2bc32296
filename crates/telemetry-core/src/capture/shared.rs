//! Shared pointers, which serde sees through only with a feature that the user's build may lack.

use crate::encoder::ValueEncoder;
use serde::Serialize;
use std::rc::Rc;
use std::sync::Arc;

/// A pointer to something that is `Serialize`.
#[doc(hidden)]
pub trait Shared {
    /// Writes what it points to.
    fn write(&self, value_encoder: &mut ValueEncoder<'_>);
}

impl<T: Serialize + ?Sized> Shared for Arc<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        value_encoder.serialize(&**self);
    }
}

impl<T: Serialize + ?Sized> Shared for Rc<T> {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        value_encoder.serialize(&**self);
    }
}

impl<T: Shared + ?Sized> Shared for &T {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        (**self).write(value_encoder);
    }
}

impl<T: Shared + ?Sized> Shared for &mut T {
    fn write(&self, value_encoder: &mut ValueEncoder<'_>) {
        (**self).write(value_encoder);
    }
}
