//! Records the provenance of workflows and model code.
