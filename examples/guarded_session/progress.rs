//! A progress bar on standard error, on a terminal only.

use std::io::{IsTerminal, stderr};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::display::shorten;
use crate::report::Record;

/// The bar; without a terminal it is none. A clone is the same bar.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar for `calls` calls.
    pub(crate) fn new(calls: usize) -> Self {
        let bar = if stderr().is_terminal() {
            // Nothing of it stays on the terminal when the replay is stopped.
            ProgressBar::new(calls as u64).with_finish(ProgressFinish::AndClear)
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// One call more is done.
    pub(crate) fn advance(&self, record: &Record) {
        self.0.set_message(shorten(&record.call, 60));
        self.0.inc(1);
    }

    /// Takes the bar off the terminal until the next call is done, to make room for a question.
    pub(crate) fn make_room(&self) {
        if !self.0.is_hidden() {
            // A terminal that is closed shows nothing.
            let _ = Term::stderr().clear_line();
            // It begins anew behind the answer, however many lines it had before.
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
