//! Where our dependencies come from, what they allow, and that those with known holes are not among them.
//!
//! `deny.toml` says the same to `cargo deny`, which knows the advisories too; this needs no program and no network.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// As in `deny.toml`.
const LICENSES: &[&str] = &["MIT", "Apache-2.0", "BSD-3-Clause", "ISC", "Unicode-3.0", "Zlib"];

/// Versions before these can lose committed rows, free memory twice, map memory wrongly or print what they were sent.
const OLDEST: &[(&str, [u64; 3])] = &[
    ("libsqlite3-sys", [0, 37, 0]),
    ("rusqlite", [0, 40, 0]),
    ("memmap2", [0, 9, 11]),
    ("crossbeam-channel", [0, 5, 15]),
    ("crossbeam-epoch", [0, 9, 20]),
    ("tracing-subscriber", [0, 3, 20]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All packages of the lock file that this target builds.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn text<'a>(package: &'a Value, name: &str) -> &'a str {
    package[name].as_str().unwrap_or_default()
}

/// Whether one of the ways out of an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` is allowed throughout.
fn is_allowed(expression: &str) -> bool {
    let is_known = |license: &str| {
        let license = license.trim_matches([' ', '(', ')']).split(" WITH ").next().unwrap_or_default();
        LICENSES.contains(&license)
    };
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| part.split(" OR ").any(is_known))
}

#[test]
fn licenses_are_those_that_we_allow() {
    let refused: Vec<String> = packages()
        .iter()
        .filter(|package| !is_allowed(text(package, "license")))
        .map(|package| format!("{} {}", text(package, "name"), package["license"]))
        .collect();
    assert_eq!(refused, Vec::<String>::new());
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0") && is_allowed("GPL-3.0 OR MIT"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0"));
    let deny = fs::read_to_string(root().join("deny.toml")).expect("a file");
    assert!(
        LICENSES.iter().all(|license| deny.contains(&format!("{license:?}"))),
        "deny.toml says otherwise"
    );
}

#[test]
fn dependencies_come_from_the_registry_or_from_here() {
    let sources: BTreeSet<String> =
        packages().iter().map(|package| text(package, "source").chars().take(9).collect()).collect();
    assert!(sources.iter().all(|source| ["", "registry+", "sparse+ht"].contains(&&**source)), "{sources:?}");
}

#[test]
fn versions_with_known_holes_are_not_among_them() {
    let packages = packages();
    for (name, oldest) in OLDEST {
        for package in packages.iter().filter(|package| text(package, "name") == *name) {
            let version = text(package, "version");
            let parts = version.split(['.', '-', '+']).map_while(|part| part.parse().ok());
            assert!(parts.collect::<Vec<u64>>() >= oldest.to_vec(), "{name} {version}");
        }
    }
    assert!(packages.iter().any(|package| text(package, "name") == "libsqlite3-sys"));
}

#[test]
fn nothing_of_ours_runs_at_build_time_but_the_macros_and_they_touch_nothing() {
    for entry in fs::read_dir(root().join("crates")).expect("a folder").flatten() {
        assert!(!entry.path().join("build.rs").exists(), "{} has a build script", entry.path().display());
    }
    assert!(!root().join("build.rs").exists());
    let mut folders = vec![root().join("crates/telemetry-macros/src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file");
            for reach in [
                "std::fs",
                "std::net",
                "std::env",
                "std::process",
                "std::io",
                "include_str!",
                "include_bytes!",
            ] {
                assert!(!text.contains(reach), "{} reaches for {reach}", path.display());
            }
        }
    }
}
