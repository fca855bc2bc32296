//! What else differs between two sides: settings, arguments, code, machine.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use telemetry_store::{JsonText, WorkflowRow};

/// How many values of a side are shown where its workflows differ among themselves.
const VALUES_MAX: usize = 3;

/// Something that differs; nothing where a side does not have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// What kind of thing: `program`, `arguments`, `inputs`, `code`, `settings`, `machine`, `environment`, `recorder`.
    pub kind: &'static str,
    /// Which of these.
    pub name: String,
    /// What it was.
    pub a: Option<String>,
    /// What it is.
    pub b: Option<String>,
}

/// Facts of a machine that stay from run to run; what is in use at a moment does not tell two runs apart.
const MACHINE: &[&str] =
    &["hostname", "platform.", "cpu.", "memory.virtual.total", "memory.swap.total", "disk.total", "gpu."];
const PASSING: &[&str] = &["cpu.hz_actual", "cpu.flags"];

type Facts = BTreeMap<(usize, String), BTreeSet<String>>;
const KINDS: [&str; 8] =
    ["program", "arguments", "inputs", "code", "settings", "machine", "environment", "recorder"];

pub(super) fn find(a: &[WorkflowRow], b: &[WorkflowRow]) -> Vec<Change> {
    let (a, b) = (facts(a), facts(b));
    let names: BTreeSet<&(usize, String)> = a.keys().chain(b.keys()).collect();
    let differing = names.into_iter().filter(|name| a.get(name) != b.get(name));
    let change = |name: &(usize, String)| Change {
        kind: KINDS[name.0],
        name: name.1.clone(),
        a: a.get(name).map(joined),
        b: b.get(name).map(joined),
    };
    differing.map(change).collect()
}

fn joined(values: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = values.iter().take(VALUES_MAX).map(String::as_str).collect();
    let more = if values.len() > shown.len() {
        format!(" and {} more", values.len() - shown.len())
    } else {
        String::new()
    };
    shown.join(", ") + &more
}

fn facts(workflows: &[WorkflowRow]) -> Facts {
    let mut facts = Facts::new();
    for workflow in workflows {
        of_workflow(&mut facts, workflow);
    }
    facts
}

fn of_workflow(facts: &mut Facts, workflow: &WorkflowRow) {
    let mut add = |kind: &str, name: String, value: String| {
        let kind = KINDS.iter().position(|known| *known == kind).unwrap_or_default();
        facts.entry((kind, name)).or_default().insert(value);
    };
    workflow.exe.iter().for_each(|exe| add("program", "exe".to_owned(), exe.clone()));
    workflow.user.iter().for_each(|user| add("program", "user".to_owned(), user.clone()));
    workflow
        .recorder_version
        .iter()
        .for_each(|version| add("recorder", "version".to_owned(), version.clone()));
    if let Some(Value::Array(words)) = workflow.cmd_line.as_ref().map(JsonText::to_value) {
        let words: Vec<String> = words.iter().skip(1).map(plain).collect();
        add("arguments", "command line".to_owned(), words.join(" "));
    }
    let parts = [
        ("inputs", workflow.used.as_ref()),
        ("code", workflow.code_repository.as_ref()),
        ("settings", workflow.settings.as_ref()),
    ];
    for (kind, json) in parts {
        for (name, value) in json.map(|json| leaves(&json.to_value())).unwrap_or_default() {
            add(kind, name, value);
        }
    }
    let machine = workflow.machine_info.as_ref().map(|json| leaves(&json.to_value())).unwrap_or_default();
    for (name, value) in machine {
        if let Some(variable) = name.strip_prefix("environment.") {
            add("environment", variable.to_owned(), value);
        } else if is_lasting(&name) {
            add("machine", name, value);
        }
    }
}

fn is_lasting(name: &str) -> bool {
    let begins = |list: &[&str]| list.iter().any(|beginning| name.starts_with(beginning));
    begins(MACHINE) && !begins(PASSING)
}

/// The values of an object with the way to each; lists are values.
pub(crate) fn leaves(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                let join =
                    |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                open.extend(members.iter().map(|(name, member)| (join(name), member)));
            }
            Value::Null => {}
            other => found.push((path, plain(other))),
        }
    }
    found.sort();
    found
}

/// A value without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn leaves_have_paths() {
        let value = json!({"b": {"c": 1, "d": null}, "a": [1, "x"], "e": "text"});
        let expected = [("a", "[1,\"x\"]"), ("b.c", "1"), ("e", "text")];
        assert_eq!(leaves(&value), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_is_in_use_at_a_moment_tells_no_machines_apart() {
        assert!(is_lasting("cpu.brand_raw") && is_lasting("memory.virtual.total"));
        assert!(!is_lasting("memory.virtual.used") && !is_lasting("cpu.hz_actual_friendly"));
        assert!(!is_lasting("process.pid"));
    }
}
