//! Session files: what is in them, what they are called, and that no kill keeps them from being complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use telemetry::{Recorder, Workflow, current_task, task};

use crate::programs::{Place, say_ready, succeed, wait_for_end};

const HEADER: &str = "timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,\
                      memory_used_mb,error_message";
/// Names a Python that has pandas and matplotlib.
const PYTHON: &str = "TELEMETRY_TEST_PSUTIL_PYTHON";
const LAYERS: u64 = 3;
const TOKENS: u64 = 20;

#[task(skip_all, metadata(
    device = if layer % 2 == 0 { "cpu" } else { "igpu" },
    worker_instance = format!("igpu_expert_ffn_layer_{layer}"),
    packet_id = token * LAYERS + layer,
    layer_idx = *layer,
    operation = "expert_ffn",
    memory_used_mb = 1.5,
))]
fn expert_ffn(token: u64, layer: u64) -> Result<u64, String> {
    current_task().metadata("experts", [token % 4, layer]);
    if token % 7 == 6 { Err(format!("iGPU \"out of memory\",\nat token {token}")) } else { Ok(token) }
}

/// Says about itself what a file of lines must survive.
#[task(skip_all, metadata(
    device = "c,p\nu", worker_instance = "a \"stage\"\r", packet_id = "=1+2", layer_idx = -1, operation = "@x,y",
))]
fn awkward() {}

/// Says nothing about itself.
#[task]
fn plain_step(x: u64) -> u64 {
    x
}

#[task(skip_all, metadata(packet = false))]
fn generate_all() {
    for token in 0..TOKENS {
        for layer in 0..LAYERS {
            let _ = expert_ffn(token, layer);
        }
    }
}

/// The program `session`: one workflow with packets of all kinds.
pub(crate) fn session() {
    let _recorder = Recorder::start_with_found_settings().expect("it records");
    let workflow = Workflow::start("inference");
    generate_all();
    awkward();
    plain_step(1);
    workflow.end();
}

/// The program `usual_session`: one workflow with packets that say nothing strange.
pub(crate) fn usual_session() {
    let _recorder = Recorder::start_with_found_settings().expect("it records");
    let workflow = Workflow::start("inference");
    generate_all();
    plain_step(1);
    workflow.end();
}

/// The program `open_session`: is killed between two packets, in a third one, after the first is in its file.
pub(crate) fn open_session() {
    let recorder = Recorder::start_with_found_settings().expect("it records");
    let _workflow = Workflow::start("inference");
    let _ = expert_ffn(1, 0);
    recorder.flush(Duration::from_mins(1));
    let _ = expert_ffn(2, 0);
    let _open = telemetry::Task::start("open");
    say_ready();
    wait_for_end();
}

/// The program `two_sessions`: the first has its figures while the second runs, and a packet after its end.
pub(crate) fn two_sessions() {
    let recorder = Recorder::start_with_found_settings().expect("it records");
    let first = Workflow::start("first");
    plain_step(1);
    let (id, context) = (first.id().expect("it records"), first.context());
    first.end();
    let second = Workflow::start("second");
    let summary = || recorder.summary(id, Duration::from_mins(1)).expect("a database").expect("packets");
    let begun = Instant::now();
    while !summary().json_summary.is_some_and(|path| Path::new(&path).exists()) {
        assert!(begun.elapsed() < Duration::from_mins(1), "the figures come without an end of the process");
        std::thread::yield_now();
    }
    assert_eq!(summary().status, "FINISHED");
    context.run(|| plain_step(2));
    plain_step(3);
    second.end();
}

fn sessions(place: &Place, name: &str) -> Command {
    let mut command = place.program(name);
    command.env("TELEMETRY_SESSION__ENABLED", "true");
    command
}

/// The names in the folder of the session files.
fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path(".telemetry/sessions")).expect("the folder of the sessions");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn file(place: &Place, name: &str) -> PathBuf {
    place.path(".telemetry/sessions").join(name)
}

fn lines(place: &Place, name: &str) -> Vec<String> {
    let text = fs::read_to_string(file(place, name)).expect("the file of packets");
    text.lines().map(str::to_owned).collect()
}

fn figures(place: &Place, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(file(place, name)).expect("the figures")).expect("JSON")
}

/// A line without its time and duration, which must be numbers of three and six decimals.
fn without_times(line: &str) -> String {
    let mut fields: Vec<&str> = line.split(',').collect();
    for (position, decimals) in [(3, 3), (0, 6)] {
        let field = fields.remove(position);
        let fraction = field.split_once('.').map(|(_, fraction)| fraction.len());
        assert!(field.parse::<f64>().is_ok() && fraction == Some(decimals), "{line}");
    }
    fields.join(",")
}

#[test]
fn a_line_is_a_packet_and_a_packet_is_a_line() {
    let place = Place::new();
    succeed(sessions(&place, "session").output());
    let [csv, json] = &names(&place)[..] else { panic!("{:?}", names(&place)) };
    let form = csv.strip_prefix("session_").and_then(|rest| rest.strip_suffix(".csv")).expect("a session");
    let is_digit = |character: char| character.is_ascii_digit();
    assert_eq!(form.replace(is_digit, "0"), "0000-00-00_00-00-00");
    let lines = lines(&place, csv);
    assert_eq!(lines[0], HEADER);
    assert_eq!(lines.len() as u64, 1 + TOKENS * LAYERS + 2);
    assert_eq!(without_times(&lines[2]), "igpu,igpu_expert_ffn_layer_1,1,1,expert_ffn,True,1.50,");
    assert_eq!(
        without_times(&lines[1 + 18]),
        "cpu,igpu_expert_ffn_layer_0,18,0,expert_ffn,False,1.50,\"iGPU \"\"out of memory\"\", at token 6\""
    );
    let awkward = &lines[lines.len() - 2];
    assert_eq!(without_times(awkward), "c p u,a 'stage' ,'=1+2,-1,'@x y,True,,");
    let task = place.table("select task_id from tasks where activity_id = 'plain_step'");
    let plain = without_times(&lines[lines.len() - 1]);
    assert!(plain.starts_with("cpu,"), "{plain}");
    assert!(plain.contains(&format!(",{},-1,plain_step,True,", task.trim())), "{plain}");
    let figures = figures(&place, json);
    assert_eq!(figures["session_name"], csv.strip_suffix(".csv").expect("a name"));
    assert_eq!(figures["total_packets_processed"], TOKENS * LAYERS + 2);
    assert_eq!(figures["failed_packets"], 2 * LAYERS);
    assert_eq!(figures["csv_log"], file(&place, csv).to_string_lossy().as_ref());
    let chosen = figures["expert_selection_distribution"].as_object().expect("an object");
    let chosen: u64 = chosen.values().filter_map(Value::as_u64).sum();
    assert_eq!(chosen, 2 * TOKENS * LAYERS);
}

#[test]
fn a_session_is_complete_when_its_workflow_is_and_takes_what_comes_later() {
    let place = Place::new();
    succeed(sessions(&place, "two_sessions").env("TELEMETRY_SESSION__SESSION_NAME", "run").output());
    assert_eq!(names(&place), ["run.csv", "run.json", "run_2.csv", "run_2.json"]);
    assert_eq!((lines(&place, "run.csv").len(), lines(&place, "run_2.csv").len()), (3, 2));
    assert_eq!(figures(&place, "run.json")["total_packets_processed"], 2);
    assert_eq!(place.table("select count(*) from session where not is_written"), "0\n");
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let place = Place::new();
    for _ in 0..3 {
        succeed(sessions(&place, "session").env("TELEMETRY_SESSION__SESSION_NAME", "../run").output());
    }
    let names = names(&place);
    let expected =
        [".._run.csv", ".._run.json", ".._run_2.csv", ".._run_2.json", ".._run_3.csv", ".._run_3.json"];
    assert_eq!(names, expected);
    assert_eq!(figures(&place, ".._run_3.json")["session_name"], ".._run_3");
}

#[test]
fn the_next_start_completes_the_files_of_a_program_that_was_killed() {
    let place = Place::new();
    let program = crate::programs::Running::start(sessions(&place, "open_session"));
    let names_then = names(&place);
    let lines_then = lines(&place, &names_then[0]);
    assert!(lines_then.len() >= 2, "what was flushed is in the file: {lines_then:?}");
    program.kill();
    // Half a line, as a kill in the middle of a write leaves it.
    fs::write(file(&place, &names_then[0]), format!("{HEADER}\n17950048")).expect("the file");
    place.run("small_run");
    assert_eq!(lines(&place, &names_then[0]).len(), 3);
    let figures = figures(&place, &names_then[0].replace(".csv", ".json"));
    assert_eq!(figures["status"], "INTERRUPTED");
    assert_eq!(
        (&figures["total_packets_processed"], &figures["interrupted_packets"]),
        (&2.into(), &1.into())
    );
    assert_eq!(names(&place).len(), 2, "{:?}", names(&place));
}

#[test]
fn a_folder_that_cannot_be_used_is_a_warning_and_the_files_come_later() {
    let place = Place::new();
    fs::create_dir(place.path(".telemetry")).expect("a folder");
    fs::write(place.path(".telemetry/sessions"), "in the way").expect("a file");
    let output = sessions(&place, "session").output().expect("the program runs");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    assert_eq!(complaints.matches("cannot write the session file").count(), 1, "{complaints}");
    assert_eq!(place.table("select count(*) from packets"), format!("{}\n", TOKENS * LAYERS + 2));
    fs::remove_file(place.path(".telemetry/sessions")).expect("the file");
    place.run("small_run");
    let names = names(&place);
    assert_eq!(lines(&place, &names[0]).len() as u64, 1 + TOKENS * LAYERS + 2);
    assert_eq!(figures(&place, &names[1])["failed_packets"], 2 * LAYERS);
}

#[test]
fn without_the_setting_there_are_no_files() {
    let place = Place::new();
    place.run("session");
    assert!(!place.path(".telemetry/sessions").exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "where the Python is is no setting")]
fn the_lines_of_the_guide_give_what_the_database_gives() {
    let Some(python) = std::env::var_os(PYTHON) else {
        println!("pandas was not asked: {PYTHON} is not set");
        return;
    };
    let place = Place::new();
    succeed(sessions(&place, "usual_session").output());
    let names = names(&place);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/sessions/recipes.py");
    let mut command = Command::new(python);
    command.arg(script).args([file(&place, &names[0]), file(&place, &names[1])]);
    command
        .args([place.database(), place.path("timeline.png")])
        .env("MPLCONFIGDIR", place.path("matplotlib"));
    let output = command.output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, "");
    let plot = fs::read(place.path("timeline.png")).expect("the plot");
    assert!(plot.starts_with(b"\x89PNG") && plot.len() > 5_000, "{} bytes", plot.len());
}
