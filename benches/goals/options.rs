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
    /// Where the table goes as Markdown.
    pub(crate) markdown: Option<PathBuf>,
    /// A Python that can import the peers written in it.
    pub(crate) python: Option<PathBuf>,
    /// The program `telemetry`.
    pub(crate) program: Option<PathBuf>,
    /// Only start a recorder, in this way, and print what that took.
    pub(crate) start: Option<String>,
    /// Whether `tracing` gets a subscriber. Nobody wants that of a bench, but the optimizer cannot know.
    pub(crate) has_subscriber: bool,
}

impl Options {
    pub(crate) fn from_arguments(
        mut arguments: impl Iterator<Item = String>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut path = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} needs a path"));
            match argument.as_str() {
                "--json" => options.json = Some(path()?),
                "--markdown" => options.markdown = Some(path()?),
                "--python" => options.python = Some(path()?),
                "--program" => options.program = Some(path()?),
                "--start" => options.start = arguments.next(),
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
