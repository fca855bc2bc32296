//! The block `disk` from /proc/diskstats, or the files of single disks, and statvfs.

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::file::{Buffer, KeptFile};
use super::media::Media;
use super::roots::Roots;
use super::scan::{Words, lines, words};
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
    media: Media,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self {
            stats: KeptFile::open(roots.proc.join("diskstats")),
            block: roots.sys.join("block"),
            whole: Vec::new(),
            media: Media::new(roots),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, slow: bool, disk: &mut Disk) {
        if slow || !self.read_media(buffer, disk) {
            self.parse(self.stats.read(buffer).unwrap_or_default(), disk);
        }
        if slow {
            self.media.find(disk.io_per_disk.iter().map(|(name, _)| name));
            disk.disk_usage = usage(Path::new("/"));
        }
    }

    /// Reads the disks with a medium alone; false where all must be read.
    fn read_media(&mut self, buffer: &mut Buffer, disk: &mut Disk) -> bool {
        if self.media.is_empty() {
            return false;
        }
        let is_read = self.media.read(buffer, |index, name, text| {
            let counters = parse_counters(&mut words(text));
            // A name that is new there belongs to another snapshot than the one that the places are of.
            counters.is_some_and(|io| !disk.io_per_disk.set(index, name.as_bytes(), io))
        });
        if is_read {
            disk.io_sum = self.sum(disk);
        } else {
            self.media.forget();
        }
        is_read
    }

    fn sum(&self, disk: &Disk) -> Option<DiskIo> {
        let mut sum = None;
        for ((_, io), _) in disk.io_per_disk.iter().zip(&self.whole).filter(|(_, whole)| **whole) {
            *sum.get_or_insert_default() += *io;
        }
        sum
    }

    fn parse(&mut self, text: &[u8], disk: &mut Disk) {
        let mut count = 0;
        for (name, io) in lines(text).filter_map(parse_line) {
            if disk.io_per_disk.set(count, name, io) {
                self.whole.truncate(count);
            }
            if self.whole.len() == count {
                self.whole.push(is_whole(&self.block, name));
            }
            count += 1;
        }
        disk.io_per_disk.truncate(count);
        self.whole.truncate(count);
        disk.io_sum = self.sum(disk);
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
    Some((name, parse_counters(&mut fields)?))
}

fn parse_counters(fields: &mut Words<'_>) -> Option<DiskIo> {
    let mut counters = [0; 15];
    let mut count = 0;
    while let Some(counter) = fields.number().filter(|_| count < counters.len()) {
        counters[count] = counter;
        count += 1;
    }
    // 11 counters since Linux 2.6, at least 15 since 4.18, and 4 for the partitions of very old ones.
    match count {
        11 | 15 => Some(disk_io(&counters)),
        4 => Some(partition_io(&counters)),
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

    /// Three disks, of which only `vda` has a medium, and a reader that knows.
    fn reader_of_media() -> (tempfile::TempDir, Reader, Disk) {
        let (folder, mut reader) = reader_with(&["loop0", "loop1", "vda"]);
        for (name, size) in [("loop0", "0\n"), ("loop1", "0\n"), ("vda", "8\n")] {
            let class = folder.path().join("class/block").join(name);
            std::fs::create_dir_all(&class).unwrap();
            std::fs::write(class.join("size"), size).unwrap();
            std::fs::write(class.join("stat"), "  5 0 0 0 0 0 0 0 0 0 0\n").unwrap();
        }
        let lines = ["loop0", "loop1", "vda"].map(|name| format!("8 0 {name} 3 0 0 0 0 0 0 0 0 0 0\n"));
        std::fs::write(folder.path().join("diskstats"), lines.concat()).unwrap();
        reader.stats = KeptFile::open(folder.path().join("diskstats"));
        let mut disk = Disk::default();
        reader.read(&mut Buffer::default(), true, &mut disk);
        (folder, reader, disk)
    }

    fn reads(disk: &Disk) -> Vec<u64> {
        let each = disk.io_per_disk.iter().map(|(_, io)| io.read_count);
        each.chain(disk.io_sum.map(|io| io.read_count)).collect()
    }

    #[test]
    fn disks_without_a_medium_are_read_by_slow_readings_only() {
        let (folder, mut reader, mut disk) = reader_of_media();
        let mut buffer = Buffer::default();
        assert_eq!(reads(&disk), [3, 3, 3, 9]);
        reader.read(&mut buffer, false, &mut disk);
        assert_eq!(reads(&disk), [3, 3, 5, 11]);
        std::fs::write(folder.path().join("class/block/loop0/size"), "8\n").unwrap();
        reader.read(&mut buffer, true, &mut disk);
        reader.read(&mut buffer, false, &mut disk);
        // Two of three have one: then all lines cost less.
        assert_eq!(reads(&disk), [3, 3, 3, 9]);
    }

    #[test]
    fn a_medium_that_is_gone_has_all_disks_read() {
        let (folder, mut reader, mut disk) = reader_of_media();
        let mut buffer = Buffer::default();
        std::fs::write(folder.path().join("class/block/vda/stat"), "").unwrap();
        std::fs::write(folder.path().join("diskstats"), "8 0 loop0 4 0 0 0 0 0 0 0 0 0 0\n").unwrap();
        reader.read(&mut buffer, false, &mut disk);
        assert_eq!(reads(&disk), [4, 4]);
    }

    #[test]
    fn a_snapshot_of_another_is_filled_whole() {
        let (_folder, mut reader, _) = reader_of_media();
        let mut other = Disk::default();
        reader.read(&mut Buffer::default(), false, &mut other);
        assert_eq!(reads(&other), [3, 3, 3, 9]);
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
