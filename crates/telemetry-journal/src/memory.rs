//! Memory for journals: words that are shared with a file, or plain heap where there is none.
//!
//! Memory that is handed out lives as long as the process: a thread may hold a lane in a thread-local
//! whose end nobody can wait for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use crate::limit::check_length;

/// Maps part of a file, for reading and writing, shared with everybody who maps it.
pub(crate) fn map(file: &File, offset_bytes: u64, words: usize) -> io::Result<&'static [AtomicU64]> {
    let mapping = MmapOptions::new().offset(offset_bytes).len(words * 8).map_raw(file)?;
    // What the journal holds must not end up in a core dump; a kernel that cannot do it changes nothing.
    #[cfg(target_os = "linux")]
    let _ = mapping.advise(memmap2::Advice::DontDump);
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins at a page")]
    let pointer = mapping.as_mut_ptr().cast::<AtomicU64>();
    std::mem::forget(mapping);
    // SAFETY: the mapping is `words * 8` bytes long, page-aligned, readable and writable, and is never
    // unmapped, since it was forgotten. An AtomicU64 may be read and written by others at any time,
    // other processes included. The file was allocated to this length before, so that an access does
    // not fault unless somebody truncates it, which is a documented limit.
    Ok(unsafe { std::slice::from_raw_parts(pointer, words) })
}

/// Words of a journal of another process: shared with it, or a copy.
#[derive(Debug)]
pub(crate) enum Words {
    /// Part of its file; unmapped when dropped.
    Mapped(MmapRaw),
    /// What was read of its file.
    Copied(Box<[AtomicU64]>),
}

impl Words {
    /// Maps part of a file for reading. Storing to these words would be a fault of the processor.
    pub(crate) fn map_for_reading(file: &File, offset_bytes: u64, words: usize) -> io::Result<Self> {
        MmapOptions::new().offset(offset_bytes).len(words * 8).map_raw_read_only(file).map(Self::Mapped)
    }

    /// Maps part of a file for reading and writing.
    pub(crate) fn map_for_writing(file: &File, offset_bytes: u64, words: usize) -> io::Result<Self> {
        MmapOptions::new().offset(offset_bytes).len(words * 8).map_raw(file).map(Self::Mapped)
    }

    /// Copies part of a file.
    pub(crate) fn copy(file: &File, offset_bytes: u64, words: usize) -> io::Result<Self> {
        read_words(file, offset_bytes, words).map(Self::Copied)
    }
}

impl std::ops::Deref for Words {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        match self {
            Self::Copied(words) => words,
            Self::Mapped(mapping) => {
                #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins at a page")]
                let pointer = mapping.as_ptr().cast::<AtomicU64>();
                // SAFETY: the mapping is a whole number of words long, page-aligned and readable, and lives as
                // long as `self`. An AtomicU64 may be written by others at any time, other processes
                // included. Of a mapping that is not writable, words are only loaded: the tap, which makes
                // such mappings, hands them to code that only loads. That the file was long enough was
                // checked before; truncating it afterwards is a documented limit.
                unsafe { std::slice::from_raw_parts(pointer, mapping.len() / 8) }
            }
        }
    }
}

/// Reads part of a file into memory of its own.
pub(crate) fn read_words(file: &File, offset_bytes: u64, words: usize) -> io::Result<Box<[AtomicU64]>> {
    let mut bytes = vec![0; words * 8];
    file.read_exact_at(&mut bytes, offset_bytes)?;
    let memory = zeroed(words);
    for (slot, chunk) in memory.iter().zip(bytes.as_chunks::<8>().0) {
        slot.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
    }
    Ok(memory)
}

/// Heap memory with the same contract, for a journal that has no file.
pub(crate) fn heap(words: usize) -> &'static [AtomicU64] {
    Box::leak(zeroed(words))
}

/// Zeroed words that belong to the caller.
pub(crate) fn zeroed(words: usize) -> Box<[AtomicU64]> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}

/// Makes the file at least this long, with its blocks allocated: a full disk is an error here and not
/// a signal later.
pub(crate) fn allocate(file: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    check_length(offset_bytes.saturating_add(length_bytes))?;
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;

        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let offset = i64::try_from(offset_bytes).map_err(too_large)?;
        let length = i64::try_from(length_bytes).map_err(too_large)?;
        // SAFETY: a call with plain numbers on a descriptor that `file` keeps open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset, length) } {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let zeros = [0; 4096];
        for offset in (offset_bytes..offset_bytes + length_bytes).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset)?;
        }
        Ok(())
    }
}
