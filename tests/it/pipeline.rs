//! A pipeline over files and values: its derivations are the edges that it noted itself, no more, no less.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use telemetry::store::{LineageLimits, Reader};
use telemetry::{Context, File, Task, TaskId, current_task, file, task, workflow};

use crate::programs::Place;

const TASKS: u64 = 200;
const NOTES: &str = "edges.txt";
/// Where the program finds the seed of its random numbers.
const SEED: &str = "seed.txt";

thread_local! {
    static LAST: Cell<Option<TaskId>> = const { Cell::new(None) };
}

/// In the body of a task: notes which one it is.
fn here() {
    LAST.set(current_task().id());
}

/// The id of the task that ended last on this thread.
fn last() -> TaskId {
    LAST.get().expect("it is recorded")
}

#[derive(Clone, serde::Serialize)]
struct Config {
    model: String,
    seed: u64,
}

/// Short values are used and generated all the time, and are evidence of nothing.
#[task]
fn trivial(number: f64, yes: bool, empty: &str, word: &str, none: Option<u8>) -> f64 {
    here();
    let _ = (yes, empty, word, none);
    number
}

#[task]
fn invent(seed: u64) -> String {
    here();
    format!("{seed:0>100}")
}

#[task(outputs("halves", "rest"))]
fn numbers(seed: u64) -> (Vec<f64>, u64) {
    here();
    ((0..50).map(|number| f64::from(number) / 2.0 + seed as f64).collect(), seed % 2)
}

#[task(output = "scaled")]
fn scale(numbers: &[f64], by: f64) -> Vec<f64> {
    here();
    numbers.iter().map(|number| number * by).collect()
}

#[task]
fn configure(seed: u64) -> Config {
    here();
    Config { model: format!("{seed:*>90}"), seed }
}

#[task]
fn train(config: &Config, number: u64) -> String {
    here();
    format!("{} trained {number}", config.model)
}

#[task]
fn look_at(model: &str) -> usize {
    here();
    model.len()
}

#[task]
fn join(left: &str, right: &str, number: u64) -> String {
    here();
    format!("{number} of {} and {}", &left[left.len() - 60..], &right[right.len() - 60..])
}

/// Gives back what it got: from then on it is the maker.
#[task]
fn pass_on(text: String) -> String {
    here();
    text
}

#[task]
fn inner(text: &str) -> String {
    here();
    format!("inner {text}")
}

/// Hands its argument on to a task of its own, and returns what that returns.
#[task]
fn outer(text: &str, inner_id: &mut Option<TaskId>) -> String {
    let result = inner(text);
    *inner_id = Some(last());
    here();
    result
}

#[task]
fn save(path: PathBuf, text: &str) -> File {
    here();
    fs::write(&path, text).expect("the folder is ours");
    file(path)
}

#[task]
fn load(input: File, number: u64) -> String {
    here();
    let text = fs::read_to_string(&input).unwrap_or_default();
    format!("{number:0>70} loaded {}", text.len())
}

#[task]
fn copy(from: &File, to: PathBuf) -> File {
    here();
    fs::copy(from, &to).expect("the folder is ours");
    file(to)
}

/// Speaks of files by their paths alone.
#[task(output = "written")]
fn export(text: &str, path: PathBuf) -> PathBuf {
    here();
    fs::write(&path, text).expect("the folder is ours");
    path
}

#[task]
fn count(path: &Path) -> usize {
    here();
    fs::read(path).map_or(0, |bytes| bytes.len())
}

#[task(depends_on = *before)]
fn after(before: &[TaskId]) -> usize {
    here();
    before.len()
}

/// Something long that a task made.
#[derive(Clone)]
struct Made<T> {
    value: T,
    maker: TaskId,
    name: &'static str,
}

/// A file that a task wrote; `is_known` if it is recorded by more than its path.
#[derive(Clone)]
struct Written {
    path: PathBuf,
    maker: TaskId,
    name: &'static str,
    is_known: bool,
    is_copied: bool,
}

#[derive(Default)]
struct Pipeline {
    texts: Vec<Made<String>>,
    lists: Vec<Made<Vec<f64>>>,
    configs: Vec<Made<Config>>,
    files: Vec<Written>,
    edges: BTreeSet<String>,
    tasks: Vec<TaskId>,
    random: u64,
    number: u64,
}

impl Pipeline {
    fn roll(&mut self, sides: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % sides
    }

    /// A number that comes once.
    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn ran(&mut self) -> TaskId {
        self.tasks.push(last());
        last()
    }

    fn note(&mut self, name: &str, source: TaskId, source_name: &str, evidence: &str) {
        let user = last();
        self.edges.insert(format!("{user}|{name}|{source}|{source_name}|{evidence}"));
    }

    fn some_text(&mut self) -> usize {
        if self.texts.is_empty() {
            let number = self.next();
            let value = invent(number);
            let made = Made { value, maker: self.ran(), name: "result" };
            self.texts.push(made);
        }
        self.roll(self.texts.len())
    }

    fn add_text(&mut self, value: String) {
        let maker = self.ran();
        self.texts.push(Made { value, maker, name: "result" });
    }

    fn new_path(&mut self) -> PathBuf {
        let number = self.next();
        // Sometimes one that is there already, which is then overwritten.
        let known = self.roll(3) == 0 && !self.files.is_empty();
        if known {
            let index = self.roll(self.files.len());
            return self.files.remove(index).path;
        }
        PathBuf::from(format!("data/file_{number}.txt"))
    }

    fn step(&mut self) {
        match self.roll(17) {
            0 => self.trivial(),
            1 => {
                let number = self.next();
                let text = invent(number);
                self.add_text(text);
            }
            2 => self.numbers(),
            3 => self.scale(),
            4 => self.config(),
            5 => self.train(),
            6 => self.join(),
            7 => self.pass_on(),
            8 => self.outer(),
            9 | 10 => self.save(),
            11 => self.load(),
            12 => self.copy(),
            13 => self.by_path(),
            14 => self.declared(),
            15 => self.by_hand(),
            _ => self.in_a_thread(),
        }
    }

    fn trivial(&mut self) {
        trivial(0.0, true, "", "train.csv", None);
        self.ran();
    }

    fn numbers(&mut self) {
        let number = self.next();
        let (value, _) = numbers(number);
        let maker = self.ran();
        self.lists.push(Made { value, maker, name: "halves" });
    }

    fn scale(&mut self) {
        let Some(made) = self.lists.pop() else { return self.numbers() };
        let value = scale(&made.value, 3.0);
        self.note("numbers", made.maker, made.name, "content");
        let maker = self.ran();
        self.lists.push(Made { value, maker, name: "scaled" });
    }

    fn config(&mut self) {
        let number = self.next();
        let value = configure(number);
        let maker = self.ran();
        self.configs.push(Made { value, maker, name: "" });
    }

    fn train(&mut self) {
        let Some(made) = self.configs.last().cloned() else { return self.config() };
        if self.roll(2) == 0 {
            look_at(&made.value.model);
            self.note("model", made.maker, "model", "content");
            self.ran();
            return;
        }
        let number = self.next();
        let text = train(&made.value, number);
        self.note("config", made.maker, made.name, "content");
        self.add_text(text);
    }

    fn join(&mut self) {
        let (left, right) = (self.some_text(), self.some_text());
        let (left, right) = (self.texts[left].clone(), self.texts[right].clone());
        let number = self.next();
        let text = join(&left.value, &right.value, number);
        self.note("left", left.maker, left.name, "content");
        self.note("right", right.maker, right.name, "content");
        self.add_text(text);
    }

    fn pass_on(&mut self) {
        let index = self.some_text();
        let made = self.texts.remove(index);
        let text = pass_on(made.value);
        self.note("text", made.maker, made.name, "content");
        self.add_text(text);
    }

    fn outer(&mut self) {
        let index = self.some_text();
        let made = self.texts.remove(index);
        let mut inner = None;
        let text = outer(&made.value, &mut inner);
        self.note("text", made.maker, made.name, "content");
        let outer = last();
        LAST.set(inner);
        self.note("text", made.maker, made.name, "content");
        self.ran();
        LAST.set(Some(outer));
        self.add_text(text);
    }

    fn save(&mut self) {
        let (index, path) = (self.some_text(), self.new_path());
        let made = self.texts[index].clone();
        save(path.clone(), &made.value);
        self.note("text", made.maker, made.name, "content");
        let maker = self.ran();
        // The same content may lie elsewhere: then it is no better known than by its path.
        let content = fs::read(&path).ok();
        let is_same = |written: &&mut Written| fs::read(&written.path).ok() == content;
        let copies = self.files.iter_mut().filter(is_same).map(|written| written.is_copied = true);
        let is_copied = copies.count() > 0;
        self.files.push(Written { path, maker, name: "result", is_known: true, is_copied });
    }

    fn load(&mut self) {
        let number = self.next();
        if self.files.is_empty() || self.roll(6) == 0 {
            // One that nobody has written.
            let text = load(file("data/missing.txt"), number);
            return self.add_text(text);
        }
        let index = self.roll(self.files.len());
        let mut written = self.files[index].clone();
        let is_moved = written.is_known && !written.is_copied && self.roll(3) == 0;
        if is_moved {
            self.files.remove(index);
            let elsewhere = format!("data/moved_{number}.txt");
            fs::rename(&written.path, &elsewhere).expect("the folder is ours");
            written.path = elsewhere.into();
        }
        // Spelled in another way now and then.
        let path = if self.roll(2) == 0 { Path::new(".").join(&written.path) } else { written.path.clone() };
        let text = load(file(path), number);
        self.note("input", written.maker, written.name, if is_moved { "content" } else { "path" });
        self.add_text(text);
    }

    fn copy(&mut self) {
        let known: Vec<_> = self.files.iter().filter(|written| written.is_known).cloned().collect();
        if known.is_empty() {
            return self.save();
        }
        let index = self.roll(known.len());
        let number = self.next();
        let to = PathBuf::from(format!("data/copy_{number}.txt"));
        copy(&file(&known[index].path), to.clone());
        self.note("from", known[index].maker, known[index].name, "path");
        let maker = self.ran();
        for written in self.files.iter_mut().filter(|written| written.path == known[index].path) {
            written.is_copied = true;
        }
        self.files.push(Written { path: to, maker, name: "result", is_known: true, is_copied: true });
    }

    fn by_path(&mut self) {
        if self.roll(2) == 0 || self.files.is_empty() {
            let (index, path) = (self.some_text(), self.new_path());
            let made = self.texts[index].clone();
            export(&made.value, path.clone());
            self.note("text", made.maker, made.name, "content");
            let maker = self.ran();
            self.files.push(Written { path, maker, name: "written", is_known: false, is_copied: true });
            return;
        }
        let index = self.roll(self.files.len());
        let written = self.files[index].clone();
        count(&written.path);
        self.note("path", written.maker, written.name, "path");
        self.ran();
    }

    fn declared(&mut self) {
        if self.tasks.is_empty() {
            return self.trivial();
        }
        let first = self.roll(self.tasks.len());
        let second = self.roll(self.tasks.len());
        let before = BTreeSet::from([self.tasks[first], self.tasks[second]]);
        after(&before.iter().copied().collect::<Vec<_>>());
        for source in before {
            self.note("", source, "", "declared");
        }
        self.ran();
    }

    fn by_hand(&mut self) {
        let (index, path) = (self.some_text(), self.new_path());
        let made = self.texts[index].clone();
        let task = Task::start("by hand").used("from", &made.value).used("zero", 0);
        LAST.set(task.id());
        fs::write(&path, format!("by hand {:0>80}", self.number)).expect("the folder is ours");
        task.generated("to", file(&path)).end();
        self.note("from", made.maker, made.name, "content");
        let maker = self.ran();
        self.files.push(Written { path, maker, name: "to", is_known: true, is_copied: false });
    }

    fn in_a_thread(&mut self) {
        let index = self.some_text();
        let made = self.texts.remove(index);
        let context = Context::current();
        let value = made.value.clone();
        let run = move || context.run(|| (pass_on(value), last()));
        let (text, id) = std::thread::spawn(run).join().expect("it does not panic");
        LAST.set(Some(id));
        self.note("text", made.maker, made.name, "content");
        self.add_text(text);
    }
}

/// The program.
#[workflow]
pub(crate) fn pipeline() {
    fs::create_dir("data").expect("the folder is ours");
    let seed = fs::read_to_string(SEED).expect("the test left a seed");
    let random = seed.parse::<u64>().expect("a number").wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut pipeline = Pipeline { random, ..Pipeline::default() };
    while (pipeline.tasks.len() as u64) < TASKS {
        pipeline.step();
    }
    let edges: Vec<String> = pipeline.edges.into_iter().collect();
    fs::write(NOTES, edges.join("\n") + "\n").expect("the folder is ours");
}

fn run(seed: u64) -> Place {
    let place = Place::new();
    fs::write(place.path(SEED), seed.to_string()).expect("the folder is ours");
    place.run("pipeline");
    place
}

#[test]
fn derivations_are_the_edges_that_the_program_noted() {
    (1..=8).for_each(|seed| check_edges(&run(seed)));
}

fn check_edges(place: &Place) {
    let recorded = place.table(
        "select task_id, coalesce(name, ''), source_task_id, coalesce(source_name, ''), evidence
        from derivations order by 1, 2, 3, 4, 5",
    );
    let noted = fs::read_to_string(place.path(NOTES)).expect("the program left its notes");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (recorded_edges, noted_edges) = (lines(&recorded), lines(&noted));
    let more: Vec<_> = recorded_edges.difference(&noted_edges).collect();
    let less: Vec<_> = noted_edges.difference(&recorded_edges).collect();
    assert!(more.is_empty() && less.is_empty(), "recorded only: {more:#?}\nnoted only: {less:#?}");
    assert_eq!(recorded.lines().count(), noted.lines().count(), "no edge stands twice");
    for evidence in ["declared", "path", "content"] {
        let count = noted.lines().filter(|line| line.ends_with(evidence)).count();
        assert!(count >= 10, "{count} edges by {evidence}: not much of a pipeline");
    }
    let tasks: u64 = place.table("select count(*) from tasks").trim().parse().expect("a number");
    assert!(tasks >= TASKS, "{tasks}");
    check_readers(place, &noted_edges);
}

/// What readers follow is what the noted edges lead to.
fn check_readers(place: &Place, edges: &BTreeSet<String>) {
    let edges: Vec<Vec<&str>> = edges.iter().map(|edge| edge.split('|').collect()).collect();
    let reader = Reader::open(&place.database()).expect("the database opens");
    let all = LineageLimits::default();
    for id in place.table("select task_id from tasks").lines() {
        let back = reader.led_to(id, all).expect("it is there");
        let ahead = reader.came_of(id, all).expect("it is there");
        let names = |lineage: &telemetry::store::Lineage| {
            lineage.tasks.iter().map(|task| task.task_id.clone()).collect::<BTreeSet<_>>()
        };
        assert_eq!(names(&back), closure(&edges, id, (0, 2)));
        assert_eq!(names(&ahead), closure(&edges, id, (2, 0)));
        assert!(back.is_complete && ahead.is_complete);
    }
}

/// Everything that edges lead to, from one of their columns to another.
fn closure(edges: &[Vec<&str>], from: &str, (known, other): (usize, usize)) -> BTreeSet<String> {
    let mut found = BTreeSet::from([from.to_owned()]);
    loop {
        let next: Vec<_> = edges
            .iter()
            .filter(|edge| found.contains(edge[known]))
            .map(|edge| edge[other].to_owned())
            .collect();
        let before = found.len();
        found.extend(next);
        if found.len() == before {
            found.remove(from);
            return found;
        }
    }
}

#[test]
fn a_file_is_recorded_with_what_was_found_there() {
    let place = run(1);
    let row = place.table(
        "select t.generated ->> '$.result.\"$file\".bytes', t.generated ->> '$.result.\"$file\".sha256',
            t.generated ->> '$.result.\"$file\".modified' between t.started_at - 2 and t.ended_at + 2,
            t.generated ->> '$.result.\"$file\".path'
        from tasks t where t.activity_id = 'copy' order by t.started_at desc limit 1",
    );
    let columns: Vec<&str> = row.trim().split('|').collect();
    let content = fs::read(place.path(columns[3])).expect("the program left it");
    let sum = crate::programs::succeed(
        std::process::Command::new("sha256sum").arg(place.path(columns[3])).output(),
    );
    assert_eq!(columns[0], content.len().to_string());
    assert_eq!(Some(columns[1]), sum.split_whitespace().next());
    assert_eq!(columns[2], "1");
    let missing = place.table("select count(*) from tasks where used ->> '$.input.\"$file\".state' = 'missing' and status = 'FINISHED'");
    assert_ne!(missing, "0\n");
}
