//! `cargo xtask cost [--pairs N] [--short] [--wall]`: what recording a training costs, beside the same training without it.
//!
//! Instructions are counted by callgrind, of the whole process and all its threads, with one thread for the arithmetic:
//! they are nearly the same each time. Two lengths of the training are run, and their difference is compared: what a
//! program costs once (some 20 million instructions to make a database, a look at the machine) says nothing about a
//! training that takes hours. What one whole process takes is told, too. Under callgrind a program runs some hundred
//! times slower, so what happens every so many milliseconds, snapshots and commits, is made to happen as often as in a
//! run without it. Wall time is that of pairs of runs, one after the other; what is said of it is the interval in which
//! the mean ratio lies with 95 %.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::cargo::{cargo, target_folder};
use crate::terminal::say;

/// A way to run the example, and how many instructions it may take for each of the bare one's.
struct Variant {
    name: &'static str,
    limit: f64,
    settings: &'static [(&'static str, &'static str)],
}

const VARIANTS: [Variant; 2] = [
    Variant {
        name: "full",
        limit: 1.01,
        settings: &[
            ("INSTRUMENTATION__MODEL__EPOCH_LOOP", "default"),
            ("INSTRUMENTATION__MODEL__BATCH_LOOP", "default"),
        ],
    },
    Variant {
        name: "lightweight",
        limit: 1.002,
        settings: &[
            ("CAPTURE__DEFAULT_LEVEL", "lightweight"),
            ("INSTRUMENTATION__MODEL__CHILDREN_MODE", "lightweight"),
        ],
    },
];

/// What happens every so many milliseconds, by default.
const INTERVALS: [(&str, f64); 3] = [
    ("TELEMETRY_CAPTURE__MAX_AGE_MS", 100.0),
    ("TELEMETRY_CAPTURE__SLOW_AGE_MS", 1000.0),
    ("JOURNAL__DRAIN_INTERVAL_MS", 100.0),
];

/// The lengths of the training that are compared, in epochs. What only the first epoch costs is counted as if each did.
const EPOCHS: [u32; 2] = [0, 1];
/// The length of those whose time is taken.
const EPOCHS_TIMED: u32 = 3;

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let pairs = match arguments {
        [] => 30,
        ["--short"] => 0,
        ["--wall"] => return wall(&Program::build()?, 30),
        ["--pairs", number] => number.parse()?,
        _ => return Err("usage: cargo xtask cost [--pairs N] [--short] [--wall]".into()),
    };
    let program = Program::build()?;
    let began = Instant::now();
    let bare = program.counts(None, 1.0)?;
    let slow = began.elapsed().as_secs_f64();
    let slowness = slow / (program.seconds(None, EPOCHS[0])? + program.seconds(None, EPOCHS[1])?);
    say(&format!(
        "bare: {} instructions an epoch, {slowness:.0} times slower than without callgrind",
        grouped(bare.added())
    ));
    let mut too_many = Vec::new();
    for variant in &VARIANTS {
        let counts = program.counts(Some(variant), slowness)?;
        let ratio = counts.added() as f64 / bare.added() as f64;
        let whole = counts.many as f64 / bare.many as f64;
        say(&format!(
            "{}: {ratio:.5} × the instructions, at most {}; {whole:.5} for all of a process with {} epoch",
            variant.name, variant.limit, EPOCHS[1]
        ));
        if ratio > variant.limit {
            too_many.push(variant.name);
        }
    }
    if pairs > 1 {
        wall(&program, pairs)?;
    }
    if too_many.is_empty() {
        Ok(())
    } else {
        Err(format!("too many instructions: {}", too_many.join(", ")).into())
    }
}

/// Takes the wall time of so many pairs of runs of each variant.
fn wall(program: &Program, pairs: usize) -> Outcome {
    for variant in &VARIANTS {
        let (low, high) = interval(&program.ratios(variant, pairs)?);
        say(&format!("{}: {low:.3} to {high:.3} × the wall time, of {pairs} pairs", variant.name));
    }
    Ok(())
}

/// The instructions of both lengths.
struct Counts {
    few: u64,
    many: u64,
}

impl Counts {
    fn added(&self) -> u64 {
        self.many.saturating_sub(self.few).max(1)
    }
}

/// The example, and a folder to run it in.
struct Program {
    file: PathBuf,
    folder: PathBuf,
}

impl Program {
    fn build() -> Outcome<Self> {
        let arguments = [
            "build",
            "--release",
            "--package",
            "telemetry",
            "--features",
            "candle",
            "--example",
            "train_mlp",
        ];
        if !cargo().args(arguments).status()?.success() {
            return Err("the example does not build".into());
        }
        let target = target_folder()?;
        let program = Self { file: target.join("release/examples/train_mlp"), folder: target.join("cost") };
        fs::create_dir_all(&program.folder)?;
        program.seconds(Some(&VARIANTS[0]), EPOCHS[0])?;
        Ok(program)
    }

    /// A call of `program`; the example without recording where there is no variant.
    fn command(&self, program: &Path, variant: Option<&Variant>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("XDG_CONFIG_HOME", &self.folder);
        command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null());
        for (key, value) in variant.iter().flat_map(|variant| variant.settings) {
            command.env(format!("TELEMETRY_{key}"), value);
        }
        command
    }

    fn counts(&self, variant: Option<&Variant>, slowness: f64) -> Outcome<Counts> {
        let [few, many] = EPOCHS;
        let few = self.instructions(variant, slowness, few)?;
        Ok(Counts { few, many: self.instructions(variant, slowness, many)? })
    }

    fn instructions(&self, variant: Option<&Variant>, slowness: f64, epochs: u32) -> Outcome<u64> {
        let mut command = self.command(Path::new("valgrind"), variant);
        for (key, ms) in INTERVALS {
            command.env(format!("TELEMETRY_{key}"), format!("{:.0}", ms * slowness.max(1.0)));
        }
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&self.file).args([
            argument(variant),
            "--epochs",
            &epochs.to_string(),
        ]);
        let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
        collected.ok_or_else(|| format!("callgrind counted nothing: {text}").into())
    }

    fn seconds(&self, variant: Option<&Variant>, epochs: u32) -> Outcome<f64> {
        let mut command = self.command(&self.file, variant);
        let began = Instant::now();
        let status = command.args([argument(variant), "--epochs", &epochs.to_string()]).status()?;
        if status.success() { Ok(began.elapsed().as_secs_f64()) } else { Err("the example fails".into()) }
    }

    /// The ratio of each pair; which of the two is first changes from pair to pair.
    fn ratios(&self, variant: &Variant, pairs: usize) -> Outcome<Vec<f64>> {
        let pair = |number: usize| {
            if number.is_multiple_of(2) {
                let bare = self.seconds(None, EPOCHS_TIMED)?;
                Ok(self.seconds(Some(variant), EPOCHS_TIMED)? / bare)
            } else {
                let recorded = self.seconds(Some(variant), EPOCHS_TIMED)?;
                Ok(recorded / self.seconds(None, EPOCHS_TIMED)?)
            }
        };
        (0..pairs).map(pair).collect()
    }
}

fn argument(variant: Option<&Variant>) -> &'static str {
    if variant.is_some() { "--quiet" } else { "--bare" }
}

/// Where the mean lies with 95 %, of ratios, so on a logarithmic scale.
fn interval(ratios: &[f64]) -> (f64, f64) {
    let count = ratios.len() as f64;
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // Student's factor for 29 degrees of freedom; that for more is a little less.
    let margin = 2.045 * (variance / count).sqrt();
    ((mean - margin).exp(), (mean + margin).exp())
}

/// A number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_mean_and_shrinks_with_agreement() {
        let (low, high) = interval(&[1.1; 30]);
        assert!((low - 1.1).abs() < 1e-9 && (high - 1.1).abs() < 1e-9);
        let (low, high) = interval(&[0.9, 1.0, 1.1, 1.0]);
        assert!(low < 1.0 && 1.0 < high && low > 0.8);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!((grouped(7).as_str(), grouped(1_234_567).as_str()), ("7", "1,234,567"));
    }
}
