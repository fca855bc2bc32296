//! The arguments of the commands that compare, report and draw.

use std::path::PathBuf;

use clap::Args;

use super::FormatArguments;

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// Before: a workflow, by its id, the beginning of it, @last~1 or its name; with --campaign, a campaign
    #[arg(value_name = "A", default_value = "@last~1")]
    pub(crate) a: String,
    /// After
    #[arg(value_name = "B", default_value = "@last")]
    pub(crate) b: String,
    /// A and B are campaigns, of which all workflows are taken together
    #[arg(long, requires = "a", requires = "b")]
    pub(crate) campaign: bool,
    /// Exit with 4 if an activity is slower for sure, and by at least this much in the median, e.g. slower=10%
    #[arg(long, value_name = "slower=N%", value_parser = parse_slower)]
    pub(crate) fail_on: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CriticalPathArguments {
    /// A workflow: its id or the beginning of it, @last, @last~1, or its name
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// Show the chain call by call, in the order of time
    #[arg(long)]
    pub(crate) chain: bool,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct TimelineArguments {
    /// A workflow: its id or the beginning of it, @last, @last~1, or its name
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// How many levels of calls to show for each thread
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) depth: usize,
    /// Write a picture
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// A workflow: its id or the beginning of it, @last, @last~1, or its name
    #[arg(value_name = "ID", default_value = "@last")]
    pub(crate) id: String,
    /// Write one HTML file with plots, which needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write Markdown to a file, instead of to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print all numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Analyze {
    /// The file of packets of a session [default: the latest of the folder that the settings name]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Write the seven plots as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The share in `slower=10%`.
fn parse_slower(text: &str) -> Result<f64, String> {
    let number = text.strip_prefix("slower=").and_then(|rest| rest.strip_suffix('%'));
    let percent = number.and_then(|number| number.trim().parse::<f64>().ok());
    percent
        .filter(|percent| percent.is_finite() && *percent >= 0.0)
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "it looks like slower=10%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_share() {
        assert_eq!(parse_slower("slower=10%"), Ok(0.1));
        assert_eq!(parse_slower("slower=2.5 %"), Ok(0.025));
        for wrong in ["10%", "slower=10", "slower=-1%", "slower=NaN%", "faster=1%"] {
            assert!(parse_slower(wrong).is_err(), "{wrong}");
        }
    }
}
