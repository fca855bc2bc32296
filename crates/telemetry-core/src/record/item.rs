//! Items: the fields of a record that have values.

use crate::value::{Encoded, read_varint};
use crate::words::words;

words! {
    /// What an item says about its task, workflow or snapshot.
    Field {
        /// An input: has a key.
        Used = 1 "used",
        /// An output: has a key.
        Generated = 2 "generated",
        /// What the task returned: a map becomes the keys of `generated`, anything else its key `result`.
        Result = 3 "result",
        /// Free metadata: has a key.
        Metadata = 4 "metadata",
        /// The message of an error or a panic.
        Stderr = 5 "stderr",
        /// What it printed.
        Stdout = 6 "stdout",
        /// A tag of the user.
        Tag = 7 "tag",
        /// The id of a task, as text, that this one declares to depend on.
        Dependency = 8 "dependency",
        /// A free word for the kind of task or workflow.
        Subtype = 9 "subtype",
        /// Links the iterations of one loop.
        Group = 10 "group",
        /// The agent that ran it.
        Agent = 11 "agent",
        /// The agent that asked for it.
        SourceAgent = 12 "source agent",
        /// A workflow's name.
        Name = 13 "name",
        /// The campaign of a workflow.
        Campaign = 14 "campaign",
        /// The reading of a snapshot.
        Telemetry = 15 "telemetry",
    }
}

impl Field {
    /// Whether an item of this field has a key before its value.
    pub const fn has_key(self) -> bool {
        matches!(self, Self::Used | Self::Generated | Self::Metadata)
    }
}

/// The name of a used, generated or metadata value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// Index into the keys of the activity, from 0.
    Index(usize),
    /// The name itself.
    Inline(&'a str),
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What it says.
    pub field: Field,
    /// The name of the value, for the fields that have one.
    pub key: Option<Key<'a>>,
    /// The value.
    pub value: Encoded<'a>,
}

/// The items of a record, in the order in which they were written. Ends early at bytes that are no
/// item.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
}

impl<'a> Items<'a> {
    /// Reads items from these bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn read(&mut self) -> Option<Item<'a>> {
        let (&code, mut rest) = self.bytes.split_first()?;
        let field = Field::from_code(code)?;
        let key = if field.has_key() { Some(read_key(&mut rest)?) } else { None };
        let value = Encoded::read(&mut rest)?;
        self.bytes = rest;
        Some(Item { field, key, value })
    }
}

fn read_key<'a>(bytes: &mut &'a [u8]) -> Option<Key<'a>> {
    match read_varint(bytes)? {
        0 => Some(Key::Inline(Encoded::read(bytes)?.as_str()?)),
        index => Some(Key::Index(usize::try_from(index - 1).ok()?)),
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let item = self.read();
        if item.is_none() {
            self.bytes = &[];
        }
        item
    }
}
