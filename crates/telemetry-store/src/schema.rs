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
        let mut steps = STEPS.iter().skip(usize::try_from(seen).unwrap_or(0));
        steps.try_for_each(|step| transaction.execute_batch(step))?;
        if seen == 0 { write_views(&transaction)? } else { make_views(&transaction)? }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION.max(seen))?;
    transaction.commit()
}

/// Has SQLite make the views.
fn make_views(connection: &Connection) -> rusqlite::Result<()> {
    VIEWS.iter().try_for_each(|views| connection.execute_batch(views))
}

/// Writes the rows that `create view` would write, in a file that nobody else has read yet. To make a view, SQLite parses
/// it twice and copies it, which is most of what a new file costs. This connection does not know them until it
/// has [forgotten](forget) the schema.
fn write_views(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "writable_schema", true)?;
    let mut insert = connection.prepare(
        "insert into sqlite_schema (type, name, tbl_name, rootpage, sql) values ('view', ?1, ?1, 0, 'CREATE VIEW ' || ?2)",
    )?;
    for view in VIEWS.iter().flat_map(|views| views.split(";\n")).filter_map(definition) {
        insert.execute((view.split(' ').next(), view))?;
    }
    connection.pragma_update(None, "writable_schema", false)
}

/// What follows `create view` in a statement, behind its comments.
fn definition(statement: &str) -> Option<&str> {
    statement.split_once("create view ").map(|(_, definition)| definition)
}

/// Has the schema read again by the next statement that needs it.
pub(crate) fn forget(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "writable_schema", "reset")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(connection: &Connection) -> Vec<[String; 5]> {
        let sql =
            "select type, name, tbl_name, rootpage, coalesce(sql, '') from sqlite_schema order by rowid";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement
            .query_map([], |row| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?.to_string(), row.get(4)?])
            })
            .unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn views_are_written_as_sqlite_would_write_them() {
        let [mut ours, theirs] = [(); 2].map(|()| Connection::open_in_memory().unwrap());
        migrate(&mut ours).unwrap();
        STEPS.iter().try_for_each(|step| theirs.execute_batch(step)).unwrap();
        make_views(&theirs).unwrap();
        let (ours, theirs) = (rows(&ours), rows(&theirs));
        assert!(theirs.iter().any(|[kind, ..]| kind == "view"));
        for (our, their) in ours.iter().zip(&theirs) {
            assert_eq!(our, their);
        }
        assert_eq!(ours.len(), theirs.len());
    }

    #[test]
    fn a_connection_that_has_forgotten_the_schema_knows_the_views() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let count = |connection: &Connection| {
            connection.query_row("select count(*) from tasks", [], |row| row.get::<_, i64>(0))
        };
        assert!(count(&connection).is_err());
        forget(&connection).unwrap();
        assert_eq!(count(&connection).unwrap(), 0);
        connection.execute_batch("insert into sqlite_schema (type) values ('view')").unwrap_err();
    }
}
