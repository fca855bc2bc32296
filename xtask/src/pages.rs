//! `cargo xtask pages`: opens the report and the plots of a run in headless Chromium, light and dark.
//!
//! Nothing may be said on the console, nothing may be loaded, and axe must find no fault with contrast, labels and the
//! rest of WCAG 2 AA; `pages/check.mjs` has the checks. Chromium must be there; what else is needed comes by npm, into the
//! target folder. Without Chromium or npm nothing is checked, and that is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::cargo::{cargo, target_folder, workspace};
use crate::terminal::say;
use crate::test::succeed;

/// Under which names Chromium is known.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The last major version that runs on the Node of current distributions.
const PACKAGES: [&str; 2] = ["puppeteer-core@24.43.1", "axe-core@4.14.0"];

/// Makes the pages and checks them.
pub(crate) fn run() -> Outcome {
    let Some(chromium) = BROWSERS.into_iter().find_map(find) else {
        say("skipped: Chromium is not installed\nhint: apt-get install chromium");
        return Ok(());
    };
    if find("node").is_none() || find("npm").is_none() {
        say("skipped: node and npm are not installed\nhint: apt-get install nodejs npm");
        return Ok(());
    }
    let folder = target_folder()?.join("pages");
    fs::create_dir_all(&folder)?;
    succeed(
        Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&folder)
            .args(PACKAGES),
    )?;
    let files = make_pages(&folder.join("run"))?;
    let pictures = folder.join("pictures");
    let mut check = Command::new("node");
    check.arg(workspace().join("xtask/src/pages/check.mjs"));
    check.arg(chromium).arg(&folder).arg(&pictures).args(files);
    succeed(&mut check)?;
    say(&format!("pictures of all of them are in {}", pictures.display()));
    Ok(())
}

/// Runs the example with something to look at, and writes everything that draws.
fn make_pages(folder: &Path) -> Outcome<Vec<PathBuf>> {
    succeed(cargo().args(["build", "--quiet", "--package", "telemetry-cli"]))?;
    succeed(cargo().args(["build", "--quiet", "--package", "telemetry", "--example", "forecast"]))?;
    let programs = target_folder()?.join("debug");
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env("TELEMETRY_SESSION__ENABLED", "true");
        succeed(command.stdout(Stdio::null()))
    };
    run(&programs.join("examples/forecast"), &[])?;
    let telemetry = programs.join("telemetry");
    run(&telemetry, &["report", "--html", "report.html"])?;
    run(&telemetry, &["timeline", "--svg", "threads.svg"])?;
    run(&telemetry, &["analyze", "--plots", "plots"])?;
    let plots = fs::read_dir(folder.join("plots"))?.map(|entry| Ok(entry?.path()));
    let mut files = plots.collect::<std::io::Result<Vec<PathBuf>>>()?;
    files.sort();
    files.splice(0..0, ["report.html", "threads.svg"].map(|name| folder.join(name)));
    Ok(files)
}

/// Where a program is, by its name.
fn find(program: &str) -> Option<PathBuf> {
    let output = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(path.trim()))
}
