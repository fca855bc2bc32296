//! Values through the encoder and out as JSON.
