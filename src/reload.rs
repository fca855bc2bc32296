//! `capture.reload`: looks at the settings file now and then, and captures by what it says.
//!
//! A file that looks other than before is read once it looks the same twice, so that one which is being
//! written is not taken for a broken one. A file that cannot be used changes nothing. The first look comes
//! after the start, so it is read once more: it may have changed between.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use telemetry_core::runtime::Recording;
use telemetry_core::settings::{Lookup, Origin, Settings, SettingsError};

use crate::ticker::Ticker;
use crate::warning::warn;

/// Two looks and a reading are well within a second.
const EVERY: Duration = Duration::from_millis(250);

/// What of `capture` a reload can change.
const CHANGEABLE: &[&str] =
    &["default_level", "rules", "value_bytes_max", "record_bytes_max", "depth_max", "items_max", "sampling"];

/// Where the settings come from, to be read again as they were read before.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    lookup: Lookup,
}

/// Tells a file from what it was: device, inode, length, and when it was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64, u64, u64, i64, i64);

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let of = |file: Metadata| Self(file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec());
        path.metadata().ok().filter(Metadata::is_file).map(of)
    }
}

impl SettingsFile {
    /// The file that settings came from; none where they are built in.
    pub(crate) fn of(origin: &Origin, lookup: Lookup) -> Option<Self> {
        let Origin::File(path) = origin else { return None };
        Some(Self { path: path.clone(), lookup })
    }

    fn read(&self) -> Result<Settings, SettingsError> {
        Ok(Settings::load_file(&self.path, &self.lookup)?.settings)
    }
}

/// Watches the file that the settings of a recording came from; none unless they ask for it.
pub(crate) fn start(recording: &'static Recording, file: Option<SettingsFile>) -> Option<Ticker> {
    if !recording.settings().capture.reload {
        return None;
    }
    let Some(file) = file else {
        warn("capture.reload has no effect: the settings do not come from a file");
        return None;
    };
    let (mut watch, mut in_force) = (Watch::new(file), recording.settings().capture.clone());
    let look = move || match watch.look() {
        Some(Ok(settings)) if settings.capture != in_force => {
            take_up(recording, &settings);
            in_force = settings.capture;
        }
        Some(Ok(_)) | None => {}
        Some(Err(error)) => warn(&format!("{error}\nthe settings from before stay in force")),
    };
    let thread = Ticker::start("telemetry-reload", EVERY, look);
    thread.inspect_err(|error| warn(&format!("capture.reload has no effect: {error}"))).ok()
}

fn take_up(recording: &'static Recording, settings: &Settings) {
    recording.reload(&settings.capture);
    if unchangeable(settings) != unchangeable(recording.settings()) {
        warn(&format!(
            "of the changed settings, only {} of `capture` take effect now; the rest will when the program is started again",
            CHANGEABLE.join(", ")
        ));
    }
}

/// What only the next start takes up.
fn unchangeable(settings: &Settings) -> Value {
    let mut rest = settings.to_json();
    if let Some(capture) = rest.get_mut("capture").and_then(Value::as_object_mut) {
        capture.retain(|key, _| !CHANGEABLE.contains(&key.as_str()));
    }
    rest
}

/// Sees when a file has changed.
struct Watch {
    file: SettingsFile,
    /// How it looked when it was read, and when it was last looked at.
    read: Option<Stamp>,
    seen: Option<Stamp>,
}

impl Watch {
    fn new(file: SettingsFile) -> Self {
        Self { file, read: None, seen: None }
    }

    /// The settings, or what is wrong with them, if the file has changed and come to rest. One that is gone
    /// has not changed: it may be about to be replaced.
    fn look(&mut self) -> Option<Result<Settings, SettingsError>> {
        let now = Stamp::of(&self.file.path)?;
        let rests = self.seen.replace(now) == Some(now);
        if !rests || self.read == Some(now) {
            return None;
        }
        self.read = Some(now);
        Some(self.file.read())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use telemetry_core::level::Level;

    use super::*;

    fn watch(path: &Path) -> Watch {
        let file = SettingsFile::of(&Origin::File(path.to_owned()), Lookup::default());
        Watch::new(file.expect("there is a file"))
    }

    #[test]
    fn a_file_is_read_once_it_has_changed_and_come_to_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.yaml");
        fs::write(&path, "capture: {default_level: data}").unwrap();
        let mut watch = watch(&path);
        assert!(watch.look().is_none(), "it was not seen before");
        assert!(watch.look().is_some_and(|read| read.is_ok()));
        assert!(watch.look().is_none(), "nothing has changed");
        fs::write(&path, "capture: {default_level: lightweight}").unwrap();
        assert!(watch.look().is_none(), "it may still be written");
        let level = watch.look().map(|read| read.unwrap().capture.default_level);
        assert_eq!((level, watch.look().is_none()), (Some(Level::Lightweight), true));
        fs::remove_file(&path).unwrap();
        assert!(watch.look().is_none(), "it may be about to be replaced");
        fs::write(&path, "capture: {default_level: nonsense}").unwrap();
        assert!(watch.look().is_none());
        assert!(watch.look().is_some_and(|read| read.is_err()));
        assert!(watch.look().is_none(), "a bad file is complained about once");
    }

    #[test]
    fn what_a_reload_cannot_change_is_told_apart() {
        let mut settings = Settings::default();
        settings.capture.default_level = Level::Off;
        settings.capture.items_max = 1;
        assert_eq!(unchangeable(&settings), unchangeable(&Settings::default()));
        settings.capture.critical_tags.insert("high_cpu".to_owned(), 1.0);
        assert_ne!(unchangeable(&settings), unchangeable(&Settings::default()));
    }
}
