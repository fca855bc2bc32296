//! What layers and batches are made of.

use super::{Inspect, inspect};
use crate::encoder::ValueEncoder;

/// What a layer is given and returns, and what a batch is: a tensor, a number, or a tuple of them.
///
/// Everything that is [`Inspect`] has it. A batch of a type of one's own may have it instead:
///
/// ```
/// use telemetry_core::encoder::ValueEncoder;
/// use telemetry_core::inspect::Inspectable;
///
/// struct Batch {
///     first: usize,
///     images: Vec<f32>,
/// }
///
/// impl Inspectable for Batch {
///     fn show(&self, value: &mut ValueEncoder<'_>) {
///         value.unsigned(self.first as u64);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be inspected",
    label = "no tensor, number or tuple of them",
    note = "implement `Inspect` for it, or `Inspectable`"
)]
pub trait Inspectable {
    /// Writes what is to be seen of it.
    fn show(&self, value: &mut ValueEncoder<'_>);
}

impl<T: Inspect + ?Sized> Inspectable for T {
    fn show(&self, value: &mut ValueEncoder<'_>) {
        value.inspect(self);
    }
}

macro_rules! numbers {
    ($($type:ty)+) => {
        $(
            impl Inspectable for $type {
                fn show(&self, value: &mut ValueEncoder<'_>) {
                    crate::capture::Plain::write(self, value);
                }
            }

            impl Inspectable for &$type {
                fn show(&self, value: &mut ValueEncoder<'_>) {
                    (**self).show(value);
                }
            }
        )+
    };
}

numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool }

macro_rules! tuples {
    ($($($name:ident $index:tt)+;)+) => {
        $(
            impl<$($name: Inspectable),+> Inspectable for ($($name,)+) {
                fn show(&self, value: &mut ValueEncoder<'_>) {
                    let parts: &[&dyn Inspectable] = &[$(&self.$index),+];
                    value.list(parts, |part, value| value.show(*part));
                }
            }

            impl<$($name: Inspectable),+> Inspectable for &($($name,)+) {
                fn show(&self, value: &mut ValueEncoder<'_>) {
                    (**self).show(value);
                }
            }
        )+
    };
}

tuples! { A 0; A 0 B 1; A 0 B 1 C 2; A 0 B 1 C 2 D 3; }

impl<T: Inspectable> Inspectable for Option<T> {
    fn show(&self, value: &mut ValueEncoder<'_>) {
        match self {
            Some(content) => content.show(value),
            None => value.null(),
        }
    }
}

impl ValueEncoder<'_> {
    /// What is to be seen of a tensor; never its data.
    pub fn inspect<T: Inspect + ?Sized>(&mut self, tensor: &T) {
        self.serialize(&Guarded(tensor));
    }
}

/// Inspects while it is serialized, where a panic of the user's code is caught.
struct Guarded<'a, T: ?Sized>(&'a T);

impl<T: Inspect + ?Sized> serde::Serialize for Guarded<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        inspect(self.0).serialize(serializer)
    }
}
