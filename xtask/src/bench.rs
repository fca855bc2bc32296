//! `cargo xtask bench [NAME…] [OPTIONS]`: the goals of performance beside peers.
//!
//! Every goal runs in a process of its own, so that no thread or setting of one is there while another is measured.
//! All of them run twice and of each comparison the worse one is reported; those that are named run once. Writes
//! `bench-results.json`.

mod instructions;
mod peers;
mod results;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cargo::{build_bench, build_program, workspace};
use crate::terminal::{complain, say};
use results::Comparison;

const RESULTS: &str = "bench-results.json";
/// The goals that need the program `telemetry`, the peers in Rust and those in Python.
const WITH_PROGRAM: &[&str] = &["cli"];
const WITH_RUST: &[&str] = &["peers"];
const WITH_PYTHON: &[&str] = &["data", "peers", "snapshot", "views", "start"];

#[derive(Debug, Default)]
struct Options<'a> {
    names: Vec<&'a str>,
    markdown: Option<&'a str>,
    is_quick: bool,
    is_without_python: bool,
    runs: Option<usize>,
}

impl<'a> Options<'a> {
    fn parse(arguments: &[&'a str]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--markdown" => options.markdown = Some(arguments.next().ok_or("--markdown needs a file")?),
                "--quick" => options.is_quick = true,
                "--without-python" => options.is_without_python = true,
                "--once" => options.runs = Some(1),
                "--twice" => options.runs = Some(2),
                option if option.starts_with('-') => return Err(format!("unknown option {option}").into()),
                name => options.names.push(name),
            }
        }
        Ok(options)
    }

    fn runs(&self) -> usize {
        let is_whole = self.names.is_empty() && !self.is_quick;
        self.runs.unwrap_or(if is_whole { 2 } else { 1 })
    }
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    if let ["instructions", rest @ ..] = arguments {
        return instructions::run(rest);
    }
    let options = Options::parse(arguments)?;
    let bench = Bench::build(&options)?;
    say(&bench.about()?);
    say(&surroundings());
    let mut failed = Vec::new();
    let runs: Vec<Vec<Comparison>> = (1..=options.runs()).map(|run| bench.run(run, &mut failed)).collect();
    let comparisons = results::worst(&runs);
    say(&surroundings());
    report(&options, &comparisons)?;
    if failed.is_empty() { Ok(()) } else { Err(format!("these failed: {}", failed.join(", ")).into()) }
}

/// Prints the table and writes the files.
fn report(options: &Options, comparisons: &[Comparison]) -> Outcome {
    let table = table::markdown(comparisons);
    say(&format!("\n{table}\n{}", table::summary(comparisons)));
    fs::write(workspace().join(RESULTS), serde_json::to_string_pretty(comparisons)? + "\n")?;
    if let Some(path) = options.markdown {
        fs::write(path, &table)?;
    }
    Ok(())
}

/// The time, and how busy the machine is: what else runs is in every figure.
fn surroundings() -> String {
    let time = Command::new("date").args(["-u", "+%H:%M:%S"]).output().map(|output| output.stdout);
    let time = String::from_utf8_lossy(&time.unwrap_or_default()).trim().to_owned();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("at {time} UTC, load of the machine: {}", load.trim())
}

/// The program that measures, and what it is called with.
struct Bench {
    program: PathBuf,
    names: Vec<String>,
    arguments: Vec<String>,
}

impl Bench {
    fn build(options: &Options) -> Outcome<Self> {
        let program = build_bench("goals")?;
        let names = names(&program, &options.names)?;
        let needs = |goals: &[&str]| names.iter().any(|name| goals.contains(&name.as_str()));
        let mut arguments = vec!["--brief".to_owned()];
        let mut add = |option: &str, path: &Path| {
            arguments.extend([option.to_owned(), path.display().to_string()]);
        };
        if needs(WITH_PROGRAM) {
            add("--program", &build_program("telemetry-cli")?);
        }
        if needs(WITH_RUST) {
            add_or_complain("--peers", peers::rust(), &mut add);
        }
        if needs(WITH_PYTHON) && !options.is_without_python {
            add_or_complain("--python", peers::python(), &mut add);
        }
        if options.is_quick {
            arguments.push("--quick".to_owned());
        }
        Ok(Self { program, names, arguments })
    }

    /// The measured function and the settings.
    fn about(&self) -> Outcome<String> {
        let output = Command::new(&self.program).arg("--about").output()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Measures every goal; one that fails does not keep the others from it.
    fn run(&self, run: usize, failed: &mut Vec<String>) -> Vec<Comparison> {
        let mut comparisons = Vec::new();
        for name in &self.names {
            say(&format!("-- {name}, run {run}"));
            match self.measure(name) {
                Ok(measured) => comparisons.extend(measured),
                Err(error) => {
                    complain(&format!("{name}: {error}"));
                    failed.push(name.clone());
                }
            }
        }
        comparisons
    }

    fn measure(&self, name: &str) -> Outcome<Vec<Comparison>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("results.json");
        let mut command = Command::new(&self.program);
        command.arg(name).args(&self.arguments).arg("--json").arg(&path);
        // What a program in this folder would look for is not there.
        peers::succeed(command.current_dir(folder.path()))?;
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

fn add_or_complain(option: &str, peer: Outcome<PathBuf>, add: &mut impl FnMut(&str, &Path)) {
    match peer {
        Ok(path) => add(option, &path),
        Err(why) => complain(&format!("warning: some peers cannot be had here: {why}")),
    }
}

/// The goals that were named, or all.
fn names(program: &Path, wanted: &[&str]) -> Outcome<Vec<String>> {
    let output = Command::new(program).arg("--list").output()?;
    let known = String::from_utf8(output.stdout)?;
    let known: Vec<&str> = known.lines().collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        return Err(format!("no goal is called {unknown}; there are {}", known.join(", ")).into());
    }
    let is_wanted = |name: &&&str| wanted.is_empty() || wanted.contains(*name);
    Ok(known.iter().filter(is_wanted).map(|name| (*name).to_owned()).collect())
}
