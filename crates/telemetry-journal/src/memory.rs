//! Memory for journals: words that are shared with a file, or plain heap where there is none.
//!
//! Memory that is handed out lives as long as the process: a thread may hold a lane in a thread-local
//! whose end nobody can wait for.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapOptions;

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
        use std::os::unix::fs::FileExt;

        let zeros = [0; 4096];
        for offset in (offset_bytes..offset_bytes + length_bytes).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset)?;
        }
        Ok(())
    }
}
