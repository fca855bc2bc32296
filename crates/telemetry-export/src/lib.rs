//! Formats in which records leave telemetry.
