//! What a source of telemetry offers to the recorder.

use crate::encoder::Encoder;

/// A source of telemetry: the sensors of this machine, or a recorded series.
pub trait Sensor: Send {
    /// Takes a reading now and hands it to [`Encoder::telemetry`]; false, with nothing handed over, when
    /// everything is switched off.
    fn read(&mut self, encoder: &mut Encoder) -> bool;
}
