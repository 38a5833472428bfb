//! Write protection for pages that runs do not write to, enforced by the hardware.
//!
//! A run writes to a small part of the memory: most of the stack, of the engine's constants and of
//! its objects stays unchanged. While the fence is raised, pages that no run has written yet are
//! read-only, and a reset skips them. This relies on no assumption about the script: if a flaw in
//! QuickJS lets a script write to such a page, the write traps too.
//!
//! A run that writes to a fenced page traps and is repeated from its snapshot with that page open.
//! Runs are deterministic to the byte, so the repetition is visible only in its duration.

use std::io;
use std::ops::Range;

use crate::sandbox::machine;
use crate::sandbox::snapshot::Snapshot;

/// Resets before the fence is raised: after these, the pages that runs write are known.
const LEARN_RESETS: u32 = 8;
/// Maximum of `learn`, which doubles each time a run meets the fence at an unknown address.
const MAX_LEARN_RESETS: u32 = if cfg!(test) { 32 } else { 4096 };
/// Resets before the fence is lowered, to forget pages of hooks that may be gone.
const FORGET_RESETS: u32 = if cfg!(test) { 100 } else { 20_000 };

/// Fenced pages of an instance's memory. They are unchanged since the last reset. Before another
/// hook uses the memory, the pages that its loading changed must be admitted.
pub(super) struct Fence {
    /// Page size of the machine, as a power of two.
    page: u32,
    /// Pages known to be written by runs; empty if the machine does not support a fence.
    written: Vec<bool>,
    raised: bool,
    /// Byte ranges of the written pages, while the fence is raised.
    open: Vec<Range<usize>>,
    resets: u32,
    learning_resets: u32,
}

impl Fence {
    /// Creates a lowered fence for a memory of `memory` bytes.
    pub(super) fn new(memory: usize) -> Self {
        let page = machine::page().filter(|page| memory.is_multiple_of(*page));
        Fence {
            written: vec![false; page.map_or(0, |page| memory / page)],
            page: page.map_or(0, usize::trailing_zeros),
            raised: false,
            open: Vec::new(),
            resets: 0,
            learning_resets: LEARN_RESETS,
        }
    }

    pub(super) fn is_raised(&self) -> bool {
        self.raised
    }

    /// Returns `true` if the byte is write-protected.
    pub(super) fn is_fenced(&self, address: usize) -> bool {
        self.raised && self.written.get(address >> self.page) == Some(&false)
    }

    /// Restores every writable byte to its value in `state`.
    pub(super) fn restore(&mut self, state: &Snapshot, memory: &mut [u8]) {
        if self.raised {
            for bytes in &self.open {
                state.write(memory, bytes.clone());
            }
        } else {
            // The first reset may find changes by anything, such as a new instance or an aborted
            // run, so it does not learn from them.
            let (learns, page) = (self.resets > 0, self.page);
            state.correct(memory, |bytes| {
                if let Some(written) = self.written.get_mut(bytes.start >> page) {
                    *written |= learns;
                }
            });
        }
    }

    /// Opens the pages of these bytes permanently.
    pub(super) fn open_pages(&mut self, bytes: Range<usize>, memory: &mut [u8]) -> io::Result<()> {
        let pages = self.pages(bytes);
        if self.written[pages.clone()].iter().all(|written| *written) {
            return Ok(());
        }
        let bytes = self.bytes(pages.clone());
        if self.raised && machine::make_writable(&mut memory[bytes], true).is_err() {
            // The system may refuse one more mapping; removing the whole fence needs fewer.
            return self.lower(memory);
        }
        self.written[pages].fill(true);
        self.open = self.runs(true);
        Ok(())
    }

    /// Makes the whole memory writable.
    pub(super) fn lower(&mut self, memory: &mut [u8]) -> io::Result<()> {
        if self.raised {
            let fenced = self.bytes(0..self.written.len());
            machine::make_writable(&mut memory[fenced], true)?;
        }
        self.raised = false;
        self.resets = 0;
        Ok(())
    }

    /// Lowers the fence after a run met it at an unknown address, and raises it again later than
    /// before.
    pub(super) fn extend_learning(&mut self, memory: &mut [u8]) -> io::Result<()> {
        self.learning_resets = MAX_LEARN_RESETS.min(self.learning_resets * 2);
        self.lower(memory)
    }

    /// Called after the reset that follows a run: raises the fence once the written pages are
    /// known, and lowers it after many resets.
    pub(super) fn after_reset(&mut self, memory: &mut [u8]) -> io::Result<()> {
        if self.written.is_empty() {
            return Ok(());
        }
        self.resets += 1;
        if self.raised && self.resets >= FORGET_RESETS {
            self.lower(memory)?;
            self.written.fill(false);
            self.learning_resets = LEARN_RESETS;
        } else if !self.raised && self.resets >= self.learning_resets {
            self.raised = true;
            self.resets = 0;
            self.open = self.runs(true);
            let mut fenced = self.runs(false).into_iter();
            if !fenced.all(|bytes| machine::make_writable(&mut memory[bytes], false).is_ok()) {
                // A partial fence is useless, and the machine supports no other.
                self.lower(memory)?;
                self.written.clear();
            }
        }
        Ok(())
    }

    /// Returns the byte ranges of pages that are written, or of those that are not.
    fn runs(&self, written: bool) -> Vec<Range<usize>> {
        let mut end = 0;
        let runs = self.written.chunk_by(|one, next| one == next);
        let runs = runs.map(|run| {
            end += run.len();
            (run[0], self.bytes(end - run.len()..end))
        });
        runs.filter(|(which, _)| *which == written)
            .map(|(_, bytes)| bytes)
            .collect()
    }

    fn pages(&self, bytes: Range<usize>) -> Range<usize> {
        let end = (((bytes.end - 1) >> self.page) + 1).min(self.written.len());
        (bytes.start >> self.page).min(end)..end
    }

    fn bytes(&self, pages: Range<usize>) -> Range<usize> {
        pages.start << self.page..pages.end << self.page
    }
}
