//! Event rows.

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql};
use telemetry_core::event::EventValue;
use telemetry_core::record::{Event, NameKind, SeriesName};
use telemetry_journal::{Frame, Source};

use super::keys::{key_of, read_name};
use super::{Merge, statements, to_i64};
use crate::id_text::IdText;

impl Merge<'_> {
    pub(super) fn apply_event(&mut self, frame: Frame<'_>, event: Event) -> rusqlite::Result<()> {
        let series = self.keys.series(self.connection, self.source, event.series)?;
        let workflow = match event.workflow {
            Some(workflow) => self.keys.workflow(self.connection, workflow)?,
            None => 0,
        };
        self.keys.measured(self.connection, workflow, series)?;
        self.connection.prepare_cached(statements::EVENT)?.execute((
            self.recorder,
            frame.lane,
            to_i64(frame.sequence),
            series,
            self.clock.unix_ns(event.ticks),
            Number(event.value),
            event.task.map(|task| IdText::new(task.as_u128())),
            workflow,
        ))?;
        Ok(())
    }
}

/// The key of a series that the journal names; that of a nameless one where it does not.
pub(super) fn series_key(connection: &Connection, source: &dyn Source, number: u32) -> rusqlite::Result<i64> {
    let name: SeriesName = read_name(source, number, NameKind::Series).unwrap_or_default();
    let labels = serde_json::json!(name.labels).to_string();
    key_of(
        connection,
        "select key from series where name = ?2 and category = ?1 and kind = ?3 and unit = ?4 and labels = ?5",
        "insert into series (category, name, kind, unit, labels) values (?1, ?2, ?3, ?4, ?5)",
        (&name.category, &name.name, &name.kind, name.unit.as_deref().unwrap_or_default(), &labels),
    )
}

/// A whole number stays one as far as the database has it.
struct Number(EventValue);

impl ToSql for Number {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(match self.0 {
            EventValue::Int(number) => Value::Integer(number),
            other => Value::Real(other.as_f64()),
        }))
    }
}
