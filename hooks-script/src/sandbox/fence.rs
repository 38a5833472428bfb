//! Pages that no run can write, because the machine keeps them from being written.
//!
//! A run writes to a small part of the memory: most of the stack, of what the engine believes
//! constant and of its own objects stays as it is. While the fence stands, pages to which no run
//! has written yet can only be read, and a reset need not look at them. Nothing is believed
//! for that: what a flaw in QuickJS would let a script write there meets the fence as well.
//!
//! A run that meets it traps, and is made again from its snapshot with these pages open; a run
//! can be repeated to the byte, so that nothing tells the two apart but the time they take.

use std::io;
use std::ops::Range;

use crate::sandbox::machine;
use crate::sandbox::snapshot::Snapshot;

/// Resets after which the fence is raised: by then it is known where runs write.
const LEARN: u32 = 8;
/// What that doubles to at most, each time a run has met the fence and nobody knows where.
const LEARN_LONGEST: u32 = if cfg!(test) { 32 } else { 4096 };
/// Resets after which it is lowered, to forget hooks that may be gone.
const FORGET: u32 = if cfg!(test) { 100 } else { 20_000 };

/// Where the memory of an instance is fenced. What lies behind the fence is as the last reset left
/// it: for another hook, whatever its loading changed has to be admitted first.
pub(super) struct Fence {
    /// Bytes of a page of the machine, as a power of two.
    page: u32,
    /// The pages where runs write, as far as that is known; none at all where the machine cannot
    /// be asked for a fence.
    written: Vec<bool>,
    stands: bool,
    /// The bytes of those pages, while it stands.
    open: Vec<Range<usize>>,
    resets: u32,
    learn: u32,
}

impl Fence {
    /// One that does not stand, for a memory of so many bytes.
    pub(super) fn new(memory: usize) -> Self {
        let page = machine::page().filter(|page| memory.is_multiple_of(*page));
        Fence {
            written: vec![false; page.map_or(0, |page| memory / page)],
            page: page.map_or(0, usize::trailing_zeros),
            stands: false,
            open: Vec::new(),
            resets: 0,
            learn: LEARN,
        }
    }

    pub(super) fn stands(&self) -> bool {
        self.stands
    }

    /// Whether a byte cannot be written.
    pub(super) fn is_fenced(&self, address: usize) -> bool {
        self.stands && self.written.get(address >> self.page) == Some(&false)
    }

    /// Every byte that can be written becomes what it is in `state`.
    pub(super) fn restore(&mut self, state: &Snapshot, memory: &mut [u8]) {
        if self.stands {
            for bytes in &self.open {
                state.write(memory, bytes.clone());
            }
        } else {
            // What the first of these resets finds may be of anything: of a new instance, of
            // a run that was broken off.
            let (learns, page) = (self.resets > 0, self.page);
            state.correct(memory, |bytes| {
                if let Some(written) = self.written.get_mut(bytes.start >> page) {
                    *written |= learns;
                }
            });
        }
    }

    /// Lets these bytes be written, now and from now on.
    pub(super) fn admit(&mut self, bytes: Range<usize>, memory: &mut [u8]) -> io::Result<()> {
        let pages = self.pages(bytes);
        if self.written[pages.clone()].iter().all(|written| *written) {
            return Ok(());
        }
        let bytes = self.bytes(pages.clone());
        if self.stands && machine::make_writable(&mut memory[bytes], true).is_err() {
            // One more hole can be too much for the machine; no fence at all is not.
            return self.lower(memory);
        }
        self.written[pages].fill(true);
        self.open = self.runs(true);
        Ok(())
    }

    /// Lets everything be written.
    pub(super) fn lower(&mut self, memory: &mut [u8]) -> io::Result<()> {
        if self.stands {
            let fenced = self.bytes(0..self.written.len());
            machine::make_writable(&mut memory[fenced], true)?;
        }
        self.stands = false;
        self.resets = 0;
        Ok(())
    }

    /// The same, where a run has met the fence and the place is not known: it comes back later.
    pub(super) fn learn_longer(&mut self, memory: &mut [u8]) -> io::Result<()> {
        self.learn = LEARN_LONGEST.min(self.learn * 2);
        self.lower(memory)
    }

    /// The memory was reset after a run: the fence is raised when it has learned where runs write, and
    /// lowered when that is long ago.
    pub(super) fn settle(&mut self, memory: &mut [u8]) -> io::Result<()> {
        if self.written.is_empty() {
            return Ok(());
        }
        self.resets += 1;
        if self.stands && self.resets >= FORGET {
            self.lower(memory)?;
            self.written.fill(false);
            self.learn = LEARN;
        } else if !self.stands && self.resets >= self.learn {
            self.stands = true;
            self.resets = 0;
            self.open = self.runs(true);
            let mut fenced = self.runs(false).into_iter();
            if !fenced.all(|bytes| machine::make_writable(&mut memory[bytes], false).is_ok()) {
                // Half of a fence is none, and this machine has no other.
                self.lower(memory)?;
                self.written.clear();
            }
        }
        Ok(())
    }

    /// The bytes of pages that are written, or are not, one range behind the other.
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
