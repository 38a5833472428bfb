//! Snapshots of an instance's memory, and the reset to a snapshot.
//!
//! A reset sets every byte of the memory to its value in the snapshot, including bytes that a flaw
//! let a script write: it makes no assumption about the places that a script can reach. It skips
//! only pages that were write-protected (see [`fence`](super::fence)). While the fence is lowered,
//! most pages are unchanged, so they are compared first; while it is raised, most writable pages
//! are changed, so they are written without comparison.

use std::ops::Range;
use std::sync::Arc;

use crate::sandbox::machine;

/// Small, because loading a hook changes a few bytes in many places, and changed pages are stored
/// and copied whole.
const PAGE: usize = 1024;

type Page = [u8; PAGE];

static ZEROS: Page = [0; PAGE];

/// Number of pages to prefetch. A snapshot was not used during the run, so it has left the fast
/// caches.
const PREFETCHED_PAGES: usize = 3;

/// State of an instance between two calls; read-only.
pub(crate) struct Snapshot {
    /// Location of each page. Memory beyond the last one is zero.
    places: Box<[PageOrigin]>,
    /// Pages owned by this snapshot, in one allocation, which is faster to read.
    own: Box<[Page]>,
    /// Engine without the hook, which owns the pages that loading the hook did not change.
    base: Option<Arc<Snapshot>>,
    /// Pages that loading the hook changed, in order; empty for an engine without a hook.
    changed: Box<[usize]>,
    stack_pointer: i32,
}

#[derive(Clone, Copy, PartialEq)]
enum PageOrigin {
    /// Not stored: unused stack or heap.
    Zeros,
    /// Index in the snapshot's own pages.
    Own(u32),
    /// Index in the pages of the base.
    Base(u32),
}

impl Snapshot {
    /// Takes a snapshot of the memory. `base` is the engine before the hook was loaded.
    pub(super) fn take(memory: &[u8], stack_pointer: i32, base: Option<&Arc<Snapshot>>) -> Self {
        let (mut own, mut changed) = (Vec::new(), Vec::new());
        let mut place = |index, page: &Page| {
            let before = base.map_or(PageOrigin::Zeros, |base| base.place(index));
            if let (Some(base), PageOrigin::Own(place)) = (base, before)
                && base.own[place as usize] == *page
            {
                return PageOrigin::Base(place);
            }
            let zeros = is_zero(page);
            if base.is_some() && !(zeros && before == PageOrigin::Zeros) {
                changed.push(index);
            }
            if zeros {
                return PageOrigin::Zeros;
            }
            own.push(*page);
            PageOrigin::Own(own.len() as u32 - 1)
        };
        let pages = pages(memory).iter().enumerate();
        let mut places: Vec<_> = pages.map(|(index, page)| place(index, page)).collect();
        while let Some(PageOrigin::Zeros) = places.last() {
            places.pop();
        }
        Snapshot {
            places: places.into(),
            own: own.into(),
            base: base.cloned(),
            changed: changed.into(),
            stack_pointer,
        }
    }

    /// Returns the byte ranges that loading the hook changed.
    pub(super) fn changed(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = self.changed.iter();
        pages.map(|&index| index * PAGE..(index + 1) * PAGE)
    }

    /// Returns the bytes that only this snapshot occupies.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.own) + size_of_val(&*self.places) + size_of_val(&*self.changed)
    }

    pub(super) fn stack_pointer(&self) -> i32 {
        self.stack_pointer
    }

    /// Returns the minimum size of the memory, in bytes.
    pub(super) fn reach(&self) -> usize {
        self.places.len() * PAGE
    }

    /// Writes this range of the snapshot into `memory`, whose contents are arbitrary.
    pub(super) fn write(&self, memory: &mut [u8], bytes: Range<usize>) {
        let first = bytes.start / PAGE;
        for (index, page) in (first..).zip(pages_mut(&mut memory[bytes])) {
            match self.fetch(index) {
                Some(wanted) => *page = *wanted,
                None => page.fill(0),
            }
        }
    }

    /// Restores all of `memory`, most of which is unchanged. Calls `found` with each range that
    /// differed.
    pub(super) fn correct(&self, memory: &mut [u8], mut found: impl FnMut(Range<usize>)) {
        for (index, page) in pages_mut(memory).iter_mut().enumerate() {
            match self.fetch(index) {
                Some(wanted) if page != wanted => *page = *wanted,
                None if !is_zero(page) => page.fill(0),
                _ => continue,
            }
            found(index * PAGE..(index + 1) * PAGE);
        }
    }

    /// Restores a memory that currently equals `held`, byte for byte. Both snapshots have one base,
    /// so only the pages that loading their hooks changed are written.
    pub(super) fn replace(&self, held: &Snapshot, memory: &mut [u8]) {
        let memory = pages_mut(memory);
        let mine = |index: &&usize| self.changed.binary_search(index).is_ok();
        let theirs = held.changed.iter().filter(|index| !mine(index));
        for &index in theirs.chain(&self.changed) {
            memory[index] = *self.page(index).unwrap_or(&ZEROS);
        }
    }

    #[cfg(test)]
    pub(super) fn is_same(&self, other: &Snapshot) -> bool {
        let mut pages = 0..self.places.len().max(other.places.len());
        self.stack_pointer == other.stack_pointer
            && pages.all(|index| self.page(index) == other.page(index))
    }

    /// Like [`page`](Snapshot::page), and prefetches the pages after it.
    fn fetch(&self, index: usize) -> Option<&Page> {
        if let Some(next) = self.page(index + PREFETCHED_PAGES) {
            machine::fetch(next);
        }
        self.page(index)
    }

    /// Returns the page; `None` for zeros.
    fn page(&self, index: usize) -> Option<&Page> {
        match self.place(index) {
            PageOrigin::Zeros => None,
            PageOrigin::Own(place) => self.own.get(place as usize),
            PageOrigin::Base(place) => self.base.as_ref()?.own.get(place as usize),
        }
    }

    fn place(&self, index: usize) -> PageOrigin {
        self.places.get(index).copied().unwrap_or(PageOrigin::Zeros)
    }
}

/// Most pages must be zero. Comparing with a zero page would read twice as much; a test byte by
/// byte would prevent vectorisation.
fn is_zero(page: &Page) -> bool {
    let (pieces, _) = page.as_chunks::<512>();
    let mut pieces = pieces.iter();
    pieces.all(|piece| piece.iter().fold(0, |all, byte| all | byte) == 0)
}

fn pages(memory: &[u8]) -> &[Page] {
    let (pages, rest) = memory.as_chunks();
    assert!(rest.is_empty(), "a page of WebAssembly is 64 of these");
    pages
}

fn pages_mut(memory: &mut [u8]) -> &mut [Page] {
    let (pages, rest) = memory.as_chunks_mut();
    assert!(rest.is_empty(), "a page of WebAssembly is 64 of these");
    pages
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{PAGE, Snapshot};
    use proptest::prelude::*;

    const PAGES: usize = 8;

    /// Generates a memory: each page has one nonzero byte, or none.
    fn memory() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec((0..PAGE, 0..3_u8), PAGES).prop_map(|marks| {
            let mut memory = vec![0; PAGES * PAGE];
            for (page, (at, byte)) in marks.into_iter().enumerate() {
                memory[page * PAGE + at] = byte;
            }
            memory
        })
    }

    proptest! {
        #[test]
        fn s_24_a_reset_restores_every_byte_of_the_snapshot(one in memory(), two in memory(), anything in memory()) {
            let base = Arc::new(Snapshot::take(&one, 0, None));
            let hook = Snapshot::take(&two, 0, Some(&base));
            let mut found = anything.clone();
            hook.write(&mut found, 0..PAGES * PAGE);
            prop_assert!(found == two);
            let mut found = anything.clone();
            let mut differed = Vec::new();
            hook.correct(&mut found, |bytes| differed.push(bytes));
            prop_assert!(found == two);
            let pages = (0..PAGES).map(|page| page * PAGE..(page + 1) * PAGE);
            let pages = pages.filter(|bytes| anything[bytes.clone()] != two[bytes.clone()]);
            prop_assert_eq!(differed, pages.collect::<Vec<_>>());
            base.replace(&hook, &mut found);
            prop_assert!(found == one);
            hook.replace(&base, &mut found);
            prop_assert!(found == two);
        }

        #[test]
        fn a_snapshot_stores_only_pages_that_differ_from_its_base(one in memory(), two in memory()) {
            let base = Arc::new(Snapshot::take(&one, 0, None));
            let differ = one.chunks(PAGE).zip(two.chunks(PAGE))
                .filter(|(one, two)| one != two && two.iter().any(|&byte| byte != 0))
                .count();
            prop_assert_eq!(Snapshot::take(&two, 0, Some(&base)).own.len(), differ);
        }
    }
}
