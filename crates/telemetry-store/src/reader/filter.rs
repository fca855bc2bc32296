//! Which rows, in which order, how many.

use super::cell::Cell;

/// By when things started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The first one first.
    #[default]
    OldestFirst,
    /// The last one first.
    NewestFirst,
}

/// Which workflows; the default is all of them, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkflowFilter {
    /// Only those with this name; `*` stands for any characters.
    pub name: Option<String>,
    /// Only those of this campaign.
    pub campaign_id: Option<String>,
    /// Only those that stand like this.
    pub status: Option<String>,
    /// Only those that started at this time or later, in unix seconds.
    pub since_s: Option<f64>,
    /// The order.
    pub order: Order,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Which tasks; the default is all of them, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Only those of this workflow.
    pub workflow_id: Option<String>,
    /// Only calls of this.
    pub activity_id: Option<String>,
    /// Only those that stand like this.
    pub status: Option<String>,
    /// Only those that this task called.
    pub parent_task_id: Option<String>,
    /// The order.
    pub order: Order,
    /// At most so many.
    pub limit: Option<u32>,
}

impl WorkflowFilter {
    pub(super) fn statement(&self) -> (String, Vec<Cell>) {
        let mut conditions = Conditions::default();
        let name = self.name.as_deref();
        conditions.add("name = ?", name.filter(|name| !name.contains('*')));
        conditions.add("name glob ?", name.filter(|name| name.contains('*')).map(only_stars).as_deref());
        conditions.add("campaign_id = ?", self.campaign_id.as_deref());
        conditions.add("status = ?", self.status.as_deref());
        if let Some(since_s) = self.since_s {
            conditions.push("started_at >= ?", Cell::Real(since_s));
        }
        let order = match self.order {
            Order::OldestFirst => "started_at, workflow_id",
            Order::NewestFirst => "started_at desc, workflow_id desc",
        };
        let sql = format!("select * from workflows{} order by {order} limit ?", conditions.clause);
        (sql, conditions.with_limit(self.limit))
    }
}

impl TaskFilter {
    /// The ids are chosen first, so that only the rows that are shown are read as a whole.
    pub(super) fn statement(&self) -> (String, Vec<Cell>) {
        let mut conditions = Conditions::default();
        conditions.add("workflow_id = ?", self.workflow_id.as_deref());
        conditions.add("activity_id = ?", self.activity_id.as_deref());
        conditions.add("status = ?", self.status.as_deref());
        conditions.add("parent_task_id = ?", self.parent_task_id.as_deref());
        let order = match self.order {
            Order::OldestFirst => "started_at, task_id",
            Order::NewestFirst => "started_at desc, task_id desc",
        };
        let chosen = format!("select task_id from tasks{} order by {order} limit ?", conditions.clause);
        let sql = format!("select * from tasks where task_id in ({chosen}) order by {order}");
        (sql, conditions.with_limit(self.limit))
    }
}

/// In a glob of the database, `?` and `[` have a meaning, too.
fn only_stars(name: &str) -> String {
    name.replace('[', "[[]").replace('?', "[?]")
}

/// Conditions of fixed text; values only ever go in as parameters.
#[derive(Default)]
struct Conditions {
    clause: String,
    parameters: Vec<Cell>,
}

impl Conditions {
    fn add(&mut self, condition: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.push(condition, Cell::Text(value.to_owned()));
        }
    }

    fn push(&mut self, condition: &'static str, value: Cell) {
        self.clause.push_str(if self.parameters.is_empty() { " where " } else { " and " });
        self.clause.push_str(condition);
        self.parameters.push(value);
    }

    fn with_limit(mut self, limit: Option<u32>) -> Vec<Cell> {
        self.parameters.push(Cell::Integer(limit.map_or(-1, i64::from)));
        self.parameters
    }
}
