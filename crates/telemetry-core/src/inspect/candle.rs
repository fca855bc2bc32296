//! Tensors of `candle`.

use candle_core::{CpuStorage, DeviceLocation, Storage, Tensor, Var, WithDType};

use super::{Inspect, InspectRequest, Inspection, Number};
use crate::capture::Capture;
use crate::encoder::ValueEncoder;

impl Inspect for Tensor {
    /// The numbers are read where they lie; those of a tensor on a GPU are not.
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        let (dtype, device) = (self.dtype(), self.device().location());
        let inspection = Inspection::new(self.dims(), dtype.as_str(), dtype.size_in_bytes());
        match device {
            DeviceLocation::Cpu if request.density || request.statistics => {
                numbers_of(self, inspection, request)
            }
            DeviceLocation::Cpu => inspection,
            DeviceLocation::Cuda { gpu_id } => inspection.device(format!("cuda:{gpu_id}")),
            DeviceLocation::Metal { gpu_id } => inspection.device(format!("metal:{gpu_id}")),
        }
    }
}

impl Inspect for Var {
    fn inspect(&self, request: &InspectRequest) -> Inspection {
        self.as_tensor().inspect(request)
    }
}

/// As an argument of a task, too, a tensor is inspected.
impl Capture for Tensor {
    fn capture(&self, value: &mut ValueEncoder<'_>) {
        value.inspect(self);
    }
}

fn numbers_of(tensor: &Tensor, inspection: Inspection, request: &InspectRequest) -> Inspection {
    let (storage, _) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { return inspection };
    match storage {
        CpuStorage::U8(all) => plain(tensor, all, inspection, request),
        CpuStorage::U32(all) => plain(tensor, all, inspection, request),
        CpuStorage::I16(all) => plain(tensor, all, inspection, request),
        CpuStorage::I32(all) => plain(tensor, all, inspection, request),
        CpuStorage::I64(all) => plain(tensor, all, inspection, request),
        CpuStorage::F32(all) => plain(tensor, all, inspection, request),
        CpuStorage::F64(all) => plain(tensor, all, inspection, request),
        CpuStorage::F16(all) => widened(tensor, all, inspection, request),
        CpuStorage::BF16(all) => widened(tensor, all, inspection, request),
        CpuStorage::F8E4M3(all) => widened(tensor, all, inspection, request),
        _ => inspection,
    }
}

fn plain<T: Number>(
    tensor: &Tensor,
    all: &[T],
    inspection: Inspection,
    request: &InspectRequest,
) -> Inspection {
    match contiguous(tensor, all) {
        Some(numbers) => inspection.numbers(numbers, request),
        None => inspection.each_number(|| strided(tensor, all), request),
    }
}

/// Of numbers that are looked at in double precision.
fn widened<T: WithDType>(
    tensor: &Tensor,
    all: &[T],
    inspection: Inspection,
    request: &InspectRequest,
) -> Inspection {
    match contiguous(tensor, all) {
        Some(numbers) => inspection.each_number(|| numbers.iter().map(|number| number.to_f64()), request),
        None => inspection.each_number(|| strided(tensor, all).map(WithDType::to_f64), request),
    }
}

fn contiguous<'a, T>(tensor: &Tensor, all: &'a [T]) -> Option<&'a [T]> {
    let (start, end) = tensor.layout().contiguous_offsets()?;
    all.get(start..end)
}

fn strided<'a, T: Copy>(tensor: &'a Tensor, all: &'a [T]) -> impl Iterator<Item = T> + 'a {
    tensor.strided_index().filter_map(|position| all.get(position).copied())
}

#[cfg(test)]
mod tests {
    use super::super::{inspect, inspect_fully};
    use candle_core::{DType, Device, Tensor};

    #[test]
    fn tensors_are_inspected_where_they_lie() -> candle_core::Result<()> {
        let tensor = Tensor::arange(0_f32, 6.0, &Device::Cpu)?.reshape((2, 3))?;
        let json = serde_json::to_value(inspect(&tensor)).unwrap();
        let density = 5.0 / 6.0;
        let expected = serde_json::json!(
            {"shape": [2, 3], "dtype": "f32", "device": "cpu", "nbytes": 24, "numel": 6, "density": density}
        );
        assert_eq!(json, expected);
        assert_eq!(inspect(&tensor.t()?).density(), Some(density), "a view");
        assert_eq!(inspect(&tensor.narrow(1, 1, 2)?).density(), Some(1.0), "without the first column");
        for dtype in [DType::F64, DType::F16, DType::BF16, DType::I64, DType::U8] {
            let other = tensor.to_dtype(dtype)?;
            let inspection = inspect_fully(&other);
            assert_eq!((inspection.density(), inspection.max()), (Some(density), Some(5.0)), "{dtype:?}");
        }
        Ok(())
    }
}
