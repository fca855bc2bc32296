//! What a field of a model is: chosen at compile time among the traits that its type has, as arguments are.

use super::{Anchor, Describe, Description};
use crate::capture::{Plain, Probe};
use serde_json::Value;

macro_rules! tiers {
    ($($(#[$doc:meta])* $tier:ident for [$($reference:tt)*] $(where $bound:path)? =>
        |$probe:ident, $name:ident, $module:ident| $add:expr;)+) => {
        $(
            $(#[$doc])*
            #[doc(hidden)]
            pub trait $tier {
                /// Adds the field to the description of its model.
                fn __telemetry_describe(&self, name: &str, module: &mut Description);
            }

            impl<T: ?Sized $(+ $bound)?> $tier for $($reference)* Probe<'_, T> {
                fn __telemetry_describe(&self, $name: &str, $module: &mut Description) {
                    let $probe = self;
                    $add
                }
            }
        )+
    };
}

tiers! {
    /// Modules, and layers around them.
    DescribeTier for [&&&] where Describe => |probe, name, module| probe.0.add_to(name, module);
    /// Layers around modules of which only the type is known.
    AnchorTier for [&&] where Anchor => |probe, name, module| probe.0.outline(name, module);
    /// Numbers and texts are attributes of the model itself.
    AttributeTier for [&] where Plain => |probe, name, module| attribute(probe.0, name, module);
    /// Anything else is no part of a model's build.
    NothingTier for [] => |_probe, _name, _module| {};
}

fn attribute<T: Plain + ?Sized>(value: &T, name: &str, module: &mut Description) {
    let mut encoder = crate::encoder::Encoder::new();
    encoder.result(|encoder| value.write(encoder));
    let mut json = Vec::new();
    crate::record::Items::new(encoder.bytes()).for_each(|item| item.value.write_json(&mut json));
    let value: Value = serde_json::from_slice(&json).unwrap_or_default();
    module.attribute(name, value);
}

/// Fields that have a layer.
#[doc(hidden)]
pub trait IdentityTier {
    /// The number of the first layer.
    fn __telemetry_identity(&self) -> Option<u64>;
}

impl<T: Anchor + ?Sized> IdentityTier for &Probe<'_, T> {
    fn __telemetry_identity(&self) -> Option<u64> {
        self.0.first_layer()
    }
}

/// Fields that have none.
#[doc(hidden)]
pub trait NoIdentityTier {
    /// None.
    fn __telemetry_identity(&self) -> Option<u64>;
}

impl<T: ?Sized> NoIdentityTier for Probe<'_, T> {
    fn __telemetry_identity(&self) -> Option<u64> {
        None
    }
}
