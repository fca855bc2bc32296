//! The README shows what the quickstart prints, and the queries of the cookbook run on what it records.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use telemetry::store::{Cell, QueryLimits, Reader};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs an example that cargo built beside this test, in a folder of its own.
fn run_example(name: &str, folder: &Path) -> String {
    let test = std::env::current_exe().expect("a path to this test");
    let profile = test.ancestors().nth(2).expect("a folder above this test");
    let output = Command::new(profile.join("examples").join(name))
        .current_dir(folder)
        .env("TELEMETRY_SETTINGS", root().join("settings.yaml"))
        .output()
        .expect("the example is built with the tests");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "the recorder must not talk");
    String::from_utf8(output.stdout).expect("text")
}

fn database_of(folder: &Path) -> PathBuf {
    folder.join(".telemetry/provenance.db")
}

/// What does not differ from run to run: durations go, and so does the order in which threads began.
fn stable(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with("All of it is in"))
        .map(|line| line.trim_start_matches(['├', '└', '│', '─', ' ']).trim_end())
        .map(|line| match line.split_once(" FINISHED ").or_else(|| line.split_once(" ERROR ")) {
            Some((activity, _)) if line.ends_with('s') => activity.to_owned(),
            _ => line.to_owned(),
        })
        .collect();
    lines.sort();
    lines
}

/// The code blocks of a Markdown file that are marked with this language.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    markdown
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_first_program_of_the_pages_leaves_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    run_example("demo", folder.path());
    let file = |path: &str| fs::read_to_string(root().join(path)).expect("the file");
    let example = file("examples/demo.rs");
    for page in ["README.md", "docs/coming-from-flowcept.md"] {
        let shown = blocks(&file(page), "rust,no_run").swap_remove(0);
        assert!(example.ends_with(&shown), "{page} shows another program");
    }
    let reader = Reader::open(&database_of(folder.path())).expect("a database");
    let query =
        "select w.name, t.activity_id, t.used, t.generated, t.status, t.telemetry_at_start is not null
        from tasks t join workflows w using (workflow_id)";
    let rows = reader.query(query, &[], QueryLimits::default()).expect("an answer").rows;
    let mut expected: Vec<Cell> =
        ["demo", "mult_two", r#"{"x":21}"#, r#"{"y":42}"#, "FINISHED"].map(Cell::from).into();
    expected.push(Cell::Integer(1));
    assert_eq!(rows, [expected]);
}

#[test]
fn the_readme_shows_what_the_quickstart_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = run_example("quickstart", folder.path());
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let shown = blocks(&readme, "text").into_iter().find(|block| block.starts_with("The tasks of this run"));
    assert_eq!(stable(&printed), stable(&shown.expect("the README shows the output")));
}

#[test]
fn every_query_about_lineage_runs_on_what_the_example_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = run_example("lineage", folder.path());
    assert_eq!(printed, "What led to report:\n  1 smooth\n  2 measure\n");
    let reader = Reader::open(&database_of(folder.path())).expect("a database");
    let page = fs::read_to_string(root().join("docs/lineage.md")).expect("the page");
    let rows: Vec<usize> = blocks(&page, "sql")
        .iter()
        .map(|query| {
            let answer = reader.query(query, &[], QueryLimits::default());
            answer.unwrap_or_else(|error| panic!("{error}\n{query}")).rows.len()
        })
        .collect();
    assert_eq!(rows, [2, 1, 3, 2]);
    let series = "select used ->> '$.series' from tasks where activity_id = 'measure'";
    let answer = reader.query(series, &[], QueryLimits::default()).expect("a query");
    assert_eq!(answer.rows[0][0], telemetry::store::Cell::Text("summit, 40 readings".to_owned()));
}

#[test]
fn every_query_of_the_cookbook_runs_on_what_the_quickstart_records() {
    let folder = tempfile::tempdir().expect("a folder");
    run_example("quickstart", folder.path());
    let reader = Reader::open(&database_of(folder.path())).expect("a database");
    let pages = ["docs/sql.md", "docs/telemetry.md", "docs/capture.md"]
        .map(|page| fs::read_to_string(root().join(page)));
    let queries: Vec<String> =
        pages.into_iter().flat_map(|page| blocks(&page.expect("the cookbook"), "sql")).collect();
    assert!(queries.len() >= 12, "{} queries", queries.len());
    let empty: Vec<&String> = queries
        .iter()
        .filter(|query| {
            let answer = reader.query(query, &[], QueryLimits::default());
            answer.unwrap_or_else(|error| panic!("{error}\n{query}")).rows.is_empty()
        })
        .collect();
    // Nothing is running when the quickstart is over, and it has no experts; everything else has an answer.
    assert_eq!(empty.len(), 2, "{empty:#?}");
}
