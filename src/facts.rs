//! Facts about this process that are recorded once: who runs what, and which revision of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use telemetry_core::record::ProcessName;
use telemetry_core::runtime::ProcessParent;
use telemetry_core::settings::{Settings, environment};
use telemetry_journal::process::hostname;

/// The facts about this process.
pub(crate) fn process(settings: &Settings) -> ProcessName {
    let (machine, machine_state) = crate::sensors::machine(settings);
    ProcessName {
        name: settings.journal.name.clone(),
        user: settings.experiment.user.clone().or_else(environment::user),
        hostname: hostname(),
        exe: std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned()),
        cmd_line: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        settings: settings.to_json(),
        code_repository: code_repository(&environment::working_dir()).unwrap_or(Value::Null),
        machine,
        machine_state,
        recorder_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The task that started this process, where [`in_current_task`](crate::InCurrentTask) told it so.
pub(crate) fn parent() -> Option<ProcessParent> {
    let workflow = environment::text(environment::PARENT_WORKFLOW).and_then(|text| text.parse().ok());
    let task = environment::text(environment::PARENT_TASK).and_then(|text| text.parse().ok());
    let is_left_out = environment::text(environment::PARENT_LEFT_OUT).is_some_and(|text| text == "1");
    (workflow.is_some() || task.is_some()).then_some(ProcessParent { workflow, task, is_left_out })
}

/// The git revision that is checked out above `folder`, read from git's own files: no program is run.
fn code_repository(folder: &Path) -> Option<Value> {
    let root = folder.ancestors().find(|above| above.join(".git").exists())?;
    let git = git_folder(root)?;
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let (branch, sha) = match head.trim_end().strip_prefix("ref: ") {
        Some(reference) => (reference.strip_prefix("refs/heads/"), find_reference(&git, reference)),
        None => (None, Some(head.trim_end().to_owned())),
    };
    Some(json!({
        "sha": sha,
        "short_sha": sha.as_deref().and_then(|sha| sha.get(..7)),
        "branch": branch,
        "root": root.to_string_lossy(),
        "remote": remote(&git),
    }))
}

/// The folder with git's files: of a worktree or submodule, `.git` is a file that names it.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let pointer = fs::read_to_string(&git).ok()?;
    Some(root.join(pointer.trim_end().strip_prefix("gitdir: ")?))
}

fn find_reference(git: &Path, reference: &str) -> Option<String> {
    let common = fs::read_to_string(git.join("commondir")).ok().map(|common| git.join(common.trim_end()));
    let folders = [Some(git.to_owned()), common];
    folders.into_iter().flatten().find_map(|folder| {
        let loose = fs::read_to_string(folder.join(reference)).ok().map(|sha| sha.trim_end().to_owned());
        loose.or_else(|| packed_reference(&folder, reference))
    })
}

fn packed_reference(git: &Path, reference: &str) -> Option<String> {
    let packed = fs::read_to_string(git.join("packed-refs")).ok()?;
    let line = packed.lines().find(|line| line.ends_with(reference))?;
    let (sha, name) = line.split_once(' ')?;
    (name == reference).then(|| sha.to_owned())
}

/// Where the repository came from, without the password that its address may carry.
fn remote(git: &Path) -> Option<String> {
    let config = fs::read_to_string(git.join("config")).ok()?;
    let origin = config.lines().skip_while(|line| line.trim() != r#"[remote "origin"]"#).skip(1);
    let mut lines = origin.take_while(|line| !line.trim_start().starts_with('['));
    let address = lines.find_map(|line| line.trim().strip_prefix("url = "))?;
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => return Some(address.to_owned()),
    };
    let host = rest.split('/').next().unwrap_or(rest);
    let without_user = host.rsplit_once('@').map_or(rest, |(user, _)| &rest[user.len() + 1..]);
    Some(format!("{scheme}{without_user}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_read_from_loose_and_packed_references() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let write = |name: &str, text: &str| {
            let path = git.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("HEAD", "ref: refs/heads/feature/x\n");
        write("packed-refs", "# pack-refs\n1111111111111111111111111111111111111111 refs/heads/feature/x\n");
        write(
            "config",
            "[core]\n[remote \"origin\"]\n\turl = https://me:secret@host/repo.git\n[branch \"x\"]\n",
        );
        let below = folder.path().join("deep/down");
        fs::create_dir_all(&below).unwrap();
        let found = code_repository(&below).unwrap();
        assert_eq!(found["short_sha"], "1111111");
        assert_eq!(found["branch"], "feature/x");
        assert_eq!(found["remote"], "https://host/repo.git");
        write("refs/heads/feature/x", "2222222222222222222222222222222222222222\n");
        assert_eq!(code_repository(&below).unwrap()["short_sha"], "2222222");
        write("HEAD", "3333333333333333333333333333333333333333\n");
        let detached = code_repository(&below).unwrap();
        assert_eq!((&detached["short_sha"], &detached["branch"]), (&json!("3333333"), &Value::Null));
    }
}
