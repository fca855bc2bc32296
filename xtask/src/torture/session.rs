//! The campaign `session`: SIGKILL while session files are written, recovery, and files against database.
//!
//! A few kills share a folder. After a kill the folder is recovered by hand, by hand after a recovery that
//! was killed too, or by the next start. Then memory is looked at: while packets are written it must not grow
//! after their first third, and the figures of 100,000 packets must need no more than those of 50,000.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::options::Options;
use super::random::Random;
use super::recovery::recover;
use super::{empty_folder, write_figures};
use crate::Outcome;
use crate::cargo::{build_example, build_program};
use crate::terminal::say;

const KILLS: usize = 50;
const KILLS_SHORT: usize = 6;
const KILLS_PER_FOLDER: usize = 3;
/// What must have been in the files at a kill on average, or the campaign proves little.
const ROWS_MEAN_MIN: u64 = 100;
/// The few, by which the database library has filled its caches, and the many.
const PACKETS: [u64; 2] = [50_000, 100_000];
/// How much more memory the many may take: less than 50 bytes a packet, which a logger of rows keeps.
const GROWTH_MAX_KIB: u64 = 3_072;
const SCRIPT: &str = include_str!("session.py");

/// Runs the campaign.
pub(super) fn run(options: &Options) -> Outcome {
    let kills = options.kills.unwrap_or(if options.is_short { KILLS_SHORT } else { KILLS });
    let host = build_program("telemetry-torture-host")?;
    let example = options.moe.then(|| build_example("moe_inference", "candle")).transpose()?;
    say(&format!("torture session: {kills} kills, --seed {}", options.seed));
    let begun = Instant::now();
    let folder = empty_folder("session")?;
    let delay_us_max = if options.is_short { 150_000 } else { 600_000 };
    let random = Random::new(options.seed);
    let mut campaign = Campaign { host, example, folder, random, delay_us_max };
    let (mut sessions, mut rows) = (0, 0);
    for first in (0..kills).step_by(KILLS_PER_FOLDER) {
        let found = campaign.run_folder(first, KILLS_PER_FOLDER.min(kills - first))?;
        sessions += found["sessions"].as_u64().unwrap_or(0);
        rows += found["rows"].as_u64().unwrap_or(0);
    }
    if rows < ROWS_MEAN_MIN * kills as u64 {
        return Err(format!("{rows} rows in {kills} kills are too few to prove anything").into());
    }
    let packets = if options.is_short { &[][..] } else { &PACKETS };
    let peaks = packets.iter().map(|&packets| campaign.peaks_kib(packets)).collect::<Outcome<Vec<_>>>()?;
    let figures = json!({
        "campaign": "session", "seed": options.seed, "kills": kills, "sessions": sessions, "rows": rows,
        "packets": packets, "peaks_kib": peaks, "seconds": begun.elapsed().as_secs(),
    });
    let path = write_figures("session", &figures)?;
    let mut line = format!("{kills} kills, {sessions} sessions with {rows} rows agree with the database");
    for (packets, [first, last, end]) in packets.iter().zip(&peaks) {
        let _ = write!(
            line,
            "; {packets} packets took at most {first} KiB by their first third, {last} by the last, {end} with figures"
        );
    }
    say(&format!("torture session: {line}; figures in {}", path.display()));
    let grows = |few: u64, many: u64| many > few + GROWTH_MAX_KIB;
    if let [few, many] = peaks[..]
        && (grows(many[0], many[1]) || grows(few[2], many[2]))
    {
        return Err("memory grows with the packets".into());
    }
    Ok(fs::remove_dir_all(&campaign.folder)?)
}

struct Campaign {
    host: PathBuf,
    /// The example that is killed instead.
    example: Option<PathBuf>,
    folder: PathBuf,
    random: Random,
    delay_us_max: u64,
}

impl Campaign {
    /// Some kills in one folder; answers what was found after the last.
    fn run_folder(&mut self, first: usize, kills: usize) -> Outcome<Value> {
        let folder = self.new_folder(&format!("kills-{first}"))?;
        for kill in 1..=kills {
            let fail = |what: &dyn std::fmt::Display| {
                format!("kill {}: {what}; the evidence is in {}", first + kill, folder.display())
            };
            self.record_and_kill(&folder)?;
            self.recover(&folder).map_err(|error| fail(&error))?;
            let answer = check(&folder)?;
            if answer["failures"] != json!([]) || fs::metadata(folder.join("complaints"))?.len() > 0 {
                return Err(fail(&answer["failures"]).into());
            }
            if kill == kills {
                fs::remove_dir_all(&folder)?;
                say(&format!("  {} kills: {}", first + kill, answer["figures"]));
                return Ok(answer["figures"].clone());
            }
        }
        Ok(Value::Null)
    }

    fn record_and_kill(&mut self, folder: &Path) -> Outcome {
        let mut command = if let Some(example) = &self.example {
            let mut command = Command::new(example);
            command.args(["--tokens", "1000000"]).stdout(Stdio::null());
            command
        } else {
            let mut command = self.load(&["--threads", "2"]);
            command.stdout(append(folder, "ledger")?);
            command
        };
        let mut program = settings(&mut command, folder).stderr(append(folder, "complaints")?).spawn()?;
        thread::sleep(Duration::from_micros(20_000 + self.random.below(self.delay_us_max)));
        program.kill()?;
        program.wait()?;
        Ok(())
    }

    /// By hand, by hand after a recovery that was killed, or by the next start.
    fn recover(&mut self, folder: &Path) -> Outcome {
        if self.random.one_in(3) {
            let mut command = self.load(&["--threads", "1", "--tasks", "10", "--quiet"]);
            let status = settings(&mut command, folder)
                .stdout(Stdio::null())
                .stderr(append(folder, "complaints")?)
                .status()?;
            return if status.success() { Ok(()) } else { Err(format!("the next start: {status}").into()) };
        }
        if self.random.one_in(2) {
            let mut recovery =
                Command::new(&self.host).arg("recover").arg(folder).stdout(Stdio::null()).spawn()?;
            thread::sleep(Duration::from_micros(self.random.below(100_000)));
            recovery.kill()?;
            recovery.wait()?;
        }
        recover(&self.host, folder)
    }

    /// The most memory that so many packets took, by their first third, by the last and by the end.
    fn peaks_kib(&self, packets: u64) -> Outcome<[u64; 3]> {
        let folder = self.new_folder(&format!("packets-{packets}"))?;
        let tasks = (packets / 2).to_string();
        let mut command = self.load(&["--threads", "2", "--tasks", &tasks, "--quiet"]);
        let output = settings(&mut command, &folder).stderr(append(&folder, "complaints")?).output()?;
        let peaks = serde_json::from_slice(&output.stdout)?;
        let found = check(&folder)?;
        if found["failures"] != json!([]) || found["figures"]["rows"] != packets {
            return Err(format!("{packets} packets: {found}").into());
        }
        Ok(peaks)
    }

    fn load(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.host);
        command.arg("session").args(options);
        command
    }

    fn new_folder(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }
}

fn settings<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command
        .current_dir(folder)
        .env("TELEMETRY_STORE__PATH", folder.join("provenance.db"))
        .env("TELEMETRY_SESSION__ENABLED", "true")
        .env("TELEMETRY_SESSION__OUTPUT_DIR", folder.join("sessions"))
        .env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data")
}

fn append(folder: &Path, name: &str) -> std::io::Result<File> {
    File::options().create(true).append(true).open(folder.join(name))
}

fn check(folder: &Path) -> Outcome<Value> {
    let script = folder.join("session.py");
    fs::write(&script, SCRIPT)?;
    let mut command = Command::new("python3");
    command.arg(&script).arg(folder.join("provenance.db")).arg(folder.join("sessions"));
    let ledger = folder.join("ledger");
    if ledger.exists() {
        command.arg(ledger);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("the check failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
