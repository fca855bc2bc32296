//! Models and their layers: what is recorded of them, and what is known about their build.
//!
//! `#[model]` on a struct makes it a [`Model`], `#[forward]` on its method records each call as a `parent_forward`, and
//! a [`Layer`] around a module records each of its calls as a `child_forward`. What of all this is recorded is said by
//! the section `instrumentation.model` of the settings.

mod anchor;
#[cfg(feature = "candle")]
mod candle;
mod describe;
mod layer;
mod registry;
mod tier;

pub use anchor::Anchor;
pub use describe::{Describe, Description, Profile};
pub use layer::{Layer, LayerOutput};
pub use registry::{Registry, begin_forward, register};
pub use tier::{AnchorTier, AttributeTier, DescribeTier, IdentityTier, NoIdentityTier, NothingTier};

/// A struct with `#[model]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no model",
    label = "no model",
    note = "put `#[model]` on the struct `{Self}`"
)]
pub trait Model: Describe {
    /// The name of the struct.
    const NAME: &'static str;
    /// The name with its module.
    const PATH: &'static str;

    /// What tells this model from others of its type: the first of its layers. A clone is the same model.
    #[doc(hidden)]
    fn identity(&self) -> Option<u64>;

    /// The models of this type that are registered.
    #[doc(hidden)]
    fn registry() -> &'static Registry;
}

/// The tiers of fields without their names, so that generated code can import them and nothing else.
#[doc(hidden)]
pub mod tiers {
    pub use super::{AnchorTier as _, AttributeTier as _, DescribeTier as _, NothingTier as _};
    pub use super::{IdentityTier as _, NoIdentityTier as _};
}

/// Says what a field of a model is, in the description of the model.
#[doc(hidden)]
#[macro_export]
macro_rules! __describe {
    ($module:expr, $name:expr, $reference:expr $(,)?) => {
        match ($module, $crate::capture::Probe($reference)) {
            (module, probe) => {
                use $crate::model::tiers::*;
                (&&&&probe).__telemetry_describe($name, module)
            }
        }
    };
}

/// What tells a field of a model from others of its type, if it has a layer.
#[doc(hidden)]
#[macro_export]
macro_rules! __identity {
    ($reference:expr $(,)?) => {
        match $crate::capture::Probe($reference) {
            probe => {
                use $crate::model::tiers::*;
                (&&probe).__telemetry_identity()
            }
        }
    };
}
