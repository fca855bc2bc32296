//! The options of a campaign.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How long a campaign is, and what its dice say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) is_short: bool,
    pub(super) kills: Option<usize>,
    pub(super) cases: Option<usize>,
    /// So many cases were done by an earlier run with the same seed.
    pub(super) done: usize,
    pub(super) seed: u64,
    /// When to stop and report, however much is done.
    pub(super) end: Option<Instant>,
    /// Only the control.
    pub(super) queue: bool,
    /// The example in candle instead of the host program.
    pub(super) moe: bool,
}

impl Options {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let seed = RandomState::new().hash_one(std::process::id());
        let mut options = Self {
            is_short: false,
            kills: None,
            cases: None,
            done: 0,
            seed,
            end: None,
            queue: false,
            moe: false,
        };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let mut number = || {
                let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
                value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"))
            };
            match *name {
                "--short" => options.is_short = true,
                "--kills" => options.kills = Some(number()? as usize),
                "--cases" => options.cases = Some(number()? as usize),
                "--done" => options.done = number()? as usize,
                "--seed" => options.seed = number()?,
                "--minutes" => options.end = Some(Instant::now() + Duration::from_mins(number()?)),
                "--queue" => options.queue = true,
                "--moe" => options.moe = true,
                _ => return Err(format!("there is no option {name}\n\n{}", crate::USAGE)),
            }
        }
        Ok(options)
    }

    /// Whether it is time to stop and report.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}
