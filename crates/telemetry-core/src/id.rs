//! Ids: UUID version 7, sixteen bytes in a record, canonical text in SQL and JSON.

use std::fmt;
use std::str::FromStr;

use telemetry_journal::clock::unix_ms;
use telemetry_journal::process::random_bits;
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The id with these 128 bits.
            pub const fn from_u128(bits: u128) -> Self {
                Self(bits)
            }

            /// The 128 bits of the id.
            pub const fn as_u128(self) -> u128 {
                self.0
            }

            /// The id from two words of a record, or none where both are zero.
            pub const fn from_words(high: u64, low: u64) -> Option<Self> {
                match ((high as u128) << 64) | low as u128 {
                    0 => None,
                    bits => Some(Self(bits)),
                }
            }

            /// The two words that a record carries, high half first.
            pub const fn words(self) -> [u64; 2] {
                [(self.0 >> 64) as u64, self.0 as u64]
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&Uuid::from_u128(self.0).as_hyphenated(), formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                Uuid::try_parse(text)
                    .map(|uuid| Self(uuid.as_u128()))
                    .map_err(|source| ParseIdError { text: text.to_owned(), source })
            }
        }
    };
}

id! {
    /// The id of one task.
    TaskId
}
id! {
    /// The id of one workflow.
    WorkflowId
}
id! {
    /// The id of one recorder: one process's capturing, and so of its journal.
    RecorderId
}

impl RecorderId {
    /// A new id: version 7, of now.
    pub fn generate() -> Self {
        let now = unix_ms();
        let random = u128::from(random_bits()) << 64 | u128::from(random_bits());
        let id = uuid::Builder::from_unix_timestamp_millis(
            now,
            &random.to_be_bytes().last_chunk().copied().unwrap_or_default(),
        );
        Self(id.into_uuid().as_u128())
    }
}

/// A text that is not an id.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is not an id")]
pub struct ParseIdError {
    text: String,
    source: uuid::Error,
}
