//! The two files of a session: where they are, and how they are begun, replaced and completed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use telemetry_store::{Session, Store};

use super::csv::{HEADER, line};
use super::error::SessionError;
use super::summary::json;

/// What the name of a file ends with that is not complete.
const PART: &str = ".part";

/// Where the files of a session are.
#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
    name: String,
}

impl Files {
    /// Those that a session has; none until they are begun.
    fn of(session: &Session) -> Option<Self> {
        let (folder, name) = (session.folder.as_ref()?, session.name.as_ref()?);
        Some(Self { folder: folder.into(), name: name.clone() })
    }

    /// Makes the file of packets, under a name that no file in the folder has: another session's must not be
    /// touched.
    pub(super) fn begin(store: &mut Store, session: &Session) -> Result<(Self, File), SessionError> {
        let folder = PathBuf::from(session.folder.as_deref().unwrap_or_default());
        fs::create_dir_all(&folder).map_err(SessionError::file(&folder))?;
        let wanted = file_name(session.wanted_name.as_deref().unwrap_or(&session.default_name));
        for number in 1_u32.. {
            let name = if number == 1 { wanted.clone() } else { format!("{wanted}_{number}") };
            let files = Self { folder: folder.clone(), name };
            if files.json().exists() {
                continue;
            }
            let path = files.csv();
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(HEADER.as_bytes()).map_err(SessionError::file(&path))?;
                    store.name_session(&session.workflow_id, &files.folder(), &files.name)?;
                    return Ok((files, file));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(SessionError::file(&path)(error)),
            }
        }
        Err(SessionError::file(&folder)(ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn csv(&self) -> PathBuf {
        self.folder.join(format!("{}.csv", self.name))
    }

    fn json(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    fn folder(&self) -> String {
        self.folder.to_string_lossy().into_owned()
    }

    /// Removes what a process that was killed meanwhile had begun.
    fn remove_parts(&self) {
        let begins = [".csv.", ".json."].map(|ending| format!("{}{ending}", self.name));
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(PART) && begins.iter().any(|begin| name.starts_with(begin)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Writes all packets of the workflow into a new file of packets.
    fn rewrite_packets(&self, store: &Store, workflow_id: &str) -> Result<(), SessionError> {
        let path = self.csv();
        let mut read = Ok(());
        let write = |file: &mut BufWriter<File>| {
            let mut written = file.write_all(HEADER.as_bytes());
            read = store.packets(workflow_id, |packet| {
                if written.is_ok() {
                    written = file.write_all(line(&packet).as_bytes());
                }
            });
            written
        };
        replace(&path, write).map_err(SessionError::file(&path))?;
        Ok(read?)
    }
}

/// A name without what would lead to another folder.
fn file_name(wanted: &str) -> String {
    wanted.replace(|character: char| matches!(character, '/' | '\\') || character.is_control(), "_")
}

/// Writes a file under another name and renames it, so that nobody ever sees a part of it.
fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{PART}", std::process::id()));
    let part = path.with_file_name(name);
    let mut file = BufWriter::new(File::create(&part)?);
    let written = write(&mut file).and_then(|()| file.flush()).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Writes the figures of a session into its second file, and its packets again unless the first one has
/// `rows` of them and that is all. Does nothing for a workflow that has no session files, and makes none for
/// one without packets. May be interrupted, repeated, and done by several processes at once.
pub fn complete(store: &mut Store, workflow_id: &str, rows: Option<i64>) -> Result<(), SessionError> {
    let Some(session) = store.session(workflow_id)? else { return Ok(()) };
    if let Some(mut summary) = store.session_summary(workflow_id)? {
        let files = match Files::of(&session) {
            Some(files) => files,
            None => Files::begin(store, &session)?.0,
        };
        if rows != Some(summary.total_packets_processed) || !files.csv().exists() {
            fs::create_dir_all(&files.folder).map_err(SessionError::file(&files.folder))?;
            files.rewrite_packets(store, workflow_id)?;
        }
        let path = files.json();
        summary.session_name = Some(files.name.clone());
        summary.csv_log = Some(files.csv().to_string_lossy().into_owned());
        summary.json_summary = Some(path.to_string_lossy().into_owned());
        let text = format!("{:#}\n", json(&summary));
        replace(&path, |file| file.write_all(text.as_bytes())).map_err(SessionError::file(&path))?;
        files.remove_parts();
    }
    Ok(store.set_session_written(workflow_id, true)?)
}

/// Completes the files of sessions whose process is gone; says how many there were. A session whose files
/// cannot be written does not keep the others from it; the first such error is answered.
pub fn complete_those_of_the_dead(store: &mut Store) -> Result<usize, SessionError> {
    let sessions = store.sessions_of_the_dead()?;
    let outcomes: Vec<_> =
        sessions.iter().map(|session| complete(store, &session.workflow_id, None)).collect();
    outcomes.into_iter().collect::<Result<Vec<()>, _>>().map(|done| done.len())
}
