//! The options of a load.

/// How much is called, and what the ledger is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Threads that call.
    pub(crate) threads: u32,
    /// How deep the calls nest.
    pub(crate) levels: u32,
    /// Tasks of a thread, children included; none for calling until killed.
    pub(crate) tasks: Option<u64>,
    /// Every so many calls, one has arguments that fill a small lane.
    pub(crate) large_every: Option<u64>,
    /// A thread ends after so many calls, and another goes on in its place.
    pub(crate) calls_a_life: Option<u64>,
    /// Children that are forked.
    pub(crate) children: u32,
    /// Whether the ledger is told.
    pub(crate) acknowledge: bool,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            threads: 4,
            levels: 4,
            tasks: None,
            large_every: None,
            calls_a_life: None,
            children: 1,
            acknowledge: true,
        };
        while let Some(name) = arguments.next() {
            let mut number = || {
                let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
                value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"))
            };
            match name.as_str() {
                "--threads" => options.threads = number()? as u32,
                "--levels" => options.levels = number()?.max(1) as u32,
                "--tasks" => options.tasks = Some(number()?),
                "--large-every" => options.large_every = Some(number()?.max(1)),
                "--calls-a-life" => options.calls_a_life = Some(number()?.max(1)),
                "--children" => options.children = number()? as u32,
                "--quiet" => options.acknowledge = false,
                _ => return Err(format!("there is no option {name}")),
            }
        }
        Ok(options)
    }
}
