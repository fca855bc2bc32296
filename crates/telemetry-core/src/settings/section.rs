//! Reads one mapping key by key, and finds out which of its keys nobody asked for.

use std::collections::BTreeMap;

use super::nearest::nearest;
use super::node::{Entry, Kind, Mark, Node};
use super::report::{Report, shown};
use super::values::{Read, complain};
use super::{RULES_MAX, schema};

/// A mapping that is being read.
pub(super) struct Section<'report, 'text> {
    /// Its full key; empty for the whole file.
    path: String,
    mark: Mark,
    entries: BTreeMap<String, Entry>,
    known: Vec<&'static str>,
    report: &'report mut Report<'text>,
}

impl<'report, 'text> Section<'report, 'text> {
    /// Begins with a mapping, or with nothing; anything else is a problem.
    pub(super) fn new(path: String, node: Option<Node>, report: &'report mut Report<'text>) -> Self {
        let mark = node.as_ref().map_or(Mark::Nowhere, |node| node.mark.clone());
        let entries = entries(&path, node, report);
        Self { path, mark, entries, known: Vec::new(), report }
    }

    /// Reads a key into `target`, which stays as it is when the key is missing or wrong.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        target: &mut T,
        read: impl FnOnce(&Node) -> Read<T>,
    ) {
        self.report.keys.push(self.key(name));
        let Some(entry) = self.take(name) else { return };
        match read(&entry.node) {
            Ok(value) => {
                self.report.give(self.key(name), &entry.mark);
                *target = value;
            }
            Err(complaints) => {
                for complaint in complaints {
                    let message = format!("`{}{}` {}", self.key(name), complaint.suffix, complaint.message);
                    self.report.add(&complaint.mark, message, complaint.hint);
                }
            }
        }
    }

    /// Reads a mapping below this one.
    pub(super) fn section(&mut self, name: &'static str, read: impl FnOnce(&mut Section<'_, 'text>)) {
        let node = self.take(name).map(|entry| entry.node);
        self.below(self.key(name), node, read);
    }

    /// Reads a list of mappings; `read` makes a value of each.
    pub(super) fn sections<T>(
        &mut self,
        name: &'static str,
        target: &mut Vec<T>,
        mut read: impl FnMut(&mut Section<'_, 'text>) -> T,
    ) {
        let mut nodes = None;
        self.read(name, &mut nodes, |node| match &node.kind {
            Kind::List(nodes) if nodes.len() > RULES_MAX => {
                Err(complain(node, &format!("a list of at most {RULES_MAX}"), None))
            }
            Kind::List(nodes) => Ok(Some(nodes.clone())),
            _ => Err(complain(node, "a list of mappings", None)),
        });
        let Some(nodes) = nodes else { return };
        target.clear();
        for (index, node) in nodes.into_iter().enumerate() {
            let path = format!("{}[{index}]", self.key(name));
            if matches!(node.kind, Kind::Map(_)) {
                self.below(path, Some(node), |section| target.push(read(section)));
            } else {
                refuse(&path, &node, self.report);
            }
        }
    }

    /// Which of two names for the same key is used; both are a problem.
    pub(super) fn alias(&mut self, name: &'static str, other: &'static str) -> &'static str {
        self.known.push(other);
        if !self.entries.contains_key(other) {
            return name;
        }
        if !self.entries.contains_key(name) {
            return other;
        }
        if let Some(entry) = self.entries.remove(other) {
            let message = format!("`{}` and `{}` are the same key", self.key(other), self.key(name));
            self.report.add(&entry.mark, message, Some("keep one of them".into()));
        }
        name
    }

    /// Passes over a key that has a meaning for others; tells whether it was there.
    pub(super) fn ignore(&mut self, name: &'static str) -> bool {
        self.take(name).is_some()
    }

    /// Reports a key that must be there and is not.
    pub(super) fn require(&mut self, name: &'static str) {
        if !self.entries.contains_key(name) {
            self.report.add(&self.mark, format!("`{}` is missing", self.key(name)), None);
        }
    }

    fn below(&mut self, path: String, node: Option<Node>, read: impl FnOnce(&mut Section<'_, 'text>)) {
        let mut section = Section::new(path, node, self.report);
        read(&mut section);
        section.finish();
    }

    /// Reports the keys that nobody asked for.
    pub(super) fn finish(&mut self) {
        for (key, entry) in std::mem::take(&mut self.entries) {
            let message = format!("unknown key `{}`", self.key(&shown(&key)));
            let hint = (!self.report.is_full()).then(|| self.hint(&key));
            self.report.add(&entry.mark, message, hint);
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Entry> {
        self.known.push(name);
        self.entries.remove(name)
    }

    fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn hint(&self, key: &str) -> String {
        if let Some(name) = nearest(key, self.known.iter().copied()) {
            return format!("did you mean `{}`?", self.key(name));
        }
        if let Some(elsewhere) = schema::key_ending_in(key) {
            return format!("did you mean `{elsewhere}`?");
        }
        let owner = if self.path.is_empty() { "the file" } else { &self.path };
        format!("the keys of {owner} are {}", self.known.join(", "))
    }
}

fn entries(path: &str, node: Option<Node>, report: &mut Report<'_>) -> BTreeMap<String, Entry> {
    let Some(node) = node else { return BTreeMap::new() };
    match node.kind {
        Kind::Null => BTreeMap::new(),
        Kind::Map(entries) => unique(path, entries, report),
        _ => {
            refuse(path, &node, report);
            BTreeMap::new()
        }
    }
}

fn refuse(path: &str, node: &Node, report: &mut Report<'_>) {
    let owner = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
    report.add(&node.mark, format!("{owner} must be a mapping, not {}", node.described()), None);
}

fn unique(path: &str, entries: Vec<Entry>, report: &mut Report<'_>) -> BTreeMap<String, Entry> {
    let mut unique: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in entries {
        match unique.get(&entry.key) {
            None => drop(unique.insert(entry.key.clone(), entry)),
            Some(first) => {
                let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
                let message = format!("duplicate key `{prefix}{}`", shown(&entry.key));
                report.add(&entry.mark, message, Some(format!("it is given before, {}", first.mark)));
            }
        }
    }
    unique
}
