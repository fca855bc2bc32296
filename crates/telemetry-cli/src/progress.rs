//! Bars for what lasts: on the terminal of stderr, and only once a second has passed.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);
const COUNTED: &str = "{msg} [{bar:30}] {percent} % {eta} left";
const UNCOUNTED: &str = "{msg} {spinner} {elapsed}";

/// How far something is that can be counted.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    is_hidden: bool,
}

impl Progress {
    /// Something of so many parts.
    pub(crate) fn new(printer: &Printer, what: &str, parts: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(parts), ProgressDrawTarget::hidden());
        bar.set_style(style(COUNTED));
        bar.set_message(what.to_owned());
        Self { bar, begun: Instant::now(), is_hidden: printer.talks_to_terminal() }
    }

    pub(crate) fn add(&mut self, parts: u64) {
        self.bar.inc(parts);
        if self.is_hidden && self.begun.elapsed() >= PATIENCE {
            self.is_hidden = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Does something whose parts cannot be counted.
pub(crate) fn watched<T>(printer: &Printer, what: &str, work: impl FnOnce() -> T) -> T {
    if !printer.talks_to_terminal() {
        return work();
    }
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar =
                    ProgressBar::new_spinner().with_style(style(UNCOUNTED)).with_message(what.to_owned());
                bar.enable_steady_tick(TICK);
                let _ = is_done.recv();
                bar.finish_and_clear();
            }
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
