//! House rules that no lint can hold: who may use whom, and where `unsafe` and SQL may stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The rooms, and the rooms of ours that each may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("telemetry-macros", &[]),
    ("telemetry-journal", &[]),
    ("telemetry-core", &["telemetry-journal"]),
    ("telemetry-sensors", &["telemetry-core"]),
    ("telemetry-store", &["telemetry-core", "telemetry-journal"]),
    ("telemetry-export", &["telemetry-core", "telemetry-store"]),
    (
        "telemetry-cli",
        &[
            "telemetry",
            "telemetry-core",
            "telemetry-export",
            "telemetry-journal",
            "telemetry-sensors",
            "telemetry-store",
        ],
    ),
    (
        "telemetry",
        &[
            "telemetry-core",
            "telemetry-export",
            "telemetry-journal",
            "telemetry-macros",
            "telemetry-sensors",
            "telemetry-store",
        ],
    ),
    ("telemetry-torture-host", &["telemetry", "telemetry-core", "telemetry-journal", "telemetry-store"]),
    ("xtask", &[]),
];

/// Packages that a room must not pull into a user's build, directly.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("telemetry-core", &["rusqlite", "tokio", "sysinfo", "hyper", "ureq"]),
    ("telemetry-journal", &["serde", "serde_json", "rusqlite", "tokio"]),
    ("telemetry-sensors", &["rusqlite", "tokio", "hyper", "ureq"]),
    ("telemetry-store", &["tokio", "hyper", "ureq"]),
];

const UNSAFE_BLOCKS_MAX: usize = 20;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The packages of the workspace and what they depend on, tests aside.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages.iter().map(|package| (text(&package["name"]), used_by(package))).collect()
}

fn used_by(package: &Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
    let in_builds = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
    in_builds.map(|dependency| text(&dependency["name"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let is_ours = entry.file_name().is_some_and(|name| name != "target" && name != ".git");
        if entry.is_dir() && is_ours {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a source file")
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    for (package, used) in dependencies() {
        let may_use = allowed.get(package.as_str()).unwrap_or_else(|| panic!("{package} is no room"));
        for room in used.iter().filter(|name| allowed.contains_key(name.as_str())) {
            assert!(may_use.contains(&room.as_str()), "{package} must not use {room}");
        }
        for (room, forbidden) in FORBIDDEN.iter().filter(|(room, _)| *room == package) {
            let found: Vec<_> = used.iter().filter(|name| forbidden.contains(&name.as_str())).collect();
            assert!(found.is_empty(), "{room} must not depend on {found:?}");
        }
    }
}

#[test]
fn unsafe_stands_in_the_journal_alone() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    sources(&root().join("src"), &mut files);
    let mut blocks = 0;
    for path in files {
        let count = read(&path).matches("unsafe {").count();
        if path.starts_with(root().join("crates/telemetry-journal")) {
            blocks += count;
        } else if !path.starts_with(root().join("crates/telemetry-macros")) {
            assert_eq!(count, 0, "{} has an unsafe block", path.display());
        }
    }
    assert!((1..=UNSAFE_BLOCKS_MAX).contains(&blocks), "{blocks} unsafe blocks in the journal");
    for (room, _) in
        ROOMS.iter().filter(|(room, _)| room.starts_with("telemetry-") && *room != "telemetry-journal")
    {
        let folder = root().join("crates").join(room).join("src");
        let entry =
            ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|path| path.exists());
        if let Some(entry) = entry {
            assert!(read(&entry).contains("#![forbid(unsafe_code)]"), "{} allows unsafe", entry.display());
        }
    }
}

#[test]
fn sql_stands_in_the_store_alone() {
    let mut files = Vec::new();
    for room in ["cli", "core", "export", "journal", "macros", "sensors"] {
        sources(&root().join(format!("crates/telemetry-{room}/src")), &mut files);
    }
    sources(&root().join("src"), &mut files);
    for path in files {
        let text = read(&path).to_lowercase();
        let statement = ["insert into ", "delete from ", "create table ", "pragma "];
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            assert!(!statement.iter().any(|sql| line.contains(sql)), "{}: {line}", path.display());
        }
    }
}

#[test]
fn files_say_what_they_are_for_and_stay_readable() {
    let mut files = Vec::new();
    for folder in ["crates", "src", "xtask", "examples", "benches"] {
        sources(&root().join(folder), &mut files);
    }
    for path in files.iter().filter(|path| !path.components().any(|part| part.as_os_str() == "ui")) {
        let text = read(path);
        assert!(
            text.starts_with("//!") || text.starts_with("#!"),
            "{} does not say what it is for",
            path.display()
        );
        // Generated code cannot expect what depends on the user's function.
        let is_generator = path.starts_with(root().join("crates/telemetry-macros/src"));
        let has_allow = text.contains("#[allow(") && !is_generator;
        assert!(!has_allow, "{} has an allow: use expect with a reason", path.display());
        assert!(text.lines().count() <= 700, "{} is too long", path.display());
    }
}
