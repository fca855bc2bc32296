//! The schema: tables, as a list of steps that is only ever appended to and that `user_version` counts, and the views
//! over them, which are made anew whenever a step is run. A change of a view alone is a step without a statement.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{StoreError, is_damage};

/// What marks a file as ours: "tele" in ASCII.
pub(crate) const APPLICATION_ID: i32 = 0x7465_6C65;

/// Each step is run once, in order; a file's `user_version` says how many it has seen.
const STEPS: &[&str] = &[
    include_str!("sql/steps/base.sql"),
    include_str!("sql/steps/lineage.sql"),
    include_str!("sql/steps/sampling.sql"),
    include_str!("sql/steps/sessions.sql"),
    include_str!("sql/steps/events.sql"),
    include_str!("sql/steps/sums.sql"),
];

/// The views as they are now.
const VIEWS: &[&str] = &[
    include_str!("sql/views/base.sql"),
    include_str!("sql/views/lineage.sql"),
    include_str!("sql/views/sessions.sql"),
    include_str!("sql/views/events.sql"),
];

/// The schema version that this program writes.
pub const VERSION: i32 = STEPS.len() as i32;

/// What a file says about itself.
#[derive(Clone, Copy, Debug)]
struct Marks {
    application_id: i32,
    version: i32,
    is_empty: bool,
}

fn marks(connection: &Connection) -> rusqlite::Result<Marks> {
    connection.query_row(
        "select (select application_id from pragma_application_id), (select user_version from pragma_user_version),
            not exists (select 1 from sqlite_schema)",
        [],
        |row| Ok(Marks { application_id: row.get(0)?, version: row.get(1)?, is_empty: row.get(2)? }),
    )
}

/// How many steps the file has seen.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i32> {
    marks(connection).map(|marks| marks.version)
}

/// Refuses a file that is damaged, not ours or too new; says whether it is still empty.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let marks = marks(connection).map_err(|source| failed(path, "reading the schema", source))?;
    let path = path.to_owned();
    if marks.is_empty && marks.application_id == 0 && marks.version == 0 {
        return Ok(true);
    }
    if marks.application_id != APPLICATION_ID {
        return Err(StoreError::Foreign { path, application_id: marks.application_id });
    }
    if marks.version > VERSION {
        return Err(StoreError::Newer { path, found: marks.version, known: VERSION });
    }
    Ok(marks.version == 0)
}

/// Brings the file to this program's version; other processes may try the same at the same time.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if marks(connection)?.version == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seen = marks(&transaction)?.version;
    if seen < VERSION {
        drop_views(&transaction, seen)?;
        let steps = STEPS.iter().skip(usize::try_from(seen).unwrap_or(0));
        steps.chain(VIEWS).try_for_each(|step| transaction.execute_batch(step))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION.max(seen))?;
    transaction.commit()
}

/// Takes our views away, and nobody else's: a step may change what they look at.
fn drop_views(connection: &Connection, seen: i32) -> rusqlite::Result<()> {
    if seen == 0 {
        return Ok(());
    }
    let names =
        VIEWS.iter().flat_map(|views| views.lines()).filter_map(|line| line.strip_prefix("create view "));
    names
        .filter_map(|line| line.split(' ').next())
        .try_for_each(|name| connection.execute_batch(&format!("drop view if exists {name}")))
}

pub(crate) fn failed(path: &Path, doing: &'static str, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    if is_damage(&source) {
        return StoreError::Damaged { path, source };
    }
    StoreError::Sqlite { path, doing, source }
}
