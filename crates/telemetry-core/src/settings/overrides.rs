//! Variables that override a key, as a tree like that of a file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use super::environment::{OVERRIDE_PREFIX, OVERRIDE_SEPARATOR};
use super::nearest::nearest;
use super::node::{self, Entry, Kind, Mark, Node, Variable};
use super::report::Report;
use super::schema;

const MODEL: &str = "instrumentation.model";
const MODEL_ALIAS: &str = "instrumentation.torch";

/// What the environment says.
pub(super) struct Overrides {
    /// The tree of the keys that are overridden.
    pub(super) node: Node,
    /// The keys, each with the name of its variable.
    pub(super) names: Vec<(String, String)>,
}

/// Collects the variables that override a key; what is wrong with them goes into `report`.
pub(super) fn collect(variables: &BTreeMap<String, OsString>, report: &mut Report<'_>) -> Overrides {
    let mut tree = Vec::new();
    let mut names = Vec::new();
    for (name, value) in variables {
        let Some(key) = key_of(name) else { continue };
        let Some(node) = read(name, value, &key, report) else { continue };
        let parts: Vec<&str> = key.split('.').collect();
        insert(&mut tree, &parts, node);
        names.push((canonical(&key), name.clone()));
    }
    Overrides { node: Node { mark: Mark::Nowhere, kind: Kind::Map(tree) }, names }
}

/// The key that a variable of this name overrides.
fn key_of(name: &str) -> Option<String> {
    let rest = name.strip_prefix(OVERRIDE_PREFIX)?;
    rest.contains(OVERRIDE_SEPARATOR).then(|| rest.replace(OVERRIDE_SEPARATOR, ".").to_lowercase())
}

fn name_of(key: &str) -> String {
    format!("{OVERRIDE_PREFIX}{}", key.replace('.', OVERRIDE_SEPARATOR).to_uppercase())
}

/// The key by its own name, where an alias was given.
pub(super) fn canonical(key: &str) -> String {
    match key.strip_prefix(MODEL_ALIAS) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{MODEL}{rest}"),
        _ => key.to_owned(),
    }
}

fn read(name: &str, value: &OsStr, key: &str, report: &mut Report<'_>) -> Option<Node> {
    let variable = Rc::new(Variable { name: name.to_owned(), value: value.to_string_lossy().into_owned() });
    let mark = Mark::Variable(Rc::clone(&variable));
    if !is_known(&canonical(key)) {
        report.add(&mark, format!("unknown key `{}`", super::report::shown(key)), hint(key));
        return None;
    }
    let Some(text) = value.to_str() else {
        report.add(&mark, format!("the value for `{key}` is not UTF-8 text"), None);
        return None;
    };
    match node::parse(text) {
        Ok(node) => Some(node.moved(&variable)),
        Err(refusal) => {
            report.add(&mark, refusal.message, None);
            None
        }
    }
}

/// Whether this is a key with a value, or one with keys below it.
fn is_known(key: &str) -> bool {
    let below = format!("{key}.");
    schema::keys().iter().any(|known| known == key || known.starts_with(&below))
}

fn hint(key: &str) -> Option<String> {
    let keys = || schema::keys().iter().map(String::as_str);
    if let Some(near) = nearest(&canonical(key), keys()) {
        return Some(format!("did you mean `{}`?", name_of(near)));
    }
    if let Some(whole) = keys().find(|known| key.starts_with(&format!("{known}."))) {
        return Some(format!("`{}` takes the whole value, as YAML", name_of(whole)));
    }
    let elsewhere = schema::key_ending_in(key.rsplit('.').next()?)?;
    Some(format!("did you mean `{}`?", name_of(elsewhere)))
}

/// Puts a value into the tree. A key that is there already is added again: reading the tree reports it.
fn insert(tree: &mut Vec<Entry>, parts: &[&str], node: Node) {
    let [part, below @ ..] = parts else { return };
    let mark = node.mark.clone();
    if below.is_empty() {
        tree.push(Entry { key: (*part).to_owned(), mark, node });
        return;
    }
    let existing = tree.iter_mut().find(|entry| entry.key == *part).map(|entry| &mut entry.node.kind);
    if let Some(Kind::Map(entries)) = existing {
        insert(entries, below, node);
        return;
    }
    let mut entries = Vec::new();
    insert(&mut entries, below, node);
    let node = Node { mark: mark.clone(), kind: Kind::Map(entries) };
    tree.push(Entry { key: (*part).to_owned(), mark, node });
}
