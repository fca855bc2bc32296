//! Places where code of ours can be told to panic: `cargo xtask torture failpoints`. Without the feature of this name
//! they are nothing.
//!
//! A place is known by its file and line, so that there is no list of them to keep. Nothing here takes a lock, which a
//! fork might leave held.

#[cfg(feature = "failpoints")]
mod armed;

#[cfg(feature = "failpoints")]
pub use armed::{fail_at, list_to};

/// A place in the code, which may be carried into a closure.
#[derive(Clone, Copy, Debug)]
pub struct Failpoint {
    #[cfg(feature = "failpoints")]
    place: &'static std::panic::Location<'static>,
}

impl Failpoint {
    /// The caller's place.
    #[inline]
    #[cfg_attr(feature = "failpoints", track_caller)]
    pub fn here() -> Self {
        Self {
            #[cfg(feature = "failpoints")]
            place: std::panic::Location::caller(),
        }
    }

    /// Panics if this place was told to; `moment` tells several of one place apart.
    #[inline]
    pub fn reach(self, moment: &str) {
        let _ = moment;
        #[cfg(feature = "failpoints")]
        armed::reach(self.place, moment);
    }
}

/// Panics if the caller's place was told to.
#[inline]
#[cfg_attr(feature = "failpoints", track_caller)]
pub fn reach() {
    Failpoint::here().reach("");
}
