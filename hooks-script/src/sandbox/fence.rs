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

/// Resets after which the fence is raised: by then it shows where runs write.
const LEARN: u32 = 8;
/// What that doubles to at most, each time a run meets the fence again and again.
const LEARN_LONGEST: u32 = 4096;
/// Resets after which it is lowered, to forget what hooks did that may be gone.
const FORGET: u32 = 20_000;

/// Where the memory of an instance is fenced.
pub(super) struct Fence {
    /// Bytes of a page of the machine; `None` where there is no fence.
    page: Option<usize>,
    /// Pages of which it is known that runs write there.
    written: Vec<bool>,
    stands: bool,
    /// The bytes of these, while it stands.
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
            page,
            stands: false,
            open: Vec::new(),
            resets: 0,
            learn: LEARN,
        }
    }

    pub(super) fn stands(&self) -> bool {
        self.stands
    }

    /// Every byte that can be written becomes what it is in `state`.
    pub(super) fn restore(&mut self, state: &Snapshot, memory: &mut [u8]) {
        if self.stands {
            // A memory that has grown has no fence there.
            let grown = self.len()..memory.len();
            for bytes in self.open.iter().chain([&grown]) {
                state.restore(memory, bytes.clone(), drop);
            }
        } else {
            let all = 0..memory.len();
            state.restore(memory, all, |bytes| self.found(bytes));
        }
    }

    /// What cannot be written, page by page.
    pub(super) fn fenced(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = if self.stands { &*self.written } else { &[] };
        let fenced = pages.iter().enumerate().filter(|(_, written)| !**written);
        fenced.map(|(page, _)| self.bytes(page..page + 1))
    }

    /// Whether a byte cannot be written.
    pub(super) fn is_fenced(&self, address: usize) -> bool {
        let page = self.page.map(|page| address / page);
        let written = page.and_then(|page| self.written.get(page));
        self.stands && written == Some(&false)
    }

    /// Lets these bytes be written.
    pub(super) fn admit(&mut self, bytes: Range<usize>, memory: &mut [u8]) -> io::Result<()> {
        let Some(page) = self.page.filter(|_| self.stands) else {
            return Ok(());
        };
        let pages = bytes.start / page..bytes.end.div_ceil(page).min(self.written.len());
        for page in pages {
            if !self.written[page] {
                machine::make_writable(&mut memory[self.bytes(page..page + 1)], true)?;
                self.written[page] = true;
            }
        }
        self.list();
        Ok(())
    }

    /// Lets everything be written.
    pub(super) fn lower(&mut self, memory: &mut [u8]) -> io::Result<()> {
        if self.stands {
            machine::make_writable(&mut memory[..self.len()], true)?;
        }
        self.stands = false;
        self.resets = 0;
        self.open.clear();
        Ok(())
    }

    /// The same, where a run has met the fence more than once: it has not learned enough.
    pub(super) fn learn_longer(&mut self, memory: &mut [u8]) -> io::Result<()> {
        self.learn = LEARN_LONGEST.min(self.learn * 2);
        self.lower(memory)
    }

    /// A reset found these bytes written.
    fn found(&mut self, bytes: Range<usize>) {
        let Some(page) = self.page else { return };
        for page in bytes.start / page..bytes.end.div_ceil(page) {
            if let Some(written) = self.written.get_mut(page) {
                *written = true;
            }
        }
    }

    /// The memory was reset: the fence is raised once it has learned where runs write, and
    /// lowered when that is long ago.
    pub(super) fn settle(&mut self, memory: &mut [u8]) -> io::Result<()> {
        self.resets += 1;
        if self.stands && self.resets >= FORGET {
            self.lower(memory)?;
            self.written.fill(false);
            self.learn = LEARN;
        } else if !self.stands && self.resets >= self.learn && !self.written.is_empty() {
            self.stands = true;
            self.resets = 0;
            self.list();
            let mut fenced = 0;
            for open in self.open.iter().cloned().chain([self.len()..self.len()]) {
                if fenced < open.start {
                    machine::make_writable(&mut memory[fenced..open.start], false)?;
                }
                fenced = open.end;
            }
        }
        Ok(())
    }

    /// Bytes of the memory that can be fenced: what it had at first.
    fn len(&self) -> usize {
        self.bytes(0..self.written.len()).end
    }

    fn bytes(&self, pages: Range<usize>) -> Range<usize> {
        let page = self.page.unwrap_or(0);
        pages.start * page..pages.end * page
    }

    fn list(&mut self) {
        self.open.clear();
        let mut from = 0;
        for pages in self.written.chunk_by(|one, other| one == other) {
            if pages[0] {
                self.open.push(self.bytes(from..from + pages.len()));
            }
            from += pages.len();
        }
    }
}
