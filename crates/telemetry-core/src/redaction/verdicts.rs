//! Remembers what was found about names that are part of the program: fields of structs and types come again and again,
//! and are known by their address.

use super::Redactor;

const ENTRIES: usize = 64;
/// Set in the length of a type's name, which may share its address with a field.
const IS_TYPE: usize = 1 << (usize::BITS - 1);

type Kind = Option<&'static str>;

/// The latest names and what was found; a thread has its own.
#[derive(Debug)]
pub(crate) struct Verdicts {
    /// Empty until the first name comes.
    entries: Vec<Entry>,
    /// Whose verdicts these are.
    redactor: Option<&'static Redactor>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: usize,
    length: usize,
    kind: Kind,
}

impl Verdicts {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), redactor: None }
    }

    /// Whose verdicts are asked for from now on; none for nobody's.
    #[inline]
    pub(crate) fn of(&mut self, redactor: Option<&'static Redactor>) {
        if self.redactor.map(std::ptr::from_ref) != redactor.map(std::ptr::from_ref) {
            self.entries.clear();
            self.redactor = redactor;
        }
    }

    #[inline]
    pub(crate) fn redactor(&self) -> Option<&'static Redactor> {
        self.redactor
    }

    /// Whether a text is seen at one look to have nothing secret in it.
    #[inline]
    pub(crate) fn is_plain(&self, text: &[u8]) -> bool {
        self.redactor.is_none_or(|redactor| redactor.is_plain(text))
    }

    /// The kind of secret that the name of a field announces.
    #[inline]
    pub(crate) fn name(&mut self, name: &'static str) -> Kind {
        let redactor = self.redactor?;
        self.kind(name, name.len(), || redactor.name(name))
    }

    /// The kind of secret that the name of a type announces.
    #[inline]
    pub(crate) fn type_of<T: ?Sized>(&mut self) -> Kind {
        let name = std::any::type_name::<T>();
        // Both are known when the program is compiled: numbers and texts cost nothing.
        if name.len() < super::types::SHORTEST || name == "alloc::string::String" {
            return None;
        }
        let redactor = self.redactor?;
        self.kind(name, name.len() | IS_TYPE, || redactor.type_name(name))
    }

    #[inline]
    fn kind(&mut self, name: &'static str, length: usize, judge: impl FnOnce() -> Kind) -> Kind {
        let address = name.as_ptr().addr();
        let place = (address ^ address >> 6 ^ length) % ENTRIES;
        match self.entries.get(place) {
            Some(entry) if entry.address == address && entry.length == length => entry.kind,
            _ => self.remember(place, Entry { address, length, kind: judge() }),
        }
    }

    #[cold]
    fn remember(&mut self, place: usize, entry: Entry) -> Kind {
        self.entries.resize(ENTRIES, Entry::default());
        self.entries[place] = entry;
        entry.kind
    }
}
