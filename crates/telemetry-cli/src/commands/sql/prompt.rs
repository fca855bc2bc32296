//! The prompt: questions over several lines, with a history and completion.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use telemetry_core::settings::environment;
use telemetry_store::Reader;

use super::Question;
use crate::arguments::Format;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;

const PROMPT: &str = "telemetry> ";
const HISTORY_MAX: usize = 1_000;
const HELP: &str = "\
A question ends with a semicolon; the arrow keys bring earlier ones back, and Tab completes names.
  .views             the views with their columns
  .format FORMAT     table, json, jsonl, csv, tsv or markdown
  .timeout SECONDS   how long a question may take
  .quit              the same as Ctrl-D";
const WORDS: &[&str] = &[
    "select",
    "from",
    "where",
    "group by",
    "order by",
    "limit",
    "join",
    "left join",
    "count(*)",
    "distinct",
    "having",
    "desc",
    "asc",
    "and",
    "or",
    "not",
    "null",
    "like",
    "between",
    "with",
];

type Prompt = Editor<Names, FileHistory>;

pub(super) fn run(mut question: Question, place: &Place, printer: &mut Printer) -> Result<(), Failure> {
    let views = Reader::open(&place.database)?.views()?;
    let mut editor = editor(Names { views })?;
    let history = history_file();
    if let Some(history) = &history {
        // The first time there is none.
        let _ = editor.load_history(history);
    }
    printer.talk_quietly(&format!("{}; .help says more, Ctrl-D ends.", place.database.display()));
    loop {
        match editor.readline(PROMPT) {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => {
                let _ = editor.add_history_entry(line.trim());
                if !answer(line.trim(), &mut question, place, &editor, printer)? {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failure(error)),
        }
    }
    if let Some(history) = &history {
        let _ = editor.save_history(history);
    }
    Ok(())
}

/// Says whether the conversation goes on.
fn answer(
    line: &str,
    question: &mut Question,
    place: &Place,
    editor: &Prompt,
    printer: &mut Printer,
) -> Result<bool, Failure> {
    let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    match word {
        ".quit" | ".exit" => return Ok(false),
        ".help" => printer.talk(HELP),
        ".views" | ".tables" | ".schema" => printer.data(&described(editor))?,
        ".format" => match format(rest) {
            Some(format) => question.format = format,
            None => printer.error("no such format", Some("table, json, jsonl, csv, tsv or markdown")),
        },
        ".timeout" => match rest.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 => question.limits.time_ms_max = (seconds * 1e3).ceil() as u64,
            _ => printer.error("a number of seconds is needed", Some(".timeout 30")),
        },
        _ if word.starts_with('.') => {
            printer.error(&format!("{word} is no command"), Some(".help lists them"));
        }
        _ => match question.ask(line, place, printer) {
            Err(failure @ (Failure::Output { .. } | Failure::ClosedPipe)) => return Err(failure),
            Err(failure) => {
                failure.report(printer);
            }
            Ok(()) => {}
        },
    }
    Ok(true)
}

fn format(word: &str) -> Option<Format> {
    Some(match word {
        "table" => Format::Table,
        "json" => Format::Json,
        "jsonl" => Format::JsonLines,
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "markdown" => Format::Markdown,
        _ => return None,
    })
}

fn described(editor: &Prompt) -> String {
    let views = editor.helper().map_or(&[][..], |names| &names.views);
    let lines: Vec<String> =
        views.iter().map(|(name, columns)| format!("{name} ({})", columns.join(", "))).collect();
    lines.join("\n") + "\n"
}

fn editor(names: Names) -> Result<Prompt, Failure> {
    let config =
        Config::builder().max_history_size(HISTORY_MAX).map_err(failure)?.auto_add_history(false).build();
    let mut editor = Editor::with_config(config).map_err(failure)?;
    editor.set_helper(Some(names));
    Ok(editor)
}

fn failure(error: ReadlineError) -> Failure {
    Failure::Input { source: std::io::Error::other(error) }
}

/// In the folder for what programs remember; none where there is no such folder.
fn history_file() -> Option<PathBuf> {
    let folder = environment::state_dir()?.join("telemetry");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("sql-history"))
}

/// The names that can be completed.
struct Names {
    views: Vec<(String, Vec<String>)>,
}

impl Names {
    fn names(&self) -> Vec<&str> {
        self.views.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Columns of the views that the question names, or of all; views; words.
    fn candidates(&self, line: &str) -> Vec<&str> {
        let is_named = |name: &str| {
            line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
        };
        let named: Vec<&(String, Vec<String>)> =
            self.views.iter().filter(|(name, _)| is_named(name)).collect();
        let columns = if named.is_empty() { self.views.iter().collect() } else { named };
        let columns = columns.into_iter().flat_map(|(_, columns)| columns.iter().map(String::as_str));
        let mut candidates: Vec<&str> = columns.chain(self.names()).chain(WORDS.iter().copied()).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let begin = before.rfind(|letter: char| !is_name(letter)).map_or(0, |place| place + 1);
        let word = &before[begin..];
        let last = before[..begin].split_whitespace().next_back().unwrap_or_default();
        let names = if matches!(last, "from" | "join") { self.names() } else { self.candidates(line) };
        let candidates = names.into_iter().filter(|name| !word.is_empty() && name.starts_with(word));
        Ok((begin, candidates.map(str::to_owned).collect()))
    }
}

impl Validator for Names {
    /// A question goes on until its semicolon; a command of the prompt is one line.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let line = context.input().trim();
        let is_complete = line.is_empty() || line.starts_with('.') || line.ends_with(';');
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Borrowed(hint)
    }
}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use rustyline::history::{DefaultHistory, History};

    use super::*;

    #[test]
    fn columns_of_named_views_come_first_and_alone() {
        let view = |name: &str, columns: &[&str]| {
            (name.to_owned(), columns.iter().map(|&column| column.to_owned()).collect())
        };
        let names = Names { views: vec![view("tasks", &["task_id", "thread"]), view("health", &["torn"])] };
        let history = DefaultHistory::new();
        assert_eq!(history.len(), 0);
        let complete = |line: &str| names.complete(line, line.len(), &Context::new(&history)).unwrap();
        assert_eq!(
            complete("select t"),
            (7, ["task_id", "tasks", "thread", "torn"].map(str::to_owned).to_vec())
        );
        assert_eq!(complete("from tasks where t").1, ["task_id", "tasks", "thread"]);
        assert_eq!(complete("select count(*) from t").1, ["tasks"]);
        assert_eq!(complete("select ").1, Vec::<String>::new());
    }
}
