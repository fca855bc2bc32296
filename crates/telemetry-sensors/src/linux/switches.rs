//! How often the process was taken off a processor: as for psutil, the count of its first thread.
//!
//! /proc/self/status tells it among much else that the kernel writes at the same price. The first thread
//! itself gets the same two counters by a call that costs a tenth of that.

use nix::sys::resource::{UsageWho, getrusage};

use super::file::{Buffer, KeptFile};
use super::roots::Roots;
use super::scan::{lines, number_after};
use crate::telemetry::ContextSwitches;

/// The lines of interest are among the last four of /proc/self/status; the others are not even looked at.
const STATUS_TAIL_BYTES: usize = 192;

/// Reads the key `num_ctx_switches`.
#[derive(Debug)]
pub(crate) struct Reader {
    status: KeptFile,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self { status: KeptFile::open(roots.proc.join("self/status")) }
    }

    /// Where the file is hidden there is none on any thread: a key must not come and go with the thread.
    pub(crate) fn read(&self, buffer: &mut Buffer, is_first_thread: bool) -> Option<ContextSwitches> {
        let own = if is_first_thread && self.status.is_open() { of_this_thread() } else { None };
        own.or_else(|| self.status.read(buffer).and_then(parse))
    }
}

fn of_this_thread() -> Option<ContextSwitches> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    let voluntary = u64::try_from(usage.voluntary_context_switches()).ok()?;
    let involuntary = u64::try_from(usage.involuntary_context_switches()).ok()?;
    Some(ContextSwitches { voluntary, involuntary })
}

fn parse(text: &[u8]) -> Option<ContextSwitches> {
    let tail = &text[text.len().saturating_sub(STATUS_TAIL_BYTES)..];
    switches_in(tail).or_else(|| switches_in(text))
}

fn switches_in(text: &[u8]) -> Option<ContextSwitches> {
    let mut found = lines(text);
    let mut next = |key: &[u8]| found.find_map(|line| number_after(line, key));
    let voluntary = next(b"voluntary_ctxt_switches:")?;
    Some(ContextSwitches { voluntary, involuntary: next(b"nonvoluntary_ctxt_switches:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wherever_the_lines_stand() {
        let filler = "x".repeat(300);
        for text in [
            "voluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n".to_owned(),
            format!("{filler}\nvoluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n"),
            format!("voluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n{filler}\n"),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(ContextSwitches { voluntary: 8, involuntary: 9 }));
        }
    }

    #[test]
    fn a_hidden_file_hides_the_key_on_every_thread() {
        let nowhere = Roots { proc: "/nowhere".into(), sys: "/nowhere".into() };
        for is_first in [false, true] {
            assert_eq!(Reader::open(&nowhere).read(&mut Buffer::default(), is_first), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "((non)?voluntary_ctxt_switches[:()]? *[0-9\n-]{0,30}){0,60}", noise: Vec<u8>) {
            parse(text.as_bytes());
            parse(&noise);
        }
    }
}
