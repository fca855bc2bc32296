//! Numbers that a tensor may be made of.

/// A number that a tensor may be made of.
pub trait Number: Copy {
    /// What tensor libraries call the type.
    const DTYPE: &'static str;

    /// Whether it counts as zero; NaN does not.
    fn is_zero(self) -> bool;

    /// The number in double precision.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($type:ty: $dtype:literal, $zero:expr;)+) => {
        $(
            impl Number for $type {
                const DTYPE: &'static str = $dtype;

                #[inline]
                #[expect(clippy::float_cmp, clippy::allow_attributes, reason = "zero is exact")]
                #[allow(unfulfilled_lint_expectations, reason = "only for the types that are floating")]
                fn is_zero(self) -> bool {
                    self == $zero
                }

                #[inline]
                fn to_f64(self) -> f64 {
                    self as f64
                }
            }
        )+
    };
}

numbers! {
    f32: "f32", 0.0;
    f64: "f64", 0.0;
    u8: "u8", 0;
    u16: "u16", 0;
    u32: "u32", 0;
    u64: "u64", 0;
    usize: "u64", 0;
    i8: "i8", 0;
    i16: "i16", 0;
    i32: "i32", 0;
    i64: "i64", 0;
    isize: "i64", 0;
}

impl Number for bool {
    const DTYPE: &'static str = "bool";

    #[inline]
    fn is_zero(self) -> bool {
        !self
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}
