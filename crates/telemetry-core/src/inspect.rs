//! What is recorded of a tensor: its shape, type, place and size, never its data.
//!
//! [`Inspect`] is for one tensor; [`Inspectable`] is for what layers and batches are made of: a tensor, a number, or
//! a tuple of them.

#[cfg(feature = "candle")]
mod candle;
mod inspectable;
mod inspection;
#[cfg(feature = "ndarray")]
mod ndarray;
mod number;
mod scan;
mod slices;

pub use inspectable::Inspectable;
pub use inspection::{InspectRequest, Inspection};
pub use number::Number;

/// A tensor that says what it is without showing its data.
///
/// Slices, arrays and vectors of numbers have it; arrays of `ndarray` and tensors of `candle` have it with the
/// feature of that name. For a type of one's own it takes a few lines:
///
/// ```
/// use telemetry_core::inspect::{Inspect, Inspection, InspectRequest, inspect};
///
/// struct Image {
///     width: usize,
///     height: usize,
///     pixels: Vec<u8>,
/// }
///
/// impl Inspect for Image {
///     fn inspect(&self, request: &InspectRequest) -> Inspection {
///         Inspection::new(&[self.height, self.width], "u8", 1).numbers(&self.pixels, request)
///     }
/// }
///
/// let image = Image { width: 2, height: 2, pixels: vec![0, 7, 0, 0] };
/// let inspection = inspect(&image);
/// assert_eq!((inspection.shape(), inspection.density()), (&[2, 2][..], Some(0.25)));
/// ```
pub trait Inspect {
    /// What the tensor is, and of its numbers what is asked for.
    fn inspect(&self, request: &InspectRequest) -> Inspection;
}

macro_rules! pointers {
    ($($pointer:ty,)+) => {
        $(
            impl<T: Inspect + ?Sized> Inspect for $pointer {
                fn inspect(&self, request: &InspectRequest) -> Inspection {
                    (**self).inspect(request)
                }
            }
        )+
    };
}

pointers! { &T, &mut T, Box<T>, std::rc::Rc<T>, std::sync::Arc<T>, }

/// What is recorded of a tensor as a layer's input or output: everything but statistics, the density of a large
/// tensor from a sample.
///
/// ```
/// # use telemetry_core::inspect::inspect;
/// let text = serde_json::to_string(&inspect(&[0.0_f32, 1.5, 0.0])).unwrap();
/// assert_eq!(
///     text,
///     r#"{"shape":[3],"dtype":"f32","device":"cpu","nbytes":12,"numel":3,"density":0.3333333333333333}"#
/// );
/// ```
pub fn inspect<T: Inspect + ?Sized>(tensor: &T) -> Inspection {
    tensor.inspect(&InspectRequest::default())
}

/// What [`inspect`] tells, and of all numbers the smallest, the largest, the mean, and how many are NaN.
///
/// ```
/// # use telemetry_core::inspect::inspect_fully;
/// let inspection = inspect_fully(&[1.0, f64::NAN, -2.0]);
/// assert_eq!((inspection.min(), inspection.max()), (Some(-2.0), Some(1.0)));
/// assert_eq!((inspection.mean(), inspection.nan_count()), (Some(-0.5), Some(1)));
/// ```
pub fn inspect_fully<T: Inspect + ?Sized>(tensor: &T) -> Inspection {
    tensor.inspect(&InspectRequest { density: true, statistics: true, numbers_max: None })
}
