//! `cargo xtask fuzz [NAME…] [--short | --seconds N]`: runs the fuzz targets in `fuzz/`, all or those named.
//!
//! Builds with the coverage that libFuzzer follows, by flags that a stable compiler takes; no sanitizer is needed, since
//! the code is safe. What is found interesting stays in the target folder and is where the next run begins; an input
//! that fails is written there too, and named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::cargo::{cargo, target_folder, workspace};
use crate::terminal::say;

const SECONDS: u32 = 600;
const SECONDS_SHORT: u32 = 20;

/// What libFuzzer needs of the compiler: counters of branches, and the operands of comparisons.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

struct Options<'a> {
    names: Vec<&'a str>,
    seconds: u32,
}

impl<'a> Options<'a> {
    fn parse(arguments: &[&'a str]) -> Outcome<Self> {
        let mut options = Self { names: Vec::new(), seconds: SECONDS };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--short" => options.seconds = SECONDS_SHORT,
                "--seconds" => {
                    options.seconds = arguments.next().ok_or("--seconds needs a number")?.parse()?;
                }
                name => options.names.push(name),
            }
        }
        Ok(options)
    }
}

/// Runs the targets one after the other; the first that fails ends it.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let options = Options::parse(arguments)?;
    let known = targets()?;
    if let Some(unknown) = options.names.iter().find(|name| !known.iter().any(|known| known == *name)) {
        return Err(format!("there is no target {unknown}; there are {}", known.join(", ")).into());
    }
    let is_wanted = |name: &&String| options.names.is_empty() || options.names.contains(&name.as_str());
    known.iter().filter(is_wanted).try_for_each(|name| fuzz(name, options.seconds))
}

/// The names of the targets: their files.
fn targets() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace().join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

fn fuzz(name: &str, seconds: u32) -> Outcome {
    let folder = target_folder()?.join("fuzz");
    let program = build(name, &folder)?;
    let found = folder.join("found").join(name);
    let corpus = folder.join("corpus").join(name);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&corpus)?;
    say(&format!("fuzzing {name} for {seconds} s"));
    let mut fuzzer = std::process::Command::new(program);
    fuzzer.arg(format!("-max_total_time={seconds}")).args([
        "-max_len=4096",
        "-timeout=10",
        // Not a line for each input that is new: what fails would not be found between them.
        "-verbosity=0",
        "-print_final_stats=1",
    ]);
    fuzzer.arg(format!("-artifact_prefix={}/", found.display())).arg(corpus);
    let seeds = workspace().join("fuzz/seeds").join(name);
    if seeds.is_dir() {
        fuzzer.arg(seeds);
    }
    let status = fuzzer.status()?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: see {}", found.display()).into()) }
}

/// Builds a target and answers its program. With a target triple, what runs while building is not instrumented.
fn build(name: &str, folder: &Path) -> Outcome<PathBuf> {
    let triple = host()?;
    let mut build = cargo();
    build.args(["build", "--release", "--bin", name, "--target", &triple]);
    build.arg("--manifest-path").arg(workspace().join("fuzz/Cargo.toml")).arg("--target-dir").arg(folder);
    build.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    if !build.status()?.success() {
        return Err(format!("{name} does not build").into());
    }
    Ok(folder.join(triple).join("release").join(name))
}

fn host() -> Outcome<String> {
    let output = std::process::Command::new("rustc").args(["--version", "--verbose"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let triple = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(triple.ok_or("rustc names no host")?.to_owned())
}
