//! The SQLite store of telemetry: schema, drain, recovery, readers.
