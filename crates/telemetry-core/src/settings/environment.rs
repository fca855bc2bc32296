//! The process's environment: every name that the project reads, and the only calls that read it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The settings file to use instead of looking for one.
pub const SETTINGS: &str = "TELEMETRY_SETTINGS";
/// Whether anything is recorded.
pub const ENABLE: &str = "TELEMETRY_ENABLE";
/// The folder of the database and the journals.
pub const DIR: &str = "TELEMETRY_DIR";
/// How many events a lane holds.
pub const BUFFER_SIZE: &str = "TELEMETRY_BUFFER_SIZE";
/// The drain's longest wait, in milliseconds.
pub const RUN_INTERVAL: &str = "TELEMETRY_RUN_INTERVAL";
/// What the name of a variable that overrides a key begins with.
pub const OVERRIDE_PREFIX: &str = "TELEMETRY_";
/// What stands between the parts of a key in the name of such a variable.
pub const OVERRIDE_SEPARATOR: &str = "__";
/// The folder for settings of programs.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The folder for what programs remember between runs.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// The user's own folder.
pub const HOME: &str = "HOME";
/// The user's name.
pub const USER: &str = "USER";
/// The user's name, on systems without [`USER`].
pub const LOGNAME: &str = "LOGNAME";

/// The workflow, in another process, of the task that started this one.
pub const PARENT_WORKFLOW: &str = "TELEMETRY_PARENT_WORKFLOW";
/// The task, in another process, that started this one.
pub const PARENT_TASK: &str = "TELEMETRY_PARENT_TASK";
/// `1` where sampling left the task out that started this process, and so everything below it.
pub const PARENT_LEFT_OUT: &str = "TELEMETRY_PARENT_LEFT_OUT";
/// The same for others, as W3C trace context has it.
pub const TRACEPARENT: &str = "TRACEPARENT";

/// Which NVIDIA devices this process may see.
pub const CUDA_VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";
/// Which AMD devices this process may see.
pub const ROCR_VISIBLE_DEVICES: &str = "ROCR_VISIBLE_DEVICES";

/// The value of a variable, if it is text; an empty one counts, since it may hide every device.
#[expect(clippy::disallowed_methods, reason = "this is the file that the ban points to")]
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The name of the user who runs this process.
pub fn user() -> Option<String> {
    [USER, LOGNAME].into_iter().find_map(|name| present(name)?.into_string().ok())
}

/// The folder in which programs keep their settings for this user.
pub fn config_dir() -> Option<PathBuf> {
    config_dir_from(present(XDG_CONFIG_HOME), present(HOME))
}

/// The folder in which programs keep what they remember for this user.
pub fn state_dir() -> Option<PathBuf> {
    let configured = present(XDG_STATE_HOME).map(PathBuf::from).filter(|path| path.is_absolute());
    configured.or_else(|| present(HOME).map(|home| PathBuf::from(home).join(".local/state")))
}

/// The folder that this process works in.
pub fn working_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// All variables whose names are text.
pub fn all() -> BTreeMap<String, OsString> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
}

#[expect(clippy::disallowed_methods, reason = "this is the file that the ban points to")]
fn present(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn config_dir_from(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG specification says that a relative path there is to be ignored.
    let configured = config_home.map(PathBuf::from).filter(|path| path.is_absolute());
    configured.or_else(|| home.map(|home| PathBuf::from(home).join(".config")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_folder_is_the_named_one_or_below_home() {
        let check = |config_home: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = config_dir_from(config_home.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, expected.map(PathBuf::from));
        };
        check(Some("/config"), Some("/home/ada"), Some("/config"));
        check(Some("relative"), Some("/home/ada"), Some("/home/ada/.config"));
        check(None, Some("/home/ada"), Some("/home/ada/.config"));
        check(None, None, None);
    }
}
