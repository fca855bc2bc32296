//! What the command line says.

use std::error::Error;
use std::path::PathBuf;

/// The wishes of whoever runs the benches.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Which goals are measured; all if there is none.
    pub(crate) names: Vec<String>,
    /// Where the results go as JSON.
    pub(crate) json: Option<PathBuf>,
    /// A Python that can import the peers written in it.
    pub(crate) python: Option<PathBuf>,
    /// The program `telemetry`.
    pub(crate) program: Option<PathBuf>,
    /// The program of the peers in Rust.
    pub(crate) peers: Option<PathBuf>,
    /// Few rounds: shows that all of it works, and about what comes out.
    pub(crate) is_quick: bool,
    /// Does not say what is measured.
    pub(crate) is_brief: bool,
    /// Only say this.
    pub(crate) only: Option<Only>,
    /// Whether `tracing` gets a subscriber. Nobody wants that of a bench, but the optimizer cannot know.
    pub(crate) has_subscriber: bool,
}

/// A question, and what else must be known to answer it.
#[derive(Debug)]
pub(crate) struct Only {
    pub(crate) what: String,
    pub(crate) how: String,
}

impl Options {
    /// Of so many rounds as are worth their while, those that this run takes.
    pub(crate) fn rounds(&self, count: usize) -> usize {
        if self.is_quick { (count / 10).max(3) } else { count }
    }

    /// Of so many tasks, those that this run takes.
    pub(crate) fn tasks(&self, count: usize) -> usize {
        if self.is_quick { (count / 10).max(1) } else { count }
    }

    pub(crate) fn from_arguments(
        mut arguments: impl Iterator<Item = String>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut path = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} needs a path"));
            match argument.as_str() {
                "--json" => options.json = Some(path()?),
                "--python" => options.python = Some(path()?),
                "--program" => options.program = Some(path()?),
                "--peers" => options.peers = Some(path()?),
                "--quick" => options.is_quick = true,
                "--list" | "--about" => {
                    options.only = Some(Only { what: argument, how: String::new() });
                }
                "--brief" => options.is_brief = true,
                "--start" | "--busy" | "--many" => {
                    let how = arguments.next().ok_or(format!("{argument} needs to know how"))?;
                    options.only = Some(Only { what: argument, how });
                }
                "--subscriber" => options.has_subscriber = true,
                // Cargo says so to every bench.
                "--bench" => {}
                _ if argument.starts_with('-') => return Err(format!("unknown option {argument}").into()),
                _ => options.names.push(argument),
            }
        }
        Ok(options)
    }
}
