//! Damages what a killed program left, and recovers it: nothing may panic, and nothing may be thrown away.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::json;
use telemetry_store::{Reader, Store, StoreError, StoreOptions, recover};

use crate::random::Random;

/// A damaged database is put aside by the first attempt that finds it out.
const ATTEMPTS: usize = 4;

/// The files of a store, and their content.
type Files = BTreeMap<String, Vec<u8>>;

/// Runs the cases; an error with the number of the first that goes wrong.
pub(crate) fn run(template: &Path, scratch: &Path, cases: u64, seed: u64) -> Result<(), Box<dyn Error>> {
    let files = read(template)?;
    let mut random = Random::new(seed);
    let mut figures = BTreeMap::<String, u64>::new();
    for case in 0..cases {
        let mut damaged = files.clone();
        let what = damage(&mut damaged, &mut random);
        let outcome = run_case(&damaged, scratch).map_err(|error| format!("case {case}, {what}: {error}"))?;
        *figures.entry(outcome.to_owned()).or_default() += 1;
    }
    writeln!(std::io::stdout(), "{}", json!({ "cases": cases, "outcomes": figures }))?;
    Ok(())
}

/// The files of a folder and of the journal folder in it.
fn read(folder: &Path) -> Result<Files, Box<dyn Error>> {
    let mut files = Files::new();
    for (prefix, folder) in [("", folder.to_owned()), ("journal/", folder.join("journal"))] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                files.insert(format!("{prefix}{name}"), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// Does something to one of the files, and answers what.
fn damage(files: &mut Files, random: &mut Random) -> String {
    let names: Vec<&String> = files.keys().collect();
    let name = random.pick(&names).clone();
    let Some(bytes) = files.get_mut(&name).filter(|bytes| !bytes.is_empty()) else {
        return "nothing".to_owned();
    };
    let length = bytes.len() as u64;
    let what = match random.below(8) {
        0..=2 => {
            // Headers are small, and most of what is checked is checked there.
            let end = if random.one_in(2) { length.min(4096) } else { length };
            let flips = 1 + random.below(64);
            (0..flips).for_each(|_| bytes[random.below(end) as usize] ^= 1 << random.below(8));
            format!("{flips} bits flipped")
        }
        3 | 4 => {
            bytes.truncate((random.below(length.div_ceil(512)) * 512) as usize);
            format!("cut to {} bytes", bytes.len())
        }
        5 => {
            let start = random.below(length) as usize;
            let end = (start + 1 + random.below(4096) as usize).min(bytes.len());
            let fill = random.one_in(2);
            bytes[start..end]
                .iter_mut()
                .for_each(|byte| *byte = if fill { 0 } else { random.below(256) as u8 });
            format!("garbage from {start} to {end}")
        }
        6 => {
            let end = bytes.len().min(4096) / 8 * 8;
            bytes[..end].chunks_exact_mut(8).for_each(<[u8]>::reverse);
            "the other endianness".to_owned()
        }
        _ => {
            let (from, to) =
                (random.below(length) as usize / 512 * 512, random.below(length) as usize / 512 * 512);
            let end = (from + 512).min(bytes.len()).min(from + bytes.len() - to);
            bytes.copy_within(from..end, to);
            format!("512 bytes moved from {from} to {to}")
        }
    };
    format!("{name}: {what}")
}

/// Recovers, and says how it went.
fn run_case(files: &Files, scratch: &Path) -> Result<&'static str, Box<dyn Error>> {
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir_all(scratch.join("journal"))?;
    for (name, bytes) in files {
        fs::write(scratch.join(name), bytes)?;
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| recover_damaged(scratch)));
    outcome.map_err(|_| "a panic")?
}

fn recover_damaged(folder: &Path) -> Result<&'static str, Box<dyn Error>> {
    let database = folder.join("provenance.db");
    let mut outcome = "recovered";
    for _ in 0..ATTEMPTS {
        match attempt(&database, folder) {
            Ok(()) => {
                // What is found damaged only now is put aside by the next that writes it.
                let is_kept = names(folder)?.contains(".damaged-");
                return Ok(if is_kept { "put aside" } else { outcome });
            }
            Err(StoreError::Newer { .. } | StoreError::Foreign { .. }) => return Ok("refused"),
            Err(StoreError::Damaged { .. }) => outcome = "put aside",
            Err(StoreError::Sqlite { source, .. }) if is_of_schema(&source) => return Ok("refused"),
            Err(error) => return Err(error.into()),
        }
    }
    Err("it does not get better".into())
}

fn attempt(database: &Path, folder: &Path) -> Result<(), StoreError> {
    let mut store = Store::open(database, StoreOptions::default())?;
    recover(&mut store, &folder.join("journal"))?;
    drop(store);
    let reader = Reader::open(database)?;
    let _ = reader.health();
    Ok(())
}

/// A schema that is damaged so that it reads as another one: SQL that is right and does not fit.
fn is_of_schema(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::Unknown | rusqlite::ErrorCode::ConstraintViolation)
    )
}

fn names(folder: &Path) -> std::io::Result<String> {
    let mut names = String::new();
    for folder in [folder.to_owned(), folder.join("journal")] {
        for entry in fs::read_dir(folder)? {
            names.push_str(&entry?.file_name().to_string_lossy());
        }
    }
    Ok(names)
}
