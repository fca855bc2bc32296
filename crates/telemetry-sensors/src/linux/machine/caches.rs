//! The caches of the processors from /sys; one that several processors share counts once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::linux::frequency::numbered;
use crate::linux::roots::Roots;
use crate::machine::CpuInfo;

/// One cache: its level, its kind, and the processors that share it.
type Key = (u64, String, String);

pub(super) fn measure(roots: &Roots, cpu: &mut CpuInfo) {
    let caches = find(roots);
    let size = |level: u64, kinds: [&str; 2]| {
        let of_kind =
            caches.iter().filter(|((at, kind, _), _)| *at == level && kinds.contains(&kind.as_str()));
        of_kind.map(|(_, bytes)| *bytes).reduce(u64::wrapping_add)
    };
    cpu.l1_data_cache_size = size(1, ["Data", "Unified"]);
    cpu.l1_instruction_cache_size = size(1, ["Instruction", "Unified"]);
    cpu.l2_cache_size = size(2, ["Data", "Unified"]);
    cpu.l3_cache_size = size(3, ["Data", "Unified"]);
    let second = roots.sys.join("devices/system/cpu/cpu0/cache/index2");
    if text(&second.join("level")).as_deref() == Some("2") {
        cpu.l2_cache_line_size = text(&second.join("coherency_line_size")).and_then(|text| text.parse().ok());
        cpu.l2_cache_associativity =
            text(&second.join("ways_of_associativity")).and_then(|text| text.parse().ok());
    }
}

fn find(roots: &Roots) -> BTreeMap<Key, u64> {
    let processors = numbered(&roots.sys.join("devices/system/cpu"), "cpu");
    let caches = processors.iter().flat_map(|processor| numbered(&processor.join("cache"), "index"));
    caches.filter_map(|cache| read(&cache)).collect()
}

fn read(cache: &Path) -> Option<(Key, u64)> {
    let level = text(&cache.join("level"))?.parse().ok()?;
    let bytes = parse_size(&text(&cache.join("size"))?)?;
    Some(((level, text(&cache.join("type"))?, text(&cache.join("shared_cpu_list"))?), bytes))
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// A size such as `48K` or `2M`.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_cache_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        for (processor, index, level, kind, size, shared) in [
            ("cpu0", "index0", "1", "Data", "48K", "0"),
            ("cpu1", "index0", "1", "Data", "48K", "1"),
            ("cpu0", "index2", "2", "Unified", "2M", "0-1"),
            ("cpu1", "index2", "2", "Unified", "2M", "0-1"),
        ] {
            let cache = folder.path().join("devices/system/cpu").join(processor).join("cache").join(index);
            fs::create_dir_all(&cache).unwrap();
            let files = [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)];
            for (name, text) in files.into_iter().chain([("coherency_line_size", "64")]) {
                fs::write(cache.join(name), format!("{text}\n")).unwrap();
            }
        }
        let mut cpu = CpuInfo::default();
        measure(&roots, &mut cpu);
        assert_eq!((cpu.l1_data_cache_size, cpu.l2_cache_size), (Some(98_304), Some(2_097_152)));
        assert_eq!((cpu.l1_instruction_cache_size, cpu.l2_cache_line_size), (None, Some(64)));
    }

    #[test]
    fn sizes() {
        assert_eq!(
            ["7", "1K", "3M", "x", "1T"].map(parse_size),
            [Some(7), Some(1024), Some(3 << 20), None, None]
        );
    }
}
