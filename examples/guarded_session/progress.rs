//! Progress bar on standard error, if it is a terminal.

use std::io::{IsTerminal, stderr};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::display::shorten;
use crate::report::Record;

/// The bar; hidden without a terminal. Clones share the bar.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar for `calls` calls.
    pub(crate) fn new(calls: usize) -> Self {
        let bar = if stderr().is_terminal() {
            // Clears the bar if the replay is stopped.
            ProgressBar::new(calls as u64).with_finish(ProgressFinish::AndClear)
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Advances the bar by one call.
    pub(crate) fn advance(&self, record: &Record) {
        self.0.set_message(shorten(&record.call, 60));
        self.0.inc(1);
    }

    /// Hides the bar until the next call is done, to make room for a question.
    pub(crate) fn make_room(&self) {
        if !self.0.is_hidden() {
            // Ignore errors of a closed terminal.
            let _ = Term::stderr().clear_line();
            // Redraw below the answer, independent of the previous number of lines.
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
