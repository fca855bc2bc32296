//! later
use super::options::Options;
use crate::Outcome;
pub(super) fn run(_options: &Options) -> Outcome {
    Err("later".into())
}
