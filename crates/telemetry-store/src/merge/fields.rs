//! The items of a task's or workflow's records, sorted into the columns that they belong to.
//!
//! A field has its column in the record that usually brings it; from any other record it goes into
//! the table `items`, which the views look into only for the rows that say so.

use std::borrow::Cow;

use telemetry_core::record::{Field, Item, Items, Key};
use telemetry_core::value::Encoded;

use super::keys::Activity;
use super::object::{KnownName, ListText, MemberName, ObjectText, without_nul};
use super::statements::Statements;
use super::value_json;
use crate::id_text::IdText;

/// The tag byte that ends a map.
const END_TAG: u8 = 0x00;
/// The tag bytes that end a map which was cut.
const CUT_TAG: u8 = 0x0E;
const CUT_TYPED_TAG: u8 = 0x19;
/// What a result is called that is known by its members, when it is meant as a whole.
const WHOLE_RESULT: &str = "";

/// Which record of a task or workflow the items come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Start,
    Update(u32),
    End,
}

impl Phase {
    /// For one key the highest wins.
    fn ordinal(self) -> i64 {
        match self {
            Self::Start => -1,
            Self::Update(ordinal) => i64::from(ordinal),
            Self::End => 1 << 32,
        }
    }

    fn has_column_for(self, field: Field) -> bool {
        match self {
            Self::Start => matches!(field, Field::Used | Field::Metadata | Field::Tag | Field::Dependency),
            Self::Update(_) => false,
            Self::End => field == Field::Generated,
        }
    }
}

/// The columns of one row that come from items.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) used: ObjectText,
    pub(super) generated: ObjectText,
    pub(super) metadata: ObjectText,
    pub(super) tags: ListText,
    pub(super) dependencies: ListText,
    pub(super) subtype: Option<String>,
    pub(super) group: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) source_agent: Option<String>,
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
    pub(super) name: Option<String>,
    pub(super) campaign: Option<String>,
    /// Whether any column but `used` and `generated` has something.
    pub(super) has_more: bool,
    /// 1 where something went into the table `items`.
    pub(super) updated: Option<u8>,
    position: i64,
}

/// Where one item comes from and belongs to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) owner: IdText,
    pub(super) phase: Phase,
    /// When the record was made, in unix nanoseconds; none for what is no task, which has no lineage.
    pub(super) at_ns: Option<i64>,
    pub(super) activity: Option<&'a Activity>,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.generated.clear();
        self.updated = None;
        if self.has_more {
            self.clear_more();
        }
    }

    fn clear_more(&mut self) {
        self.metadata.clear();
        self.tags.clear();
        self.dependencies.clear();
        for text in [&mut self.subtype, &mut self.group, &mut self.agent, &mut self.source_agent] {
            *text = None;
        }
        for text in [&mut self.stdout, &mut self.stderr, &mut self.name, &mut self.campaign] {
            *text = None;
        }
        self.has_more = false;
    }

    /// Takes the items of one record; START before END.
    pub(super) fn collect(
        &mut self,
        statements: &mut Statements<'_>,
        place: Place<'_>,
        items: Items<'_>,
    ) -> rusqlite::Result<()> {
        self.position = 0;
        for item in items {
            self.take(statements, &place, item)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        item: Item<'_>,
    ) -> rusqlite::Result<()> {
        match item.field {
            Field::Used | Field::Generated | Field::Metadata => {
                if let Some(name) = known_name(place.activity, item.key) {
                    let name = MemberName::Known(name);
                    return self.take_named(statements, place, item.field, name, item.value);
                }
                let name = given_name(item.key);
                self.take_named(statements, place, item.field, MemberName::Given(&name), item.value)
            }
            Field::Result => self.take_result(statements, place, item.value),
            Field::Tag => self.take_tag(statements, place, item.value),
            Field::Dependency => self.take_dependency(statements, place, item.value),
            Field::Telemetry => Ok(()),
            field => self.take_text(statements, place, field, item.value),
        }
    }

    fn take_named(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        field: Field,
        name: MemberName<'_>,
        value: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        if field != Field::Metadata {
            take_fingerprints(statements, place, field, name.plain(), value)?;
        }
        if !place.phase.has_column_for(field) {
            let name = name.plain();
            let escape = if name.starts_with('$') { "$" } else { "" };
            let name = format!("{escape}{name}");
            return self.store(statements, place, field, Some(&name), &value_json::to_text(value));
        }
        match field {
            Field::Used => self.used.push(name, value),
            Field::Generated => self.generated.push(name, value),
            _ => {
                self.has_more = true;
                self.metadata.push(name, value);
            }
        }
        Ok(())
    }

    /// A map becomes the keys of `generated`, anything else its key `result`.
    fn take_result(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        value: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        if !value.is_map() {
            let name = MemberName::Given("result");
            return self.take_named(statements, place, Field::Generated, name, value);
        }
        take_fingerprints(statements, place, Field::Generated, WHOLE_RESULT, value)?;
        let mut rest = &value.bytes()[1..];
        while !matches!(rest.first(), None | Some(&END_TAG | &CUT_TAG | &CUT_TYPED_TAG))
            && let Some(key) = Encoded::read(&mut rest)
            && let Some(member) = Encoded::read(&mut rest)
        {
            let name = value_json::name(key);
            let name = MemberName::Given(&without_nul(&name));
            self.take_named(statements, place, Field::Generated, name, member)?;
        }
        match rest.first() {
            Some(&CUT_TAG | &CUT_TYPED_TAG) => self.take_cut(statements, place, value),
            _ => Ok(()),
        }
    }

    /// Says of a map that was cut how many members it had.
    fn take_cut(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        map: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        let Some(cut) = value_json::cut_of_map(map) else { return Ok(()) };
        if !place.phase.has_column_for(Field::Generated) {
            return self.store(statements, place, Field::Generated, Some("$cut"), &cut);
        }
        self.generated.push_cut(&cut);
        Ok(())
    }

    fn take_tag(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        value: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        let json = value_json::to_text(value);
        if !place.phase.has_column_for(Field::Tag) {
            return self.store(statements, place, Field::Tag, None, &json);
        }
        self.has_more = true;
        self.tags.push(&json);
        Ok(())
    }

    fn take_dependency(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        value: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        let source = value_json::plain_text(value);
        statements.dependency.execute((place.owner, &source))?;
        if !place.phase.has_column_for(Field::Dependency) {
            return self.store(statements, place, Field::Dependency, None, &source);
        }
        self.has_more = true;
        self.dependencies.push_text(&source);
        Ok(())
    }

    /// What START says of these stays, but for the output, where END has the last word.
    fn take_text(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        field: Field,
        value: Encoded<'_>,
    ) -> rusqlite::Result<()> {
        let text = value_json::plain_text(value);
        if matches!(place.phase, Phase::Update(_)) {
            return self.store(statements, place, field, None, &text);
        }
        self.has_more = true;
        let is_output = matches!(field, Field::Stdout | Field::Stderr);
        if let Some(column) = self.text(field)
            && (is_output || column.is_none())
        {
            *column = Some(text);
        }
        Ok(())
    }

    fn text(&mut self, field: Field) -> Option<&mut Option<String>> {
        match field {
            Field::Subtype => Some(&mut self.subtype),
            Field::Group => Some(&mut self.group),
            Field::Agent => Some(&mut self.agent),
            Field::SourceAgent => Some(&mut self.source_agent),
            Field::Stdout => Some(&mut self.stdout),
            Field::Stderr => Some(&mut self.stderr),
            Field::Name => Some(&mut self.name),
            Field::Campaign => Some(&mut self.campaign),
            _ => None,
        }
    }

    fn store(
        &mut self,
        statements: &mut Statements<'_>,
        place: &Place<'_>,
        field: Field,
        name: Option<&str>,
        value: &str,
    ) -> rusqlite::Result<()> {
        self.updated = Some(1);
        let row = (place.owner, field.code(), place.phase.ordinal(), self.position, name, value);
        statements.item.execute(row)?;
        self.position += 1;
        Ok(())
    }
}

/// Notes by what a used or generated value can be known again.
fn take_fingerprints(
    statements: &mut Statements<'_>,
    place: &Place<'_>,
    field: Field,
    name: &str,
    value: Encoded<'_>,
) -> rusqlite::Result<()> {
    let Some(at_ns) = place.at_ns.filter(|_| value.may_have_fingerprints()) else { return Ok(()) };
    let direction = i64::from(field == Field::Generated);
    for found in value.fingerprints() {
        let row = (place.owner, direction, name, found.hash as i64, found.evidence as i64, at_ns);
        statements.fingerprint.execute(row)?;
    }
    Ok(())
}

/// A name that the activity has.
fn known_name<'a>(activity: Option<&'a Activity>, key: Option<Key<'_>>) -> Option<&'a KnownName> {
    match key? {
        Key::Index(index) => activity?.keys.get(index),
        Key::Inline(_) => None,
    }
}

/// Any other name; an index that the activity does not have is still told apart from others.
fn given_name(key: Option<Key<'_>>) -> Cow<'_, str> {
    match key {
        Some(Key::Inline(name)) => without_nul(name),
        Some(Key::Index(index)) => Cow::Owned(format!("arg_{index}")),
        None => Cow::Borrowed(""),
    }
}
