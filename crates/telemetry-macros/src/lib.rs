//! The attributes of telemetry: tokens in, tokens out.
