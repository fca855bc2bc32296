//! `cargo xtask instrument CRATE…`: puts `#[task]` on every eligible function of a crate from the registry, in a scratch
//! copy, and runs the crate's own tests, before and after.
//!
//! Eligible is every function and method with a body that is not `const`, not variadic, and not inside a `macro_rules!`.

mod attributes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::cargo::{target_folder, workspace};
use crate::terminal::say;

/// Instruments each crate and runs its tests.
pub(crate) fn run(names: &[&str]) -> Outcome {
    if names.is_empty() {
        return Err("usage: cargo xtask instrument CRATE…".into());
    }
    let scratch = target_folder()?.join("instrument");
    for name in names {
        instrument(name, &scratch)?;
    }
    Ok(())
}

fn instrument(name: &str, scratch: &Path) -> Outcome {
    let source = download(name, scratch)?;
    let copy = scratch.join(name);
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(&source, &copy)?;
    make_workspace(&copy)?;
    say(&format!("{name}: its tests as they are"));
    let bare = tests(&copy, scratch)?;
    let count = attributes::add_to_folder(&copy.join("src"))?;
    depend_on_us(&copy)?;
    say(&format!("{name}: its tests with #[task] on {count} functions"));
    let recorded = tests(&copy, scratch)?;
    if bare != recorded {
        return Err(format!("{name}: {bare} tests passed without the attribute, {recorded} with it").into());
    }
    say(&format!("{name}: {recorded} tests pass, with #[task] on {count} functions"));
    Ok(())
}

/// Where cargo keeps the newest version of a crate, gotten by a package that depends on it.
fn download(name: &str, scratch: &Path) -> Outcome<PathBuf> {
    let folder = scratch.join(format!("get-{name}"));
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "//! Only depends on something.\n")?;
    let manifest = format!(
        "[package]\nname = \"get\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{name} = \"*\"\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let output =
        Command::new("cargo").args(["metadata", "--format-version=1"]).current_dir(&folder).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo lists no packages")?;
    let package = packages.iter().find(|package| package["name"] == name).ok_or("cargo did not get it")?;
    let manifest = package["manifest_path"].as_str().ok_or("the package has no manifest")?;
    Ok(Path::new(manifest).parent().ok_or("a manifest lies in a folder")?.to_owned())
}

fn copy_folder(from: &Path, to: &Path) -> Outcome {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // Read and written, since the files of the registry are read-only.
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// The copy lies below our own workspace, which it is no part of.
fn make_workspace(copy: &Path) -> Outcome {
    append(&copy.join("Cargo.toml"), "\n[workspace]\n")
}

fn depend_on_us(copy: &Path) -> Outcome {
    let dependency = format!("\n[dependencies.telemetry]\npath = \"{}\"\n", workspace().display());
    append(&copy.join("Cargo.toml"), &dependency)
}

fn append(path: &Path, text: &str) -> Outcome {
    let mut all = fs::read_to_string(path)?;
    all.push_str(text);
    Ok(fs::write(path, all)?)
}

/// Runs the tests and answers how many passed; an error where one failed. Examples in the docs are left out, since
/// they are built by another crate.
fn tests(copy: &Path, scratch: &Path) -> Outcome<usize> {
    let mut command = Command::new("cargo");
    command.args(["test", "--lib", "--tests", "--no-fail-fast"]).current_dir(copy);
    let output = command.env("CARGO_TARGET_DIR", scratch.join("target")).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the tests do not pass:\n{text}\n{complaints}").into());
    }
    let results = text.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    Ok(results.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok()).sum())
}
