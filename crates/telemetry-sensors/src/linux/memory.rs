//! The block `memory` from /proc/meminfo and /proc/vmstat, by psutil's formulas.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};

use super::file::{Buffer, KeptFile};
use super::roots::Roots;
use super::scan::{lines, number_after, words};
use crate::percent;
use crate::telemetry::{Memory, Swap, Virtual};

/// /proc/vmstat counts swapped pages in units of 4 KiB, whatever the page size is.
const SWAP_UNIT_BYTES: u64 = 4096;

/// Reads the block `memory`.
#[derive(Debug)]
pub(crate) struct Reader {
    roots: Roots,
    meminfo: KeptFile,
    vmstat: KeptFile,
    swapped: Option<Swapped>,
    had_swap: bool,
}

/// What was swapped in and out since boot, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Swapped {
    sin: Option<u64>,
    sout: Option<u64>,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self {
            meminfo: KeptFile::open(roots.proc.join("meminfo")),
            vmstat: KeptFile::open(roots.proc.join("vmstat")),
            roots: roots.clone(),
            swapped: None,
            had_swap: true,
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, memory: &mut Memory) {
        let info = self.meminfo.read(buffer).map(Meminfo::parse).unwrap_or_default();
        memory.virtual_memory = info.virtual_memory(&self.roots);
        memory.swap = info.swap();
        if let Some(swap) = &mut memory.swap {
            let swapped = self.swapped(buffer, swap.total > 0);
            (swap.sin, swap.sout) = (swapped.sin, swapped.sout);
        }
    }

    /// Without swap nothing can be swapped, so the costly /proc/vmstat is left alone.
    fn swapped(&mut self, buffer: &mut Buffer, has_swap: bool) -> Swapped {
        let may_have_changed = has_swap || std::mem::replace(&mut self.had_swap, has_swap);
        match self.swapped {
            Some(swapped) if !may_have_changed => swapped,
            _ => {
                let swapped = self.vmstat.read(buffer).map(parse_swapped).unwrap_or_default();
                *self.swapped.insert(swapped)
            }
        }
    }
}

/// The machine's memory in bytes.
pub(crate) fn total(roots: &Roots) -> Option<u64> {
    fs::read(roots.proc.join("meminfo")).ok().and_then(|text| Meminfo::parse(&text).total)
}

fn parse_swapped(text: &[u8]) -> Swapped {
    let mut swapped = Swapped::default();
    for line in lines(text).filter(|line| line.starts_with(b"pswp")) {
        let bytes = |key| number_after(line, key).map(|units| units.wrapping_mul(SWAP_UNIT_BYTES));
        swapped.sin = swapped.sin.or_else(|| bytes(b"pswpin "));
        swapped.sout = swapped.sout.or_else(|| bytes(b"pswpout "));
        if swapped.sout.is_some() {
            break;
        }
    }
    swapped
}

/// The lines of /proc/meminfo that psutil's formulas need, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Meminfo {
    total: Option<u64>,
    free: Option<u64>,
    available: Option<u64>,
    buffers: Option<u64>,
    cached: Option<u64>,
    active: Option<u64>,
    inactive: Option<u64>,
    active_file: Option<u64>,
    inactive_file: Option<u64>,
    shared: Option<u64>,
    slab: Option<u64>,
    reclaimable: Option<u64>,
    swap_total: Option<u64>,
    swap_free: Option<u64>,
}

impl Meminfo {
    fn parse(text: &[u8]) -> Self {
        let mut info = Self::default();
        for line in lines(text) {
            info.parse_line(line);
            if line.starts_with(b"SReclaimable:") && info.swap_free.is_some() {
                // The last line of interest; half of the file follows.
                break;
            }
        }
        info
    }

    fn parse_line(&mut self, line: &[u8]) {
        let Some(colon) = memchr::memchr(b':', line) else { return };
        let Some(field) = self.field(&line[..colon]) else { return };
        *field = words(&line[colon + 1..]).number().map(|kibibytes| kibibytes.wrapping_mul(1024));
    }

    fn field(&mut self, key: &[u8]) -> Option<&mut Option<u64>> {
        Some(match key {
            b"MemTotal" => &mut self.total,
            b"MemFree" => &mut self.free,
            b"MemAvailable" => &mut self.available,
            b"Buffers" => &mut self.buffers,
            b"Cached" => &mut self.cached,
            b"Active" => &mut self.active,
            b"Inactive" => &mut self.inactive,
            b"Active(file)" => &mut self.active_file,
            b"Inactive(file)" => &mut self.inactive_file,
            b"Shmem" => &mut self.shared,
            b"Slab" => &mut self.slab,
            b"SReclaimable" => &mut self.reclaimable,
            b"SwapTotal" => &mut self.swap_total,
            b"SwapFree" => &mut self.swap_free,
            _ => return None,
        })
    }

    fn virtual_memory(&self, roots: &Roots) -> Option<Virtual> {
        let (total, free) = (self.total?, self.free?);
        let available = self.available(roots).unwrap_or(free);
        // More than everything is what some containers report: their numbers mix host and guest.
        let available = if available > total { free } else { available };
        let used = total.saturating_sub(available);
        Some(Virtual {
            total,
            available,
            percent: percent::of(used, total),
            used,
            free,
            active: self.active,
            inactive: self.inactive,
            buffers: self.buffers,
            cached: self.cached.map(|cached| cached.wrapping_add(self.reclaimable.unwrap_or(0))),
            shared: self.shared,
            slab: self.slab,
        })
    }

    /// Kernels before 3.14 do not tell, and some newer ones say 0: then the kernel's own estimate is
    /// made here.
    fn available(&self, roots: &Roots) -> Option<u64> {
        self.available.filter(|available| *available > 0).or_else(|| self.estimated_available(roots))
    }

    fn estimated_available(&self, roots: &Roots) -> Option<u64> {
        let free = self.free?;
        let simple = free.wrapping_add(self.cached.unwrap_or(0));
        let (Some(active), Some(inactive), Some(reclaimable), Some(low)) =
            (self.active_file, self.inactive_file, self.reclaimable, low_watermark_bytes(roots))
        else {
            return Some(simple);
        };
        let pages = active.saturating_add(inactive);
        let pages = pages - (pages / 2).min(low);
        let reclaimable = reclaimable - (reclaimable / 2).min(low);
        Some(free.saturating_add(pages).saturating_add(reclaimable).saturating_sub(low))
    }

    fn swap(&self) -> Option<Swap> {
        let (total, free) = (self.swap_total?, self.swap_free?);
        let used = total.saturating_sub(free);
        Some(Swap { total, used, free, percent: percent::of(used, total), ..Swap::default() })
    }
}

fn low_watermark_bytes(roots: &Roots) -> Option<u64> {
    let text = fs::read(roots.proc.join("zoneinfo")).ok()?;
    let low = |line: &[u8]| number_after(line.trim_ascii_start(), b"low ");
    let pages = lines(&text).filter_map(low).fold(0_u64, u64::wrapping_add);
    Some(pages.wrapping_mul(page_bytes()))
}

pub(crate) fn page_bytes() -> u64 {
    let bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: &str = "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 600 kB\nBuffers: 10 kB\n\
        Cached: 200 kB\nSwapCached: 9 kB\nActive: 50 kB\nInactive: 60 kB\nActive(file): 20 kB\n\
        Inactive(file): 30 kB\nSwapTotal: 100 kB\nSwapFree: 75 kB\nShmem: 5 kB\nSlab: 40 kB\n\
        SReclaimable: 25 kB\nHugetlb: 0 kB\n";

    fn nowhere() -> Roots {
        Roots { proc: "/nowhere".into(), sys: "/nowhere".into() }
    }

    #[test]
    fn a_modern_kernel() {
        let info = Meminfo::parse(MODERN.as_bytes());
        let json = serde_json::to_string(&info.virtual_memory(&nowhere())).unwrap();
        let expected = r#"{"total":1024000,"available":614400,"percent":40.0,"used":409600,"free":307200,"active":51200,"inactive":61440,"buffers":10240,"cached":230400,"shared":5120,"slab":40960}"#;
        assert_eq!(json, expected);
        let swap = serde_json::to_string(&info.swap()).unwrap();
        assert_eq!(swap, r#"{"total":102400,"used":25600,"free":76800,"percent":25.0}"#);
    }

    #[test]
    fn without_available_it_is_estimated() {
        let old = MODERN.replace("MemAvailable: 600 kB\n", "");
        let info = Meminfo::parse(old.as_bytes());
        assert_eq!(info.virtual_memory(&nowhere()).unwrap().available, 500 * 1024);

        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        fs::write(folder.path().join("zoneinfo"), "Node 0\n  pages free 9\n        low      2\n").unwrap();
        let low = 2 * page_bytes();
        let expected = 300 * 1024 + (50 * 1024 - low) + (25 * 1024 - low) - low;
        assert_eq!(info.virtual_memory(&roots).unwrap().available, expected);
    }

    #[test]
    fn what_containers_hide_or_distort() {
        let more_than_all = MODERN.replace("MemAvailable: 600", "MemAvailable: 6000");
        let info = Meminfo::parse(more_than_all.as_bytes());
        assert_eq!(info.virtual_memory(&nowhere()).unwrap().available, 300 * 1024);
        let bare = Meminfo::parse(b"MemTotal: 8 kB\nMemFree: 2 kB\nMemAvailable: 4 kB\n");
        let json = serde_json::to_string(&bare.virtual_memory(&nowhere())).unwrap();
        assert_eq!(json, r#"{"total":8192,"available":4096,"percent":50.0,"used":4096,"free":2048}"#);
        assert_eq!(bare.swap(), None);
        assert_eq!(Meminfo::parse(b"").virtual_memory(&nowhere()), None);
    }

    #[test]
    fn swapped_pages_are_bytes() {
        let swapped = parse_swapped(b"nr_free_pages 1\npswpin 2\npswpout 3\npgalloc 4\n");
        assert_eq!((swapped.sin, swapped.sout), (Some(8192), Some(12288)));
        assert_eq!(parse_swapped(b"nothing\n").sin, None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "((MemTotal|MemFree|Cached|SwapFree):? *[0-9kB \n-]{0,30}){0,9}", noise: Vec<u8>) {
            for text in [text.as_bytes(), &noise] {
                let info = Meminfo::parse(text);
                info.virtual_memory(&nowhere());
                info.swap();
                parse_swapped(text);
            }
        }
    }
}
