//! The tiers, one trait each; the number of `&` before `Probe` is the rank.

use super::{Capture, DebugSlice, Plain, Probe, Shared, TryLock};
use crate::encoder::ValueEncoder;
use crate::inspect::{Inspect, Inspectable};
use serde::Serialize;
use std::fmt::{Debug, Display};

macro_rules! tiers {
    ($method:ident: $($(#[$doc:meta])* $tier:ident for [$($reference:tt)*] $(where $bound:path)? =>
        |$probe:ident, $encoder:ident| $write:expr;)+) => {
        $(
            $(#[$doc])*
            #[doc(hidden)]
            pub trait $tier {
                /// Writes what the probe refers to.
                fn $method(&self, value_encoder: &mut ValueEncoder<'_>);
            }

            impl<T: ?Sized $(+ $bound)?> $tier for $($reference)* Probe<'_, T> {
                #[inline]
                fn $method(&self, $encoder: &mut ValueEncoder<'_>) {
                    let $probe = self;
                    $write
                }
            }
        )+
    };
}

tiers! { __telemetry_capture:
    /// Tensors, whatever else they are.
    TensorTier for [&&&&&&&&&] where Inspectable => |probe, encoder| encoder.show(probe.0);
    /// Types that have a form of their own.
    CustomTier for [&&&&&&&&] where Capture => |probe, encoder| encoder.capture(probe.0);
    /// Values that need neither a guard nor a trait of the user.
    PlainTier for [&&&&&&&] where Plain => |probe, encoder| probe.0.write(encoder);
    /// Locks around something that is `Serialize`.
    LockTier for [&&&&&&] where TryLock => |probe, encoder| probe.0.write(encoder);
    /// Whatever is `Serialize`.
    SerializeTier for [&&&&&] where Serialize => |probe, encoder| encoder.serialize(probe.0);
    /// Shared pointers to something that is `Serialize`.
    SharedTier for [&&&&] where Shared => |probe, encoder| probe.0.write(encoder);
    /// Tensors that are not `Serialize`.
    InspectTier for [&&&] where Inspect => |probe, encoder| encoder.inspect(probe.0);
    /// Lists of something that is `Debug`.
    SliceTier for [&&] where DebugSlice => |probe, encoder| probe.0.write(encoder);
    /// Whatever is `Debug`.
    DebugTier for [&] where Debug => |probe, encoder| encoder.debug_of(probe.0);
    /// Whatever there is.
    NameTier for [] => |_probe, encoder| encoder.type_name::<T>();
}

tiers! { __telemetry_capture_error:
    /// Errors that are `Display`.
    ErrorDisplayTier for [&&] where Display => |probe, encoder| encoder.display(&probe.0);
    /// Errors that are `Debug`.
    ErrorDebugTier for [&] where Debug => |probe, encoder| encoder.debug(&probe.0);
    /// Other errors.
    ErrorNameTier for [] => |_probe, encoder| encoder.type_name::<T>();
}
