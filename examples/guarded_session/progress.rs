//! A progress bar on standard error, on a terminal only.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::display::shorten;
use crate::report::Record;

/// The bar; without a terminal it is none.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar for `calls` calls.
    pub(crate) fn new(calls: usize) -> Self {
        let bar = if stderr().is_terminal() {
            ProgressBar::new(calls as u64)
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

    /// Takes the bar off the terminal.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
