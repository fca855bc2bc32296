//! `cargo xtask test`.

use crate::Outcome;

pub(crate) fn run() -> Outcome {
    Err("later".into())
}
