//! The campaign `power`: the power is cut at random times, and what a flush had said to be written must be there.
//!
//! The store lies on a file system in an image. While the program is stopped, the image is copied: what the kernel has
//! not written yet is missing in the copy, as after a power cut. The copy is mounted, which replays the file system's own
//! journal, recovered and counted. With `durability: process` the same cuts must lose rows, or they prove nothing.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::options::Options;
use super::random::Random;
use super::{empty_folder, own_host, write_figures};
use crate::Outcome;
use crate::terminal::say;

const CUTS: usize = 1_000;
const CUTS_SHORT: usize = 12;
const CUTS_PER_RUN: usize = 20;
const IMAGE_BYTES: u64 = 64 << 20;
/// How long a copy is tried for that nothing is written to meanwhile.
const COPIES_MAX: usize = 50;

/// Runs the campaign and its control.
pub(super) fn run(options: &Options) -> Outcome {
    let cuts = options.cases.unwrap_or(if options.is_short { CUTS_SHORT } else { CUTS });
    let folder = empty_folder("power")?;
    let host = own_host(&folder)?;
    if let Err(error) = Disk::new(&folder) {
        say(&format!("torture power: skipped, since an image cannot be mounted here: {error}"));
        return Ok(());
    }
    say(&format!("torture power: {cuts} cuts, --seed {}", options.seed));
    let begun = Instant::now();
    let mut campaign = Campaign { host, folder, random: Random::new(options.seed), options: *options };
    let control = campaign.cut("process", (cuts / 10).clamp(4, 50))?;
    let power = campaign.cut("power", cuts);
    let figures = json!({
        "campaign": "power",
        "seed": options.seed,
        "seconds": begun.elapsed().as_secs(),
        "power": power.as_ref().ok().map(Sum::figures),
        "process": control.figures(),
        "failure": power.as_ref().err().map(ToString::to_string),
    });
    let path = write_figures("power", &figures)?;
    let power = power?;
    say(&format!(
        "torture power: {} cuts, {} tasks written, {} lost, {} integrity errors; with durability: process {} of {} in {} \
         cuts; figures in {}",
        power.cuts,
        power.written,
        power.lost,
        power.damaged,
        control.lost,
        control.written,
        control.cuts,
        path.display()
    ));
    if control.lost == 0 {
        return Err("nothing was lost with durability: process either: the cuts are none".into());
    }
    if power.lost > 0 || power.damaged > 0 || control.damaged > 0 {
        return Err("a power cut lost what was written".into());
    }
    fs::remove_dir_all(&campaign.folder)?;
    Ok(())
}

/// The figures of the cuts.
#[derive(Debug, Default)]
struct Sum {
    cuts: usize,
    /// Tasks that a flush had said to be written before a cut, all cuts together.
    written: u64,
    lost: u64,
    damaged: u64,
}

impl Sum {
    fn figures(&self) -> serde_json::Value {
        json!({"cuts": self.cuts, "written": self.written, "lost": self.lost, "integrity_errors": self.damaged})
    }
}

struct Campaign {
    host: PathBuf,
    folder: PathBuf,
    random: Random,
    options: Options,
}

impl Campaign {
    fn cut(&mut self, durability: &str, cuts: usize) -> Outcome<Sum> {
        let mut sum = Sum::default();
        while sum.cuts < cuts && !self.options.is_over() {
            self.run(durability, CUTS_PER_RUN.min(cuts - sum.cuts), &mut sum)?;
            say(&format!("  {durability}: {} cuts, {} written, {} lost", sum.cuts, sum.written, sum.lost));
        }
        Ok(sum)
    }

    /// One program, and some cuts while it runs.
    fn run(&mut self, durability: &str, cuts: usize, sum: &mut Sum) -> Outcome {
        let disk = Disk::new(&self.folder)?;
        let program = Program::start(&self.host, &disk.mounted, durability)?;
        for _ in 0..cuts {
            program.signal("CONT")?;
            thread::sleep(Duration::from_micros(self.random.below(120_000)));
            // It stays so while the copy is looked at, or it would fill the image.
            program.signal("STOP")?;
            let copy = self.folder.join("copy.img");
            disk.copy(&copy)?;
            let written = program.written.load(Ordering::Acquire);
            self.check(&copy, written, sum)?;
        }
        Ok(())
    }

    /// Mounts what the power cut left, recovers and counts.
    fn check(&self, image: &Path, written: u64, sum: &mut Sum) -> Outcome {
        let mounted = Mounted::new(image, &self.folder.join("after"))?;
        let database = mounted.folder.join("provenance.db");
        succeed(Command::new(&self.host).arg("recover").arg(&mounted.folder))?;
        let query = "select count(*) from tasks where status = 'FINISHED'; pragma integrity_check";
        let answer = succeed(Command::new("sqlite3").arg("-readonly").arg(database).arg(query))?;
        let (found, integrity) = answer.trim().split_once('\n').ok_or("sqlite3 says nothing")?;
        sum.cuts += 1;
        sum.written += written;
        sum.lost += written.saturating_sub(found.parse()?);
        sum.damaged += u64::from(integrity != "ok");
        Ok(())
    }
}

/// The program, which says how much is written.
struct Program {
    child: Child,
    written: Arc<AtomicU64>,
}

impl Program {
    fn start(host: &Path, folder: &Path, durability: &str) -> Outcome<Self> {
        let mut command = Command::new(host);
        command.arg("power").current_dir(folder).stdout(Stdio::piped());
        command.env("TELEMETRY_STORE__PATH", folder.join("provenance.db"));
        command.env("TELEMETRY_STORE__DURABILITY", durability);
        command.env("TELEMETRY_CAPTURE__DEFAULT_LEVEL", "data");
        command.env("TELEMETRY_JOURNAL__LANE_BYTES", "65536");
        let mut child = command.spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("a pipe")?).lines();
        let written = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&written);
        thread::spawn(move || {
            for number in lines.map_while(Result::ok).filter_map(|line| line.parse().ok()) {
                told.store(number, Ordering::Release);
            }
        });
        Ok(Self { child, written })
    }

    fn signal(&self, name: &str) -> Outcome {
        succeed(Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string())).map(drop)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An image with a file system, mounted.
struct Disk {
    image: PathBuf,
    mounted: PathBuf,
    _mount: Mounted,
}

impl Disk {
    fn new(folder: &Path) -> Outcome<Self> {
        let image = folder.join("disk.img");
        File::create(&image)?.set_len(IMAGE_BYTES)?;
        succeed(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        let mount = Mounted::new(&image, &folder.join("disk"))?;
        Ok(Self { image, mounted: mount.folder.clone(), _mount: mount })
    }

    /// Copies the image such that nothing was written to it meanwhile.
    fn copy(&self, to: &Path) -> Outcome {
        for _ in 0..COPIES_MAX {
            let before = self.writes()?;
            fs::copy(&self.image, to)?;
            if self.writes()? == before {
                return Ok(());
            }
        }
        Err("the image is written to all the time".into())
    }

    /// What the kernel counts of the device: writes that are done, and requests under way.
    fn writes(&self) -> Outcome<String> {
        let source = succeed(Command::new("findmnt").args(["-n", "-o", "SOURCE"]).arg(&self.mounted))?;
        let device = source.trim().rsplit('/').next().unwrap_or_default().to_owned();
        Ok(fs::read_to_string(format!("/sys/block/{device}/stat"))?)
    }
}

/// A mounted image; unmounted when this is dropped.
struct Mounted {
    folder: PathBuf,
}

impl Mounted {
    fn new(image: &Path, folder: &Path) -> Outcome<Self> {
        fs::create_dir_all(folder)?;
        succeed(Command::new("mount").args(["-o", "loop"]).arg(image).arg(folder))?;
        Ok(Self { folder: folder.to_owned() })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}

fn succeed(command: &mut Command) -> Outcome<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!(
            "{command:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
