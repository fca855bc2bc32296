//! Slices, arrays and vectors of numbers are tensors of one dimension.

use super::{Inspect, InspectRequest, Inspection, Number};

impl<T: Number> Inspect for [T] {
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        Inspection::new(&[self.len()], T::DTYPE, size_of::<T>()).numbers(self, request)
    }
}

impl<T: Number, const N: usize> Inspect for [T; N] {
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        self.as_slice().inspect(request)
    }
}

impl<T: Number> Inspect for Vec<T> {
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        self.as_slice().inspect(request)
    }
}
