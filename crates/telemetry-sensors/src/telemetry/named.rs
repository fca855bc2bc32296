//! Readings by name, kept in place from snapshot to snapshot so that names are not allocated again.

use serde::{Serialize, Serializer};

/// Readings by name, in the order of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T> {
    entries: Vec<(String, T)>,
}

impl<T> Named<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The reading with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.entries.iter().find(|entry| entry.0 == name).map(|entry| &entry.1)
    }

    /// Names and readings.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Sets the entry at `index`, which is at most [`len`](Self::len); whether its name is new there.
    pub(crate) fn set(&mut self, index: usize, name: &[u8], value: T) -> bool {
        match self.entries.get_mut(index) {
            Some(entry) if entry.0.as_bytes() == name => {
                entry.1 = value;
                false
            }
            Some(entry) => {
                *entry = (owned(name), value);
                true
            }
            None => {
                self.entries.push((owned(name), value));
                true
            }
        }
    }

    /// Forgets the entries from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

fn owned(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_place_and_say_when_a_name_is_new() {
        let mut named = Named::default();
        assert!(named.set(0, b"lo", 1));
        assert!(!named.set(0, b"lo", 2));
        assert!(named.set(0, b"eth0", 3));
        assert!(named.set(1, b"\xff", 4));
        assert_eq!(serde_json::to_string(&named).unwrap(), "{\"eth0\":3,\"\u{fffd}\":4}");
        named.truncate(1);
        assert_eq!((named.len(), named.is_empty(), named.get("eth0")), (1, false, Some(&3)));
    }
}
