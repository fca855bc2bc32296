//! Merging: one batch of records becomes one transaction.
//!
//! Every column of the base tables belongs to one kind of record, or is combined by a rule that does
//! not depend on the order. So any order, repetition and split of the records gives the same tables.

mod event;
mod fields;
mod keys;
mod left_out;
mod object;
mod slots;
mod statements;
mod task;
mod value_json;
mod workflow;

use rusqlite::Connection;
use telemetry_core::id::TaskId;
use telemetry_core::record::{Field, Gap, Items, Kind, Raw, Record, Snapshot, TaskUpdate};
use telemetry_journal::clock::Clock;
use telemetry_journal::{Batch, Counters, Frame, Source};

use fields::{Fields, Phase, Place};
use keys::Keys;
use slots::{Fill, Slots};
use statements::Statements;
use task::{Site, Waiting};

use crate::id_text::IdText;
use crate::session::Ended;

/// What a batch became.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Records of the batch.
    pub records: usize,
    /// Their size in the journal.
    pub bytes: usize,
    /// Of these, the ones that this version cannot read; they are kept as they are.
    pub unreadable: usize,
}

/// Whose journal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A process that runs.
    Live,
    /// A process that is dead.
    Recovered,
}

/// What is kept from batch to batch: keys of rows, and memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    keys: Keys,
    slots: Slots,
    fields: Fields,
    waiting: Waiting,
    data_version: i64,
    last: Option<(u128, Counters)>,
    ends: Option<Ends>,
}

/// Tasks that end, where somebody wants to know.
#[derive(Debug, Default)]
struct Ends {
    /// In the batch that is being merged.
    merging: Vec<IdText>,
    committed: Vec<IdText>,
}

impl Memory {
    /// Forgets the keys of rows: they may not be there any more.
    pub(crate) fn forget(&mut self) {
        self.keys = Keys::default();
        self.last = None;
    }

    /// Forgets what another connection may have changed.
    pub(crate) fn forget_if_others_wrote(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached("pragma data_version")?;
        let version = statement.query_row([], |row| row.get(0))?;
        if version != self.data_version {
            self.forget();
            self.data_version = version;
        }
        Ok(())
    }

    /// Whether there is nothing to write down: no record, and counters that are known.
    pub(crate) fn has_seen(&self, source: &dyn Source, batch: &Batch) -> bool {
        batch.is_empty() && self.last == Some((source.id(), source.counters_after(batch)))
    }

    /// Notes that the batch is committed.
    pub(crate) fn remember(&mut self, source: &dyn Source, batch: &Batch) {
        self.last = Some((source.id(), source.counters_after(batch)));
        if let Some(ends) = &mut self.ends {
            ends.committed.append(&mut ends.merging);
        }
    }

    pub(crate) fn watch_ends(&mut self) {
        self.ends.get_or_insert_default();
    }

    pub(crate) fn take_ended(&mut self) -> Ended {
        Ended(self.ends.as_mut().map(|ends| std::mem::take(&mut ends.committed)).unwrap_or_default())
    }
}

/// The merging of one batch.
pub(crate) struct Merge<'a> {
    connection: &'a Connection,
    statements: Statements<'a>,
    keys: &'a mut Keys,
    slots: &'a mut Slots,
    fields: &'a mut Fields,
    waiting: &'a mut Waiting,
    /// None where nobody wants to know which tasks end.
    ends: Option<&'a mut Vec<IdText>>,
    source: &'a dyn Source,
    batch: &'a Batch,
    clock: Clock,
    recorder: i64,
    site: Site,
    applied: Applied,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        memory: &'a mut Memory,
        source: &'a dyn Source,
        batch: &'a Batch,
    ) -> rusqlite::Result<Self> {
        let Memory { keys, slots, fields, waiting, ends, .. } = memory;
        let mut ends = ends.as_mut().map(|ends| &mut ends.merging);
        if let Some(ends) = &mut ends {
            ends.clear();
        }
        let recorder = keys.recorder(connection, source)?;
        let statements = Statements::prepare(connection)?;
        Ok(Self {
            connection,
            statements,
            keys,
            slots,
            fields,
            waiting,
            ends,
            source,
            batch,
            clock: source.clock(),
            recorder,
            site: Site::default(),
            applied: Applied::default(),
        })
    }

    pub(crate) fn run(mut self, origin: Origin) -> rusqlite::Result<Applied> {
        self.slots.clear();
        self.waiting.clear();
        for index in 0..self.batch.len() {
            self.sort_in(index)?;
        }
        for slot in 0..self.slots.len() {
            self.apply_slot(slot)?;
        }
        self.write_waiting()?;
        for tally in self.batch.tallies() {
            self.apply_tally(tally)?;
        }
        self.write_counters(origin)?;
        Ok(self.applied)
    }

    /// Puts the two records of a task together, and applies any other at once.
    fn sort_in(&mut self, index: usize) -> rusqlite::Result<()> {
        let frame = self.batch.frame(index);
        self.applied.records += 1;
        self.applied.bytes += frame.bytes.len();
        match self.fill_slot(frame, index) {
            // Both records are in the processor's cache now, and may not be any more at the end.
            Some(Fill::Second(slot)) => return self.apply_slot(slot),
            Some(Fill::First) => return Ok(()),
            Some(Fill::Repeated) | None => {}
        }
        match decode(frame) {
            // A repetition of what is in its slot.
            Some(Record::TaskStart(..)) => Ok(()),
            // A repetition, or the second END of an iteration.
            Some(Record::TaskEnd(end, items)) => self.apply_end((end, items)),
            Some(Record::TaskUpdate(update, items)) => self.apply_update(update, items),
            Some(Record::WorkflowStart(start, items)) => self.apply_workflow_start(start, items),
            Some(Record::WorkflowEnd(end, items)) => self.apply_workflow_end(end, items),
            Some(Record::Snapshot(snapshot, items)) => self.apply_snapshot(snapshot, items),
            Some(Record::Event(event)) => self.apply_event(frame, event),
            Some(Record::Gap(gap)) => self.apply_gap(frame, gap),
            _ => self.keep_unreadable(frame),
        }
    }

    /// Takes a START or END by its kind and id alone: the rest is read once both are there.
    fn fill_slot(&mut self, frame: Frame<'_>, index: usize) -> Option<Fill> {
        let &[high, low] = frame.words.first_chunk()?;
        let task = TaskId::from_words(high, low)?;
        match Kind::from_code(frame.kind) {
            Some(Kind::TaskStart) => Some(self.slots.start(task, index)),
            Some(Kind::TaskEnd) => Some(self.slots.end(task, index)),
            _ => None,
        }
    }

    fn apply_slot(&mut self, slot: usize) -> rusqlite::Result<()> {
        let Some(slot) = self.slots.take(slot) else { return Ok(()) };
        let (mut start, mut end) = (None, None);
        for frame in [slot.start(), slot.end()].into_iter().flatten().map(|index| self.batch.frame(index)) {
            match decode(frame) {
                Some(Record::TaskStart(fixed, items)) => start = Some((fixed, items)),
                Some(Record::TaskEnd(fixed, items)) => end = Some((fixed, items)),
                _ => self.keep_unreadable(frame)?,
            }
        }
        match (start, end) {
            (Some(start), end) => self.apply_start(start, end),
            (None, Some(end)) => self.apply_end(end),
            (None, None) => Ok(()),
        }
    }

    fn apply_update(&mut self, update: TaskUpdate, items: Items<'_>) -> rusqlite::Result<()> {
        let activity = self.keys.activity(self.connection, self.source, update.activity)?;
        let task = IdText::new(update.task.as_u128());
        let place = Place {
            owner: task,
            phase: Phase::Update(update.ordinal),
            at_ns: Some(self.clock.unix_ns(update.ticks)),
            activity: activity.as_deref(),
        };
        self.fields.clear();
        self.fields.collect(&mut self.statements, place, items)?;
        let activity = activity.map_or(0, |activity| activity.key);
        self.statements.task_touch.execute((task, self.recorder, activity))?;
        Ok(())
    }

    fn apply_snapshot(&mut self, snapshot: Snapshot, mut items: Items<'_>) -> rusqlite::Result<()> {
        let workflow = match snapshot.workflow {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        let reading = items.find(|item| item.field == Field::Telemetry);
        let telemetry = reading.map(|item| value_json::to_text(item.value));
        let key = self.snapshot_key(snapshot.snapshot);
        let taken_ns = self.clock.unix_ns(snapshot.ticks);
        self.statements.snapshot.execute((key, workflow, taken_ns, telemetry))?;
        Ok(())
    }

    fn apply_gap(&mut self, frame: Frame<'_>, gap: Gap) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(statements::GAP)?;
        statement.execute((
            self.recorder,
            frame.lane,
            to_i64(frame.sequence),
            self.clock.unix_ns(gap.first_ticks),
            self.clock.unix_ns(gap.last_ticks),
            to_i64(gap.count),
        ))?;
        Ok(())
    }

    fn keep_unreadable(&mut self, frame: Frame<'_>) -> rusqlite::Result<()> {
        self.applied.unreadable += 1;
        let mut statement = self.connection.prepare_cached(statements::UNREADABLE)?;
        statement.execute((self.recorder, frame.lane, to_i64(frame.sequence), frame.kind, frame.bytes))?;
        Ok(())
    }

    /// Written with the batch, so that what `health` shows is exactly what the file holds.
    fn write_counters(&mut self, origin: Origin) -> rusqlite::Result<()> {
        let counters = self.source.counters_after(self.batch);
        let [full, oversize, nested, stopped] = counters.dropped.map(to_i64);
        let mut statement = self.connection.prepare_cached(statements::COUNTERS)?;
        statement.execute((
            self.recorder,
            to_i64(counters.offered),
            to_i64(counters.persisted),
            full,
            oversize,
            nested,
            stopped,
            to_i64(counters.torn),
            to_i64(counters.waits),
            to_i64(counters.spilled),
            origin == Origin::Recovered,
            to_i64(counters.pending),
        ))?;
        Ok(())
    }

    fn note_end(&mut self, task: IdText) {
        if let Some(ends) = &mut self.ends {
            ends.push(task);
        }
    }

    /// The key of a snapshot of this recorder.
    fn snapshot_key(&self, number: u32) -> i64 {
        self.recorder << 32 | i64::from(number)
    }
}

fn decode(frame: Frame<'_>) -> Option<Record<'_>> {
    Record::decode(Raw { kind: frame.kind, words: frame.words, bytes: frame.bytes })
}

/// The database has no unsigned numbers; no honest counter comes near the limit.
fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
