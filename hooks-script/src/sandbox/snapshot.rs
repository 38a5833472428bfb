//! The memory of an instance between two calls, and how it is brought back.
//!
//! A reset leaves every byte of the memory as the snapshot has it, whatever was written and by
//! what: nothing is believed about which places a script can reach. Only pages that nothing could
//! write (see [`fence`](super::fence)) are left alone. Where that is not known yet, most pages are
//! as they should be, and are compared first; where it is, most are not, and are written unseen.

use std::ops::Range;
use std::sync::Arc;

use crate::sandbox::machine;

/// Small, because loading a hook changes a few bytes in many places: what it does not share with
/// others is kept and brought in by pages.
const PAGE: usize = 1024;

type Page = [u8; PAGE];

static ZEROS: Page = [0; PAGE];

/// Pages to fetch ahead of the one that is written. A snapshot was not used for as long as a run
/// took, so that it has left the caches near the processor.
const AHEAD: usize = 3;

/// The state of an instance between two calls. Only ever copied from.
pub(crate) struct Snapshot {
    /// Where each page is kept. Behind the last one all is zeros.
    places: Box<[Place]>,
    /// The pages that are this snapshot's alone: in one piece, which the processor reads faster.
    own: Box<[Page]>,
    /// The engine without the hook, which keeps the pages that loading it did not change.
    base: Option<Arc<Snapshot>>,
    /// The pages that loading it changed, in order; none of an engine without a hook.
    changed: Box<[usize]>,
    stack_pointer: i32,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Nowhere: the unused stack, the unused heap.
    Zeros,
    /// At this place among the snapshot's own.
    Own(u32),
    /// At this place among those of the base.
    Base(u32),
}

impl Snapshot {
    /// The memory as it is. `base` is the engine before the hook was loaded.
    pub(super) fn take(memory: &[u8], stack_pointer: i32, base: Option<&Arc<Snapshot>>) -> Self {
        let (mut own, mut changed) = (Vec::new(), Vec::new());
        let mut place = |index, page: &Page| {
            let before = base.map_or(Place::Zeros, |base| base.place(index));
            if let (Some(base), Place::Own(place)) = (base, before)
                && base.own[place as usize] == *page
            {
                return Place::Base(place);
            }
            let zeros = is_zero(page);
            if base.is_some() && !(zeros && before == Place::Zeros) {
                changed.push(index);
            }
            if zeros {
                return Place::Zeros;
            }
            own.push(*page);
            Place::Own(own.len() as u32 - 1)
        };
        let pages = pages(memory).iter().enumerate();
        let mut places: Vec<_> = pages.map(|(index, page)| place(index, page)).collect();
        while let Some(Place::Zeros) = places.last() {
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

    /// What loading the hook changed, in bytes of memory.
    pub(super) fn changed(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = self.changed.iter();
        pages.map(|&index| index * PAGE..(index + 1) * PAGE)
    }

    /// Bytes that nothing else keeps.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.own) + size_of_val(&*self.places) + size_of_val(&*self.changed)
    }

    pub(super) fn stack_pointer(&self) -> i32 {
        self.stack_pointer
    }

    /// What the memory has to hold at least, in bytes.
    pub(super) fn reach(&self) -> usize {
        self.places.len() * PAGE
    }

    /// Every one of these bytes of `memory`, which are anything at all, becomes what it is here.
    pub(super) fn write(&self, memory: &mut [u8], bytes: Range<usize>) {
        let first = bytes.start / PAGE;
        for (index, page) in (first..).zip(pages_mut(&mut memory[bytes])) {
            match self.fetch(index) {
                Some(wanted) => *page = *wanted,
                None => page.fill(0),
            }
        }
    }

    /// The same for all of `memory`, of which most is as it should be already. `found` is told what
    /// was not.
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

    /// The same for all of a memory that is what `held` says, byte for byte: both are the same
    /// engine, but for what loading their hooks changed.
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

    /// The same as [`page`](Snapshot::page), where those behind it are asked for next.
    fn fetch(&self, index: usize) -> Option<&Page> {
        if let Some(next) = self.page(index + AHEAD) {
            machine::fetch(next);
        }
        self.page(index)
    }

    /// `None` for zeros.
    fn page(&self, index: usize) -> Option<&Page> {
        match self.place(index) {
            Place::Zeros => None,
            Place::Own(place) => self.own.get(place as usize),
            Place::Base(place) => self.base.as_ref()?.own.get(place as usize),
        }
    }

    fn place(&self, index: usize) -> Place {
        self.places.get(index).copied().unwrap_or(Place::Zeros)
    }
}

/// Most pages have to be zeros. To compare one with zeros would read twice as much, and to ask
/// byte by byte would keep the compiler from taking many at once.
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

    /// A memory, as what is on each page: one byte somewhere, or zeros.
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
        fn s_24_a_reset_leaves_no_byte_of_any_memory(one in memory(), two in memory(), anything in memory()) {
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
        fn a_snapshot_keeps_only_what_its_base_has_not(one in memory(), two in memory()) {
            let base = Arc::new(Snapshot::take(&one, 0, None));
            let differ = one.chunks(PAGE).zip(two.chunks(PAGE))
                .filter(|(one, two)| one != two && two.iter().any(|&byte| byte != 0))
                .count();
            prop_assert_eq!(Snapshot::take(&two, 0, Some(&base)).own.len(), differ);
        }
    }
}
