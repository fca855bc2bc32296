//! What was found out about a tensor.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Number;
use super::scan::{Scan, scan, scan_each};

/// Tensors of more dimensions are shown with these many, the last of them the product of the rest.
const DIMENSIONS_MAX: usize = 8;

/// How much is found out about the numbers of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectRequest {
    /// The share of the numbers that are not zero.
    pub density: bool,
    /// The smallest, the largest, the mean, and how many are NaN: of all numbers.
    pub statistics: bool,
    /// The density of more numbers than these is that of a sample; none for always exact.
    pub numbers_max: Option<usize>,
}

impl Default for InspectRequest {
    /// What is recorded of the inputs and outputs of layers.
    fn default() -> Self {
        Self { density: true, statistics: false, numbers_max: Some(8192) }
    }
}

/// What was found out about a tensor. Serializes as a map of `shape`, `dtype`, `device`, `nbytes`, `numel`, and where
/// they are known `density`, `min`, `max`, `mean`, `nan_count`.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    shape: [usize; DIMENSIONS_MAX],
    dimensions: usize,
    dtype: &'static str,
    device: Cow<'static, str>,
    nbytes: usize,
    scan: Scan,
}

impl Inspection {
    /// Of a tensor in memory with this shape and type, whose numbers take so many bytes each.
    pub fn new(shape: &[usize], dtype: &'static str, number_bytes: usize) -> Self {
        let mut shown = [1; DIMENSIONS_MAX];
        for (position, length) in shape.iter().enumerate() {
            shown[position.min(DIMENSIONS_MAX - 1)] *= length;
        }
        let numel: usize = shape.iter().product();
        Self {
            shape: shown,
            dimensions: shape.len().min(DIMENSIONS_MAX),
            dtype,
            device: Cow::Borrowed("cpu"),
            nbytes: numel * number_bytes,
            scan: Scan::default(),
        }
    }

    /// Says where the tensor lies.
    pub fn device(mut self, device: impl Into<Cow<'static, str>>) -> Self {
        self.device = device.into();
        self
    }

    /// Finds out what is asked for from numbers that lie side by side.
    pub fn numbers<T: Number>(mut self, numbers: &[T], request: &InspectRequest) -> Self {
        self.scan = scan(numbers, request);
        self
    }

    /// Finds out what is asked for from numbers that do not lie side by side, which `numbers` goes through.
    pub fn each_number<T: Number, I: Iterator<Item = T>>(
        mut self,
        numbers: impl Fn() -> I,
        request: &InspectRequest,
    ) -> Self {
        self.scan = scan_each(numbers, self.numel(), request);
        self
    }

    /// The lengths of its dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.dimensions]
    }

    /// How many numbers it has.
    pub fn numel(&self) -> usize {
        self.shape().iter().product()
    }

    /// How many bytes its numbers take.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The share of its numbers that are not zero.
    pub fn density(&self) -> Option<f64> {
        self.scan.density
    }

    /// The smallest number; NaN where all of them are.
    pub fn min(&self) -> Option<f64> {
        self.scan.statistics.map(|statistics| statistics.min)
    }

    /// The largest number; NaN where all of them are.
    pub fn max(&self) -> Option<f64> {
        self.scan.statistics.map(|statistics| statistics.max)
    }

    /// The mean of the numbers that are not NaN.
    pub fn mean(&self) -> Option<f64> {
        self.scan.statistics.map(|statistics| statistics.mean)
    }

    /// How many numbers are NaN.
    pub fn nan_count(&self) -> Option<usize> {
        self.scan.statistics.map(|statistics| statistics.nan_count)
    }
}

impl Serialize for Inspection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("shape", self.shape())?;
        map.serialize_entry("dtype", self.dtype)?;
        map.serialize_entry("device", &self.device)?;
        map.serialize_entry("nbytes", &self.nbytes)?;
        map.serialize_entry("numel", &self.numel())?;
        for (key, number) in
            [("density", self.density()), ("min", self.min()), ("max", self.max()), ("mean", self.mean())]
        {
            if let Some(number) = number {
                map.serialize_entry(key, &number)?;
            }
        }
        if let Some(nan_count) = self.nan_count() {
            map.serialize_entry("nan_count", &nan_count)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_dimensions_keep_their_number_of_elements() {
        let inspection = Inspection::new(&[1, 2, 1, 2, 1, 2, 1, 2, 3, 2], "f64", 8);
        assert_eq!((inspection.shape().len(), inspection.numel(), inspection.nbytes()), (8, 96, 768));
        assert_eq!(Inspection::new(&[], "f32", 4).numel(), 1, "a scalar");
    }
}
