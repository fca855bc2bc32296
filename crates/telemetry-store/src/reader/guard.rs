//! What a reader's connection refuses: everything that does not read, and queries without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// How many steps of the virtual machine lie between two looks at the clock.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;
const NEVER: u64 = u64::MAX;

/// When the running query must be done, in nanoseconds after `origin`.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    origin: Instant,
    at_ns: Arc<AtomicU64>,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { origin: Instant::now(), at_ns: Arc::new(AtomicU64::new(NEVER)) }
    }
}

impl Deadline {
    /// Runs something that is stopped after this time.
    pub(super) fn within<T>(&self, limit: Duration, work: impl FnOnce() -> T) -> T {
        let at_ns = (self.origin.elapsed() + limit).as_nanos();
        self.at_ns.store(u64::try_from(at_ns).unwrap_or(NEVER), Ordering::Relaxed);
        let done = work();
        self.at_ns.store(NEVER, Ordering::Relaxed);
        done
    }

    fn is_over(&self) -> bool {
        let at_ns = self.at_ns.load(Ordering::Relaxed);
        at_ns != NEVER && self.origin.elapsed().as_nanos() > u128::from(at_ns)
    }
}

pub(super) fn install(connection: &mut Connection, deadline: &Deadline) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.authorizer(Some(authorize))?;
    let deadline = deadline.clone();
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || deadline.is_over()))
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Deny
        }
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }
}
