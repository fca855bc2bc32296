//! The block `disk` from /proc/diskstats and statvfs.

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::file::{Buffer, KeptFile};
use super::roots::Roots;
use super::scan::{lines, words};
use crate::percent;
use crate::telemetry::{Disk, DiskIo, DiskUsage};

/// /proc/diskstats counts sectors of this size, whatever the disk's are.
const SECTOR_BYTES: u64 = 512;

/// Reads the block `disk`.
#[derive(Debug)]
pub(crate) struct Reader {
    stats: KeptFile,
    block: PathBuf,
    /// For each line, whether it is a whole disk: a partition's traffic is in its disk's already.
    whole: Vec<bool>,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self {
            stats: KeptFile::open(roots.proc.join("diskstats")),
            block: roots.sys.join("block"),
            whole: Vec::new(),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, slow: bool, disk: &mut Disk) {
        self.parse(self.stats.read(buffer).unwrap_or_default(), disk);
        if slow {
            disk.disk_usage = usage(Path::new("/"));
        }
    }

    fn parse(&mut self, text: &[u8], disk: &mut Disk) {
        let mut sum = None;
        let mut count = 0;
        for (name, io) in lines(text).filter_map(parse_line) {
            if disk.io_per_disk.set(count, name, io) {
                self.whole.truncate(count);
            }
            if self.whole.len() == count {
                self.whole.push(is_whole(&self.block, name));
            }
            if self.whole[count] {
                *sum.get_or_insert_default() += io;
            }
            count += 1;
        }
        disk.io_per_disk.truncate(count);
        self.whole.truncate(count);
        disk.io_sum = sum;
    }
}

/// psutil's rule: what has a folder of its own under /sys/block, virtual disks too.
fn is_whole(block: &Path, name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).replace('/', "!");
    block.join(name).exists()
}

fn parse_line(line: &[u8]) -> Option<(&[u8], DiskIo)> {
    let mut fields = words(line);
    fields.skip_words(2);
    let name = fields.next()?;
    let mut counters = [0; 15];
    let mut count = 0;
    while let Some(counter) = fields.number().filter(|_| count < counters.len()) {
        counters[count] = counter;
        count += 1;
    }
    // 11 counters since Linux 2.6, at least 15 since 4.18, and 4 for the partitions of very old ones.
    match count {
        11 | 15 => Some((name, disk_io(&counters))),
        4 => Some((name, partition_io(&counters))),
        _ => None,
    }
}

fn disk_io(counters: &[u64; 15]) -> DiskIo {
    let [
        reads,
        reads_merged,
        sectors_read,
        read_time,
        writes,
        writes_merged,
        sectors_written,
        write_time,
        _,
        busy_time,
        ..,
    ] = *counters;
    DiskIo {
        read_count: reads,
        write_count: writes,
        read_bytes: sectors_read.wrapping_mul(SECTOR_BYTES),
        write_bytes: sectors_written.wrapping_mul(SECTOR_BYTES),
        read_time,
        write_time,
        read_merged_count: reads_merged,
        write_merged_count: writes_merged,
        busy_time,
    }
}

fn partition_io(counters: &[u64; 15]) -> DiskIo {
    let [reads, sectors_read, writes, sectors_written, ..] = *counters;
    DiskIo {
        read_count: reads,
        write_count: writes,
        read_bytes: sectors_read.wrapping_mul(SECTOR_BYTES),
        write_bytes: sectors_written.wrapping_mul(SECTOR_BYTES),
        ..DiskIo::default()
    }
}

/// How full the file system at `path` is. The percentage leaves out what is kept for root.
pub(crate) fn usage(path: &Path) -> Option<DiskUsage> {
    let stat = statvfs(path).ok()?;
    let bytes = |blocks: nix::libc::fsblkcnt_t| blocks.wrapping_mul(stat.fragment_size());
    let total = bytes(stat.blocks());
    let used = total.saturating_sub(bytes(stat.blocks_free()));
    let free = bytes(stat.blocks_available());
    Some(DiskUsage { total, used, free, percent: percent::of(used, used.saturating_add(free)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
        \x20  7       0 loop0 1 0 2 3 0 0 0 0 0 4 0\n\
        \x20 254       0 vda 8784 4535 10 6004 1418 9406 20 682 0 2012 6846 3269 27 45840 155 118 4\n\
        \x20 254       1 vda1 8000 4535 10 6004 1418 9406 20 682 0 2012 6846 3269 27 45840 155\n\
        \x20 104       0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11\n\
        \x20   3       1 hda1 1 2 3 4\n\
        \x20   3       2 odd 1 2 3 4 5\n";

    fn reader_with(whole: &[&str]) -> (tempfile::TempDir, Reader) {
        let folder = tempfile::tempdir().unwrap();
        for name in whole {
            std::fs::create_dir_all(folder.path().join("block").join(name)).unwrap();
        }
        let roots = Roots { proc: folder.path().into(), sys: folder.path().into() };
        let reader = Reader::open(&roots);
        (folder, reader)
    }

    #[test]
    fn partitions_are_listed_and_not_summed() {
        let (_folder, mut reader) = reader_with(&["loop0", "vda", "cciss!c0d0"]);
        let mut disk = Disk::default();
        reader.parse(TEXT.as_bytes(), &mut disk);
        let sum = serde_json::to_string(&disk.io_sum).unwrap();
        let expected = r#"{"read_count":8786,"write_count":1423,"read_bytes":7680,"write_bytes":13824,"read_time":6011,"write_time":690,"read_merged_count":4537,"write_merged_count":9412,"busy_time":2026}"#;
        assert_eq!(sum, expected);
        let names: Vec<_> = disk.io_per_disk.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["loop0", "vda", "vda1", "cciss/c0d0", "hda1"]);
        assert_eq!(disk.io_per_disk.get("hda1").map(|io| io.write_bytes), Some(2048));
    }

    #[test]
    fn disks_may_come_and_go() {
        let (_folder, mut reader) = reader_with(&["sda", "sdb"]);
        let line = |name: &str, reads: u64| format!("8 0 {name} {reads} 0 0 0 0 0 0 0 0 0 0\n");
        let mut disk = Disk::default();
        let texts = [
            line("sda", 1) + &line("sda1", 5) + &line("sdb", 2),
            line("sda1", 5) + &line("sdb", 2),
            String::new(),
        ];
        let sums: Vec<_> = texts
            .iter()
            .map(|text| {
                reader.parse(text.as_bytes(), &mut disk);
                disk.io_sum.map(|io| io.read_count)
            })
            .collect();
        assert_eq!(sums, [Some(3), Some(2), None]);
        assert_eq!(serde_json::to_string(&disk).unwrap(), "{}");
    }

    #[test]
    fn a_single_disk_is_not_listed() {
        let (_folder, mut reader) = reader_with(&["sda"]);
        let mut disk = Disk::default();
        reader.parse(b"8 0 sda 1 0 0 0 0 0 0 0 0 0 0\n", &mut disk);
        let json = serde_json::to_value(&disk).unwrap();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["io_sum"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "([0-9]{1,3} [0-9] [a-z/]{0,4}[0-9 \n-]{0,60}){0,5}", noise: Vec<u8>) {
            let (_folder, mut reader) = reader_with(&[]);
            let mut disk = Disk::default();
            reader.parse(text.as_bytes(), &mut disk);
            reader.parse(&noise, &mut disk);
        }
    }
}
