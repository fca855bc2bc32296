//! Events: small measurements beside the tasks, each of a series.

use crate::words::words;

words! {
    /// What an event is about.
    Category {
        /// Memory that is registered, allocated, released.
        Memory = 1 "MEMORY",
        /// Data that moves: bytes, requests.
        Transfer = 2 "TRANSFER",
        /// Connections that come and go.
        Connection = 3 "CONNECTION",
        /// What a backend does.
        Backend = 4 "BACKEND",
        /// Errors, counted.
        Error = 5 "ERROR",
        /// Times, rates, latencies.
        Performance = 6 "PERFORMANCE",
        /// The process and its machine.
        System = 7 "SYSTEM",
        /// Whatever the program means by it.
        Custom = 8 "CUSTOM",
    }
}

words! {
    /// How the values of a series are to be read.
    EventKind {
        /// Each value adds to a total.
        Counter = 1 "counter",
        /// Each value replaces the last.
        Gauge = 2 "gauge",
        /// The values are a distribution.
        Histogram = 3 "histogram",
    }
}

/// The value of an event; whole numbers stay whole.
#[derive(Clone, Copy, Debug)]
pub enum EventValue {
    /// A number with a fraction, or one of the classes that whole numbers lack.
    Float(f64),
    /// A whole number.
    Int(i64),
    /// A whole number above `i64::MAX`.
    Uint(u64),
}

const FLOAT: u8 = 1;
const INT: u8 = 2;
const UINT: u8 = 3;

impl EventValue {
    /// The number of its class in records, and its bits.
    #[inline]
    pub(crate) const fn encode(self) -> (u8, u64) {
        match self {
            Self::Float(number) => (FLOAT, number.to_bits()),
            Self::Int(number) => (INT, number.cast_unsigned()),
            Self::Uint(number) => (UINT, number),
        }
    }

    pub(crate) const fn decode(class: u8, bits: u64) -> Option<Self> {
        match class {
            FLOAT => Some(Self::Float(f64::from_bits(bits))),
            INT => Some(Self::Int(bits.cast_signed())),
            UINT => Some(Self::Uint(bits)),
            _ => None,
        }
    }

    /// As a float, which may round.
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Float(number) => number,
            Self::Int(number) => number as f64,
            Self::Uint(number) => number as f64,
        }
    }
}

/// Two values are the same if they have the same bits: a NaN is itself, and 0.0 is not -0.0.
impl PartialEq for EventValue {
    fn eq(&self, other: &Self) -> bool {
        self.encode() == other.encode()
    }
}

impl Eq for EventValue {}

macro_rules! event_values {
    ($($number:ty => $variant:ident as $wide:ty,)+) => {
        $(impl From<$number> for EventValue {
            #[inline]
            fn from(number: $number) -> Self {
                Self::$variant(number as $wide)
            }
        })+
    };
}

event_values! {
    f32 => Float as f64,
    f64 => Float as f64,
    i8 => Int as i64,
    i16 => Int as i64,
    i32 => Int as i64,
    i64 => Int as i64,
    isize => Int as i64,
    u8 => Int as i64,
    u16 => Int as i64,
    u32 => Int as i64,
}

impl From<u64> for EventValue {
    #[inline]
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Uint(number), Self::Int)
    }
}

impl From<usize> for EventValue {
    #[inline]
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<bool> for EventValue {
    #[inline]
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_class_and_bits() {
        for value in [
            EventValue::from(0.1_f64),
            EventValue::from(-0.0_f64),
            EventValue::from(f64::NAN),
            EventValue::from(f64::NEG_INFINITY),
            EventValue::from(i64::MIN),
            EventValue::from(u64::MAX),
            EventValue::from(7_usize),
            EventValue::from(true),
        ] {
            let (class, bits) = value.encode();
            assert_eq!(EventValue::decode(class, bits), Some(value));
        }
        assert_eq!(EventValue::from(u64::MAX), EventValue::Uint(u64::MAX));
        assert_eq!(EventValue::from(i64::MAX as u64), EventValue::Int(i64::MAX));
        assert_eq!(EventValue::decode(0, 1), None);
    }
}
