//! Arrays of `ndarray`.

use ndarray::{ArrayBase, Data, Dimension};

use super::{Inspect, InspectRequest, Inspection, Number};
use crate::capture::Capture;
use crate::encoder::ValueEncoder;

impl<T: Number, S: Data<Elem = T>, D: Dimension> Inspect for ArrayBase<S, D> {
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        let inspection = Inspection::new(self.shape(), T::DTYPE, size_of::<T>());
        match self.as_slice_memory_order() {
            Some(numbers) => inspection.numbers(numbers, request),
            None => inspection.each_number(|| self.iter().copied(), request),
        }
    }
}

/// As an argument of a task, too, an array is inspected.
impl<T: Number, S: Data<Elem = T>, D: Dimension> Capture for ArrayBase<S, D> {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        value.inspect(self);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{inspect, inspect_fully};
    use ndarray::{Array2, Slice};

    #[test]
    fn arrays_and_views_are_inspected_where_they_lie() {
        let array = Array2::from_shape_fn((4, 6), |(row, column)| (row * 6 + column) as f32);
        let whole = inspect_fully(&array);
        assert_eq!((whole.shape(), whole.nbytes(), whole.density()), (&[4, 6][..], 96, Some(23.0 / 24.0)));
        assert_eq!((whole.max(), whole.mean()), (Some(23.0), Some(11.5)));
        let view = array.slice_each_axis(|axis| Slice::from(..).step_by(2 + axis.axis.index() as isize));
        let part = inspect(&view);
        assert_eq!((part.shape(), part.density()), (&[2, 2][..], Some(0.75)));
        assert_eq!(inspect(&array.t()).shape(), [6, 4]);
    }
}
