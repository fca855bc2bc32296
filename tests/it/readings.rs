//! What the database says about the machine and the process around a task.
#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::{Value, json};
use telemetry::Settings;

use crate::loads::{CPU, DISK_BYTES, MEMORY_BYTES, NETWORK_BYTES};
use crate::programs::{Place, succeed};

const TOGGLES: [&str; 7] = ["CPU", "PER_CPU", "PROCESS_INFO", "MEM", "DISK", "NETWORK", "MACHINE_INFO"];

/// A program that takes a new reading for each end of a task, and only those.
fn fresh(place: &Place, name: &str) -> Command {
    let mut program = place.program(name);
    program.env("TELEMETRY_TELEMETRY_CAPTURE__MAX_AGE_MS", "0");
    program
}

/// A program with only these toggles on.
fn toggled(place: &Place, name: &str, on: &[&str]) -> Command {
    let mut program = fresh(place, name);
    for toggle in TOGGLES {
        program.env(format!("TELEMETRY_TELEMETRY_CAPTURE__{toggle}"), on.contains(&toggle).to_string());
    }
    program
}

/// Whether a number is the expected one within 10 %.
fn is_about(number: &Value, expected: f64) -> bool {
    number.as_f64().is_some_and(|number| (number / expected - 1.0).abs() <= 0.1)
}

/// The loads, each with the column that must show it and what that must be. What others do on the machine is
/// in its numbers, too, and a slow machine needs more of its processors: the third member says which of the
/// program's own totals limits that.
fn expected() -> Vec<(&'static str, &'static str, Option<usize>, f64)> {
    let columns = |burner, writer, sender, buffer| {
        [
            (burner, "process_cpu_ns", Some(3), CPU.as_nanos() as f64),
            (buffer, "rss_growth", None, MEMORY_BYTES as f64),
            (buffer, "rss_peak_growth", None, MEMORY_BYTES as f64),
            (writer, "process_write_bytes", None, DISK_BYTES as f64),
            (writer, "machine_disk_write_bytes", Some(0), DISK_BYTES as f64),
            (sender, "machine_net_sent_bytes", Some(1), NETWORK_BYTES as f64),
            (sender, "machine_net_recv_bytes", Some(2), NETWORK_BYTES as f64),
        ]
    };
    let alone = columns("burns", "writes", "sends", "returns_a_buffer");
    let all = "does_everything";
    alone.into_iter().chain(columns(all, all, all, all)).collect()
}

#[test]
fn each_load_is_in_its_column_within_a_tenth() {
    let place = Place::on_disk();
    let output = succeed(fresh(&place, "loads").output());
    let rows = place.rows(
        "select *, process_cpu_s * 1e9 as process_cpu_ns,
            process_rss_end_bytes - process_rss_start_bytes as rss_growth,
            process_rss_peak_bytes - process_rss_start_bytes as rss_peak_growth from task_telemetry",
    );
    let found = |activity: &str, column: &str| {
        let row = rows.as_array().and_then(|rows| rows.iter().find(|row| row["activity_id"] == activity));
        row.and_then(|row| row[column].as_f64())
            .unwrap_or_else(|| panic!("no {column} of {activity}: {rows}"))
    };
    let total = |activity: &str, index: usize| -> f64 {
        let mut lines = output.lines().filter_map(|line| line.split_once("around ")?.1.split_once(' '));
        let (_, totals) = lines.find(|(name, _)| *name == activity).expect("the program tells");
        totals.split(' ').nth(index).and_then(|total| total.parse().ok()).expect("a number")
    };
    for (activity, column, limited_by, least) in expected() {
        let found = found(activity, column);
        let most = limited_by.map_or(least, |index| total(activity, index).max(least));
        assert!(
            (0.9 * least..=1.1 * most).contains(&found),
            "{activity}: {column} is {found}, not {least} to {most}"
        );
    }
}

#[test]
fn the_sampler_sees_a_buffer_that_was_freed_inside_the_task() {
    let place = Place::new();
    let mut program = fresh(&place, "freed");
    succeed(program.env("TELEMETRY_TELEMETRY_CAPTURE__SAMPLE_EVERY_MS", "20").output());
    let rows = place.rows(
        "select process_rss_peak_bytes - process_rss_start_bytes as peak,
            process_rss_end_bytes - process_rss_start_bytes as growth,
            (select count(*) from snapshots) as count,
            (select count(*) from snapshots where workflow_id is null) as of_nobody,
            (select count(*) from (
                select taken_at < lag(taken_at) over (order by cast(substr(snapshot_id, 38) as integer)) as is_back
                from snapshots) where is_back) as turned_back
        from task_telemetry",
    );
    assert!(is_about(&rows[0]["peak"], MEMORY_BYTES as f64), "{rows}");
    assert!(rows[0]["growth"].as_f64() < Some(MEMORY_BYTES as f64 / 10.0), "{rows}");
    // At least one while the buffer was there and one after, however busy the machine is.
    assert!(rows[0]["count"].as_u64() >= Some(4), "{rows}");
    assert_eq!((&rows[0]["of_nobody"], &rows[0]["turned_back"]), (&json!(0), &json!(0)), "{rows}");
}

#[test]
fn without_the_sampler_there_are_the_two_readings_of_the_task() {
    let place = Place::new();
    succeed(fresh(&place, "freed").output());
    assert_eq!(place.table("select count(*) from snapshots"), "2\n");
    let peak = "select process_rss_peak_bytes = max(process_rss_start_bytes, process_rss_end_bytes) from task_telemetry";
    assert_eq!(place.table(peak), "1\n");
}

#[test]
fn each_toggle_alone_gives_exactly_its_block_in_the_database() {
    let block_of = |toggle: &str| {
        let place = Place::new();
        succeed(toggled(&place, "one_load", &[toggle]).output());
        place.table(
            "select (select group_concat(key, ' ') from json_each(telemetry_at_start)),
                (select group_concat(key, ' ') from json_each(telemetry_at_end)),
                (select count(*) from snapshots), (select count(*) from machines) from tasks",
        )
    };
    let blocks = TOGGLES.map(block_of);
    let expected = [
        "cpu|cpu|2|0\n",
        "cpu|cpu|2|0\n",
        "process|process|2|0\n",
        "memory|memory|2|0\n",
        "disk|disk|2|0\n",
        "network|network|2|0\n",
        "null|null|0|1\n",
    ];
    assert_eq!(blocks, expected);
}

/// Of `task_telemetry`, what a toggle alone fills.
#[test]
fn each_toggle_alone_fills_exactly_its_columns() {
    let filled_by = |toggle: &str| {
        let place = Place::new();
        succeed(toggled(&place, "one_load", &[toggle]).output());
        let rows = place.rows("select * from task_telemetry");
        let row = rows[0].as_object().cloned().unwrap_or_default();
        let scopes = row.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str());
        scopes
            .filter(|name| name.starts_with("process") || name.starts_with("machine"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let filled = TOGGLES.map(filled_by);
    let process = "process_cpu_s process_rss_start_bytes process_rss_end_bytes process_rss_peak_bytes \
        process_read_bytes process_write_bytes process_ctx_switches";
    let disk = "machine_disk_read_bytes machine_disk_write_bytes";
    let network = "machine_net_sent_bytes machine_net_recv_bytes";
    assert_eq!(filled[1..], ["", process, "machine_memory_used_diff_bytes", disk, network, ""]);
    // Null where the clock of the kernel has not moved between two readings 2 ms apart.
    assert!(["", "machine_cpu_percent"].contains(&filled[0].as_str()), "{}", filled[0]);
}

#[test]
fn all_off_opens_no_file_and_leaves_no_trace() {
    let place = Place::new();
    let output = succeed(toggled(&place, "open_files", &[]).output());
    assert_eq!(
        output.lines().filter(|line| line.starts_with("open ")).collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
    let counts =
        "select count(*), count(telemetry_at_start), count(telemetry_at_end), count(snapshot_age_end_ms),
        (select count(*) from snapshots), (select count(*) from machines) from tasks";
    assert_eq!(place.table(counts), "1|0|0|0|0|0\n");
    // The list itself works: with a toggle on, files are open.
    let output = succeed(toggled(&Place::new(), "open_files", &["MEM"]).output());
    assert!(output.contains("open /proc/meminfo\n"), "{output}");
}

#[test]
fn a_recorder_that_stops_closes_the_files_of_its_sensors() {
    let output = succeed(Place::new().program("stopped").output());
    assert_eq!(
        output.lines().filter(|line| line.starts_with("open ")).collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
}

#[test]
fn a_typo_in_the_list_of_metrics_names_those_that_there_are() {
    let yaml = "telemetry_capture: {gpu: [used, temprature]}";
    let error = Settings::from_yaml(yaml, "settings.yaml".as_ref()).expect_err("there is no such metric");
    let text = error.to_string();
    for word in [
        "temprature",
        "used",
        "temperature",
        "power",
        "name",
        "id",
        "activity",
        "others",
        "total",
        "utilization",
        "clocks",
        "processes",
    ] {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
}

#[test]
fn two_processes_on_one_machine_are_one_row() {
    let place = Place::new();
    place.run("one_load");
    // The second one has another environment, which is its own and not the machine's.
    succeed(place.program("one_load").env("TZ", "UTC+7").output());
    let machines = "select count(*), count(distinct machine_id) from machines";
    assert_eq!(place.table(machines), "1|1\n");
    let workflows = "select count(distinct machine_id), count(distinct pid),
        group_concat(coalesce(machine_info ->> '$.environment.TZ', 'none'), ' ') from workflows order by started_at";
    let row = place.table(workflows);
    assert!(row.starts_with("1|2|") && row.contains("UTC+7"), "{row}");
    let shown = "select environment ->> '$.TZ', hostname is not null, cpu ->> '$.count' > 0,
        memory ->> '$.virtual.total' > memory ->> '$.virtual.used', disk ->> '$.total' > 0 from machines";
    assert_eq!(place.table(shown), "UTC+7|1|1|1|1\n");
}

#[test]
fn a_machine_is_described_whole_and_of_its_environment_only_what_is_allowed() {
    let place = Place::new();
    let mut program = place.program("one_load");
    succeed(
        program.env("USER", "ada").env("SLURM_JOB_ID", "77").env("DEPLOY_TOKEN", "not for anybody").output(),
    );
    let blocks = "select group_concat(key, ' ') from (select key from workflows, json_each(machine_info) order by key)";
    assert_eq!(
        place.table(blocks),
        "cpu disk environment hostname login_name memory network platform process\n"
    );
    let environment = "select machine_info ->> '$.environment.SLURM_JOB_ID',
        machine_info ->> '$.environment.DEPLOY_TOKEN', machine_info like '%not for anybody%' from workflows";
    assert_eq!(place.table(environment), "77|null|0\n");
    let strangers =
        "select count(*) from workflows, json_each(machine_info, '$.environment') where key not in
        ('PATH', 'HOME', 'USER', 'LANG', 'TZ', 'CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES')
        and key not like 'SLURM\\_%' escape '\\'";
    assert_eq!(place.table(strangers), "0\n");
}
