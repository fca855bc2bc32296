//! What of a description is the same in every process on a machine, and what is not.

use serde_json::{Map, Value};

use super::MachineInfo;

/// The facts that stay, by block and key; no keys stand for the whole block.
const STAYING: &[(&str, &[&str])] =
    &[("platform", &[]), ("hostname", &[]), ("cpu", &[]), ("memory", TOTAL), ("disk", TOTAL)];
const TOTAL: &[&str] = &["total"];

/// Frequencies as they are this moment. The advertised one is the current one where none is known.
const CHANGING_OF_CPU: &[&str] =
    &["hz_actual", "hz_actual_friendly", "hz_advertised", "hz_advertised_friendly"];

impl MachineInfo {
    /// The description as JSON in two parts: facts that are the same in every process on this machine, so
    /// that equal ones are one machine, and those that change from run to run: what is in use, current
    /// frequencies, addresses, the cards that this process may see, its environment and the process
    /// itself. Merged (RFC 7396) they are the whole.
    pub fn split(&self) -> (Value, Value) {
        let Value::Object(whole) = self.to_json() else { return (Value::Null, Value::Null) };
        let (mut stays, mut changes) = (Map::new(), Map::new());
        for (name, block) in whole {
            let (staying, changing) = split_block(&name, block);
            stays.extend(staying.map(|block| (name.clone(), block)));
            changes.extend(changing.map(|block| (name, block)));
        }
        (Value::Object(stays), Value::Object(changes))
    }
}

fn split_block(name: &str, block: Value) -> (Option<Value>, Option<Value>) {
    match STAYING.iter().find(|(staying, _)| *staying == name) {
        None => (None, Some(block)),
        Some(("cpu", _)) => partition(block, |key| !CHANGING_OF_CPU.contains(&key)),
        Some((_, [])) => (Some(block), None),
        Some((_, keys)) => partition(block, |key| keys.contains(&key)),
    }
}

/// Splits an object by the names of its leaves, however deep they lie.
fn partition(value: Value, stays: impl Copy + Fn(&str) -> bool) -> (Option<Value>, Option<Value>) {
    let Value::Object(members) = value else { return (None, Some(value)) };
    let (mut staying, mut changing) = (Map::new(), Map::new());
    for (key, member) in members {
        let parts = match member {
            Value::Object(_) => partition(member, stays),
            member if stays(&key) => (Some(member), None),
            member => (None, Some(member)),
        };
        staying.extend(parts.0.map(|part| (key.clone(), part)));
        changing.extend(parts.1.map(|part| (key, part)));
    }
    let object = |members: Map<_, _>| (!members.is_empty()).then_some(Value::Object(members));
    (object(staying), object(changing))
}

#[cfg(test)]
mod tests {
    use telemetry_core::settings::Settings;

    use super::*;
    use crate::machine_info;

    fn keys(value: &Value, path: &str) -> Vec<String> {
        value.pointer(path).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    fn merged(target: &mut Value, patch: Value) {
        let Value::Object(members) = patch else { return *target = patch };
        for (key, member) in members {
            merged(&mut target[key], member);
        }
    }

    #[test]
    fn what_stays_has_no_use_no_process_and_no_environment() {
        let info = machine_info(&Settings::default().telemetry_capture, &["PATH".to_owned()]);
        let (stays, changes) = info.split();
        assert_eq!(keys(&stays, ""), ["memory", "disk", "platform", "cpu", "hostname"]);
        assert_eq!(keys(&stays, "/memory/virtual"), ["total"]);
        assert_eq!(keys(&stays, "/disk"), ["total"]);
        assert!(keys(&stays, "/cpu").iter().all(|key| !CHANGING_OF_CPU.contains(&key.as_str())));
        let mut whole = stays;
        merged(&mut whole, changes);
        assert_eq!(whole, info.to_json());
    }
}
