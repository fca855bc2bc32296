//! Readers.
