//! YAML as a tree that knows its lines.
//!
//! The YAML reader gives lines only for its own errors, but it hands out texts as slices of its input:
//! where a slice begins says which line it is on. What is no text (a number, a list) takes the line of
//! the text before it, which is its key.
//!
//! Limits, because a file may be hostile: [`TEXT_BYTES_MAX`], [`NODES_MAX`] (aliases count as what they
//! stand for), [`BRACKETS_MAX`], and the reader's own limit of 128 levels.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Visitor};

/// The largest settings text that is read.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 20;
/// The most values that a settings text may contain.
const NODES_MAX: usize = 50_000;
/// The most brackets that may be open at once; the scanner's time grows with their square.
const BRACKETS_MAX: usize = 1000;

/// A value and where it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) kind: Kind,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Flag(bool),
    Whole(i128),
    Fraction(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) mark: Mark,
    pub(super) node: Node,
}

/// Where something is: in the file that is being read, or in a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A line, counted from 1.
    Line(usize),
    /// The file as a whole.
    Nowhere,
    /// An environment variable.
    Variable(Rc<Variable>),
}

/// An environment variable that overrides a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
}

/// Why text is no YAML that we read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) mark: Mark,
    pub(super) message: String,
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "on line {line}"),
            Self::Nowhere => formatter.write_str("in the file"),
            Self::Variable(variable) => write!(formatter, "in {}", variable.name),
        }
    }
}

impl Node {
    /// The value as it is named in a message.
    pub(super) fn described(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".into(),
            Kind::Flag(flag) => format!("`{flag}`"),
            Kind::Whole(number) => format!("`{number}`"),
            Kind::Fraction(number) => format!("`{number}`"),
            Kind::Text(text) => format!("`{}`", super::report::shown(text)),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a mapping".into(),
        }
    }

    /// Moves the value and all that it contains into a variable.
    pub(super) fn moved(mut self, variable: &Rc<Variable>) -> Self {
        self.mark = Mark::Variable(Rc::clone(variable));
        self.kind = match self.kind {
            Kind::List(nodes) => Kind::List(nodes.into_iter().map(|node| node.moved(variable)).collect()),
            Kind::Map(entries) => Kind::Map(entries.into_iter().map(|entry| entry.moved(variable)).collect()),
            scalar => scalar,
        };
        self
    }
}

impl Entry {
    fn moved(self, variable: &Rc<Variable>) -> Self {
        Self { mark: Mark::Variable(Rc::clone(variable)), node: self.node.moved(variable), ..self }
    }
}

/// Reads YAML text.
pub(super) fn parse(text: &str) -> Result<Node, Refusal> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Refusal { mark: Mark::Nowhere, message: too_large() });
    }
    if let Some(line) = brackets_exceeded(text) {
        return Err(Refusal { mark: Mark::Line(line), message: "nested too deeply".into() });
    }
    let scan = Scan::new(text);
    Seed(&scan).deserialize(serde_yaml::Deserializer::from_str(text)).map_err(|error| refusal(&error))
}

/// What is said about a text above [`TEXT_BYTES_MAX`].
pub(super) fn too_large() -> String {
    format!("larger than {TEXT_BYTES_MAX} bytes, which no settings file is")
}

fn refusal(error: &serde_yaml::Error) -> Refusal {
    let mark = error.location().map_or(Mark::Nowhere, |location| Mark::Line(location.line()));
    Refusal { mark, message: format!("not valid YAML: {error}") }
}

/// The line on which more brackets are open than any settings need; those in texts and comments count
/// too, which does no harm.
fn brackets_exceeded(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > BRACKETS_MAX {
            return Some(text[..index].lines().count().max(1));
        }
    }
    None
}

/// The text that is being read, and how far.
struct Scan<'text> {
    text: &'text str,
    line_starts: Vec<usize>,
    line: Cell<usize>,
    nodes_left: Cell<usize>,
}

impl<'text> Scan<'text> {
    fn new(text: &'text str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Self { text, line_starts, line: Cell::new(1), nodes_left: Cell::new(NODES_MAX) }
    }

    /// Moves to the line on which a slice of the text begins.
    fn reach(&self, slice: &str) {
        let offset = slice.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        if offset <= self.text.len() {
            self.line.set(self.line_starts.partition_point(|start| *start <= offset));
        }
    }

    fn mark(&self) -> Mark {
        Mark::Line(self.line.get())
    }

    fn spend<E: de::Error>(&self) -> Result<(), E> {
        let left = self.nodes_left.get().checked_sub(1);
        self.nodes_left.set(left.ok_or_else(|| E::custom(format!("more than {NODES_MAX} values")))?);
        Ok(())
    }
}

/// Builds nodes from what the YAML reader finds.
#[derive(Clone, Copy)]
struct Seed<'scan, 'text>(&'scan Scan<'text>);

impl Seed<'_, '_> {
    fn node(self, kind: Kind) -> Node {
        Node { mark: self.0.mark(), kind }
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, 'de> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        self.0.spend()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, 'de> {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(self.node(Kind::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(self.node(Kind::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(self.node(Kind::Flag(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(self.node(Kind::Whole(number.into())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(self.node(Kind::Whole(number.into())))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Node, E> {
        Ok(self.node(Kind::Whole(number)))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Node, E> {
        // Above this only the message of an error could tell the difference.
        Ok(self.node(Kind::Whole(i128::try_from(number).unwrap_or(i128::MAX))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(self.node(Kind::Fraction(number)))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Node, E> {
        self.0.reach(text);
        Ok(self.node(Kind::Text(text.to_owned())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(self.node(Kind::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mark = self.0.mark();
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element_seed(self)? {
            nodes.push(node);
        }
        Ok(Node { mark, kind: Kind::List(nodes) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let before = self.0.mark();
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key) = map.next_key_seed(KeySeed(self.0))? {
            let mark = self.0.mark();
            entries.push(Entry { key, mark, node: map.next_value_seed(self)? });
        }
        let mark = entries.first().map_or(before, |first| first.mark.clone());
        Ok(Node { mark, kind: Kind::Map(entries) })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Node, A::Error> {
        Err(de::Error::custom("a tag (`!name`) has no meaning here"))
    }
}

/// Reads a key as the text that stands there, whatever it looks like.
struct KeySeed<'scan, 'text>(&'scan Scan<'text>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, 'de> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_, 'de> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<String, E> {
        self.0.reach(text);
        Ok(text.to_owned())
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}
