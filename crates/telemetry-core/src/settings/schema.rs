//! The keys of a settings file: their names, and how the value of each is read.

use std::sync::LazyLock;

use super::node::Node;
use super::report::Report;
use super::section::Section;
use super::values::{
    choice, finite, flag, list, map_of, optional, path, pattern, power_of_two, retention, share, text, whole,
    word_of,
};
use super::{
    CRITICAL_TAGS, Capture, Experiment, GPU_METRICS, Instrumentation, Journal, Model, Redaction, Rule,
    Session, Settings, Store, TelemetryCapture, blank,
};

/// Our sections; a file found on the way up counts as ours if it has one of them.
pub(super) const SECTIONS: &[&str] = &[
    "telemetry_capture",
    "instrumentation",
    "capture",
    "redaction",
    "journal",
    "store",
    "session",
    "experiment",
];

/// Sections of Flowcept's file that have no meaning here.
const IGNORED: &[&str] = &[
    "flowcept_version",
    "project",
    "log",
    "mq",
    "kv_db",
    "web_server",
    "sys_metadata",
    "extra_metadata",
    "db_buffer",
    "agent",
    "databases",
    "adapters",
];

/// Longer times make no sense, and some could not be added to a clock.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The encoder goes this deep on the stack of the caller's thread.
const DEPTH_LIMIT: u32 = 512;
const GIBIBYTE: u64 = 1 << 30;

static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut report = Report::new("".as_ref(), "");
    read(None, &mut blank::settings(), &mut report);
    report.keys
});

/// Reads a file's tree over `settings`; returns the sections that were passed over.
pub(super) fn read(node: Option<Node>, settings: &mut Settings, report: &mut Report<'_>) -> Vec<String> {
    let mut file = Section::new(String::new(), node, report);
    file.section("telemetry_capture", |section| telemetry_capture(section, &mut settings.telemetry_capture));
    file.section("instrumentation", |section| instrumentation(section, &mut settings.instrumentation));
    file.section("capture", |section| capture(section, &mut settings.capture));
    file.section("redaction", |section| redaction(section, &mut settings.redaction));
    file.section("journal", |section| journal(section, &mut settings.journal));
    file.section("store", |section| store(section, &mut settings.store));
    file.section("session", |section| session(section, &mut settings.session));
    file.section("experiment", |section| experiment(section, &mut settings.experiment));
    let ignored = IGNORED.iter().filter(|name| file.ignore(name)).map(ToString::to_string).collect();
    file.finish();
    ignored
}

/// Every key that has a value, in full.
pub(super) fn keys() -> &'static [String] {
    &KEYS
}

/// The key in some section that is called so.
pub(super) fn key_ending_in(name: &str) -> Option<&'static str> {
    let is_called_so = |key: &&String| key.rsplit('.').next() == Some(name);
    keys().iter().find(is_called_so).map(String::as_str)
}

fn telemetry_capture(section: &mut Section<'_, '_>, target: &mut TelemetryCapture) {
    section.read("gpu", &mut target.gpu, optional(list(word_of(GPU_METRICS))));
    section.read("cpu", &mut target.cpu, flag);
    section.read("per_cpu", &mut target.per_cpu, flag);
    section.read("process_info", &mut target.process_info, flag);
    section.read("mem", &mut target.mem, flag);
    section.read("disk", &mut target.disk, flag);
    section.read("network", &mut target.network, flag);
    section.read("machine_info", &mut target.machine_info, flag);
    section.read("max_age_ms", &mut target.max_age_ms, whole(0..=DAY_MS));
    section.read("slow_age_ms", &mut target.slow_age_ms, whole(0..=DAY_MS));
    section.read("sample_every_ms", &mut target.sample_every_ms, optional(whole(1..=DAY_MS)));
}

fn instrumentation(section: &mut Section<'_, '_>, target: &mut Instrumentation) {
    section.read("enabled", &mut target.enabled, flag);
    let name = section.alias("model", "torch");
    section.section(name, |section| model(section, &mut target.model));
}

fn model(section: &mut Section<'_, '_>, target: &mut Model) {
    section.read("what", &mut target.what, optional(choice));
    section.read("children_mode", &mut target.children_mode, choice);
    section.read("epoch_loop", &mut target.epoch_loop, optional(choice));
    section.read("batch_loop", &mut target.batch_loop, optional(choice));
    section.read("capture_epochs_at_every", &mut target.capture_epochs_at_every, whole(1..=u32::MAX));
    section.read("register_workflow", &mut target.register_workflow, flag);
}

fn capture(section: &mut Section<'_, '_>, target: &mut Capture) {
    section.read("default_level", &mut target.default_level, choice);
    section.sections("rules", &mut target.rules, rule);
    section.read("value_bytes_max", &mut target.value_bytes_max, whole(0..=GIBIBYTE as u32));
    section.read("record_bytes_max", &mut target.record_bytes_max, whole(0..=GIBIBYTE as u32));
    section.read("depth_max", &mut target.depth_max, whole(1..=DEPTH_LIMIT));
    section.read("items_max", &mut target.items_max, whole(0..=u32::MAX));
    section.read("reload", &mut target.reload, flag);
    section.section("sampling", |section| {
        section.read("keep_errors", &mut target.sampling.keep_errors, flag);
    });
    section.read("events", &mut target.events, list(text));
    section.read("critical_tags", &mut target.critical_tags, map_of(CRITICAL_TAGS, finite));
}

fn rule(section: &mut Section<'_, '_>) -> Rule {
    let mut rule = blank::rule();
    section.require("activity");
    section.read("activity", &mut rule.activity, text);
    section.read("level", &mut rule.level, optional(choice));
    section.read("sample", &mut rule.sample, optional(share));
    section.read("per_second", &mut rule.per_second, optional(whole(0..=u32::MAX)));
    section.read("value_bytes_max", &mut rule.value_bytes_max, optional(whole(0..=GIBIBYTE as u32)));
    section.read("record_bytes_max", &mut rule.record_bytes_max, optional(whole(0..=GIBIBYTE as u32)));
    section.read("depth_max", &mut rule.depth_max, optional(whole(1..=DEPTH_LIMIT)));
    section.read("items_max", &mut rule.items_max, optional(whole(0..=u32::MAX)));
    rule
}

fn redaction(section: &mut Section<'_, '_>, target: &mut Redaction) {
    section.read("enabled", &mut target.enabled, flag);
    section.read("names", &mut target.names, list(text));
    section.read("patterns", &mut target.patterns, list(pattern));
    section.read("allow", &mut target.allow, list(text));
    section.read("email", &mut target.email, flag);
    section.read("environment_allow", &mut target.environment_allow, list(text));
}

fn journal(section: &mut Section<'_, '_>, target: &mut Journal) {
    section.read("lane_bytes", &mut target.lane_bytes, power_of_two(4096..=GIBIBYTE));
    section.read("lanes_max", &mut target.lanes_max, whole(1..=1024));
    section.read("on_full", &mut target.on_full, choice);
    section.read("wait_ms_max", &mut target.wait_ms_max, whole(0..=DAY_MS));
    section.read("drain", &mut target.drain, choice);
    section.read("drain_interval_ms", &mut target.drain_interval_ms, whole(1..=DAY_MS));
    section.read("dir", &mut target.dir, optional(path));
    section.read("name", &mut target.name, optional(text));
}

fn store(section: &mut Section<'_, '_>, target: &mut Store) {
    section.read("path", &mut target.path, path);
    section.read("durability", &mut target.durability, choice);
    section.read("retention", &mut target.retention, optional(retention));
}

fn session(section: &mut Section<'_, '_>, target: &mut Session) {
    section.read("enabled", &mut target.enabled, flag);
    section.read("output_dir", &mut target.output_dir, path);
    section.read("session_name", &mut target.session_name, optional(text));
}

fn experiment(section: &mut Section<'_, '_>, target: &mut Experiment) {
    section.read("user", &mut target.user, optional(text));
    section.read("campaign", &mut target.campaign, optional(text));
}
