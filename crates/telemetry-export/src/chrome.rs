//! Chrome's trace format, which Perfetto and <chrome://tracing> open: tasks as slices, telemetry as counters, derivations
//! as arrows, events as counters or marks.
//!
//! Times are microseconds since the first task, with three digits: absolute ones would lose their nanoseconds in the
//! doubles that readers use. Slices of one track must nest. Those of a thread do, unless they are futures: a task that
//! overlaps its track goes to another one of the same thread. So its depth is the number of its callers there.

mod measured;
mod tracks;

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::{Value, json};
use telemetry_store::{CurveRow, Reader, SpanRow};

use crate::error::{ExportError, FirstError};
use measured::Totals;
use tracks::Tracks;

/// A value longer than this is cut: a picture is no place for more.
const VALUE_CHARACTERS_MAX: usize = 500;

/// Writes the workflows as one trace; `progress` is told of each task, snapshot and event.
pub fn write(
    reader: &Reader,
    workflow_ids: &[String],
    output: &mut impl Write,
    mut progress: impl FnMut(),
) -> Result<(), ExportError> {
    let (first_ns, last_ns) = span_of_time(reader, workflow_ids)?;
    let mut trace = Trace { output, tracks: Tracks::default(), first_ns, last_ns, is_begun: false };
    let mut arrow_count = 0;
    for workflow_id in workflow_ids {
        let arrows = Arrows::find(reader, workflow_id, &mut arrow_count)?;
        name_processes(reader, workflow_id, &mut trace)?;
        let threads = reader.threads(workflow_id)?;
        let threads: HashMap<i64, Option<String>> =
            threads.into_iter().map(|thread| (thread.thread, thread.name)).collect();
        let mut first = FirstError::default();
        reader.spans(workflow_id, |span| {
            progress();
            first.keep(trace.span(&span, &threads, &arrows))
        })?;
        reader.curves(workflow_id, |curve| {
            progress();
            first.keep(trace.curve(&curve))
        })?;
        let mut totals = Totals::default();
        reader.measured(workflow_id, |row| {
            progress();
            let at = trace.moment(row.at_ns.max(trace.first_ns));
            first.keep(trace.event(&totals.draw(&row, &at)))
        })?;
        first.finish()?;
    }
    trace.end()?;
    Ok(())
}

fn span_of_time(reader: &Reader, workflow_ids: &[String]) -> Result<(i64, i64), ExportError> {
    let (mut first_ns, mut last_ns) = (i64::MAX, i64::MIN);
    for workflow_id in workflow_ids {
        if let Some(span) = reader.span_of_time(workflow_id)? {
            first_ns = first_ns.min(span.first_ns.unwrap_or(i64::MAX));
            last_ns = last_ns.max(span.last_ns.unwrap_or(i64::MIN));
        }
    }
    Ok(if first_ns > last_ns { (0, 0) } else { (first_ns, last_ns) })
}

fn name_processes<W: Write>(
    reader: &Reader,
    workflow_id: &str,
    trace: &mut Trace<'_, W>,
) -> Result<(), ExportError> {
    for process in reader.processes(workflow_id)? {
        let host = process.hostname.as_deref().unwrap_or("?");
        let pid = process.pid.map(|pid| format!(" {pid}")).unwrap_or_default();
        let name = process.name.as_deref().unwrap_or("process");
        let arguments = json!({"name": format!("{name} ({host}{pid})")});
        trace.event(&json!({
            "ph": "M", "name": "process_name", "pid": process.recorder, "tid": 0, "args": arguments,
        }))?;
    }
    Ok(())
}

/// Which arrows begin and end at which tasks.
#[derive(Default)]
struct Arrows {
    begin: HashMap<String, Vec<usize>>,
    end: HashMap<String, Vec<usize>>,
}

impl Arrows {
    fn find(reader: &Reader, workflow_id: &str, count: &mut usize) -> Result<Self, ExportError> {
        let mut arrows = Self::default();
        for (maker, user) in reader.links(workflow_id)? {
            *count += 1;
            arrows.begin.entry(maker).or_default().push(*count);
            arrows.end.entry(user).or_default().push(*count);
        }
        Ok(arrows)
    }
}

struct Trace<'a, W> {
    output: &'a mut W,
    tracks: Tracks,
    first_ns: i64,
    /// What runs is drawn up to here.
    last_ns: i64,
    is_begun: bool,
}

impl<W: Write> Trace<'_, W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        let before = if self.is_begun { ",\n" } else { "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" };
        self.is_begun = true;
        write!(self.output, "{before}{event}")
    }

    fn end(&mut self) -> io::Result<()> {
        let before = if self.is_begun { "\n" } else { "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" };
        let data = json!({"first_unix_ns": self.first_ns.to_string(), "recorded_by": "telemetry"});
        writeln!(self.output, "{before}],\"otherData\":{data}}}")
    }

    fn span(
        &mut self,
        span: &SpanRow,
        threads: &HashMap<i64, Option<String>>,
        arrows: &Arrows,
    ) -> io::Result<()> {
        let ended_ns = span.ended_ns.unwrap_or(self.last_ns).max(span.started_ns);
        let placed = self.tracks.place(span, ended_ns);
        if placed.is_new {
            let name = threads.get(&span.thread).cloned().flatten().unwrap_or_else(|| "thread".to_owned());
            let name = if placed.number > 1 { format!("{name} ({})", placed.number) } else { name };
            self.event(&json!({
                "ph": "M", "name": "thread_name", "pid": span.recorder, "tid": placed.track, "args": {"name": name},
            }))?;
        }
        let at = self.moment(span.started_ns);
        self.event(&json!({
            "ph": "X",
            "name": span.activity_id.as_deref().unwrap_or("(not recorded)"),
            "cat": "task",
            "pid": span.recorder,
            "tid": placed.track,
            "ts": at,
            "dur": microseconds(ended_ns - span.started_ns),
            "args": arguments(span),
        }))?;
        // Right behind its slice, so that the slice is the innermost one at that moment.
        let arrow = |phase: &str, number: &usize| {
            json!({
                "ph": phase, "bp": "e", "id": number, "name": "derivation", "cat": "derivation",
                "pid": span.recorder, "tid": placed.track, "ts": at,
            })
        };
        for number in arrows.end.get(&span.task_id).into_iter().flatten() {
            self.event(&arrow("f", number))?;
        }
        for number in arrows.begin.get(&span.task_id).into_iter().flatten() {
            self.event(&arrow("s", number))?;
        }
        Ok(())
    }

    fn curve(&mut self, curve: &CurveRow) -> io::Result<()> {
        let values = [
            ("machine cpu", "%", curve.cpu_percent),
            ("machine memory", "bytes", curve.memory_used_bytes.map(|bytes| bytes as f64)),
            ("process cpu", "%", curve.process_cpu_percent),
            ("process memory", "bytes", curve.process_rss_bytes.map(|bytes| bytes as f64)),
            ("process", "threads", curve.process_threads.map(|threads| threads as f64)),
        ];
        // A reading that was shared may be older than the first task.
        let at = self.moment(curve.taken_ns.max(self.first_ns));
        for (name, unit, value) in values {
            if let Some(value) = value {
                // Readers put both names together.
                self.event(&json!({
                    "ph": "C", "name": name, "pid": curve.recorder, "ts": at, "args": {unit: value},
                }))?;
            }
        }
        Ok(())
    }

    fn moment(&self, ns: i64) -> Value {
        microseconds(ns - self.first_ns)
    }
}

/// A number with three digits behind the point.
fn microseconds(ns: i64) -> Value {
    let text = format!("{}.{:03}", ns / 1_000, ns % 1_000);
    text.parse::<serde_json::Number>().map_or_else(|_| json!(0), Value::Number)
}

fn arguments(span: &SpanRow) -> Value {
    let mut arguments = serde_json::Map::new();
    arguments.insert("task_id".to_owned(), json!(span.task_id));
    arguments.insert("status".to_owned(), json!(span.status));
    let values = [
        ("used", span.used.as_ref().map(|text| cut(text.as_str()))),
        ("generated", span.generated.as_ref().map(|text| cut(text.as_str()))),
        ("error", span.stderr.as_deref().map(cut)),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            arguments.insert(name.to_owned(), Value::String(value));
        }
    }
    Value::Object(arguments)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
