//! Types that say themselves how they are recorded.

use crate::encoder::ValueEncoder;
use std::rc::Rc;
use std::sync::Arc;

/// A type that says itself how it is recorded as an argument or a result, instead of by `Serialize` or
/// `Debug`.
///
/// References, `Box`, `Rc`, `Arc`, `Option`, `Vec`, slices and arrays of such a type are recorded by it,
/// too. A panic in it is recorded in place of the value; a task that it calls is not recorded.
///
/// ```
/// use telemetry_core::capture::Capture;
/// use telemetry_core::encoder::{Encoder, ValueEncoder};
/// use telemetry_core::record::Items;
///
/// struct Image {
///     width: u32,
///     height: u32,
///     pixels: Vec<u8>,
/// }
///
/// impl Capture for Image {
///     fn capture(&self, value: &mut ValueEncoder<'_>) {
///         value.display(&format_args!("{}×{}, {} bytes", self.width, self.height, self.pixels.len()));
///     }
/// }
///
/// let image = Image { width: 2, height: 2, pixels: vec![0; 4] };
/// let mut encoder = Encoder::new();
/// encoder.result(|value| value.capture(&Some(&image)));
/// let mut json = Vec::new();
/// Items::new(encoder.bytes()).for_each(|item| item.value.write_json(&mut json));
/// assert_eq!(String::from_utf8_lossy(&json), "\"2×2, 4 bytes\"");
/// ```
pub trait Capture {
    /// Writes the value, as one of the forms that the encoder knows.
    fn capture(&self, value: &mut ValueEncoder<'_>);
}

macro_rules! pointers {
    ($($pointer:ty,)+) => {
        $(
            impl<T: Capture + ?Sized> Capture for $pointer {
                fn capture(&self, value: &mut ValueEncoder<'_>) {
                    (**self).capture(value);
                }
            }
        )+
    };
}

pointers! { &T, &mut T, Box<T>, Rc<T>, Arc<T>, }

impl<T: Capture> Capture for Option<T> {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        match self {
            Some(content) => content.capture(value),
            None => value.null(),
        }
    }
}

impl<T: Capture> Capture for [T] {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        value.list(self, |item, value| value.capture(item));
    }
}

impl<T: Capture, const N: usize> Capture for [T; N] {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        self.as_slice().capture(value);
    }
}

impl<T: Capture> Capture for Vec<T> {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        self.as_slice().capture(value);
    }
}
