//! Places of words in a command: a word of a part and a range of its text in, the ranges of the
//! command that it is written in out.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::model::arg::UNKNOWN;
use crate::model::parts::{Parts, Word};
use crate::secrets::source::SourceMap;

/// Minimum length of a text that is looked for outside of the word that has it.
const MIN_LENGTH: usize = 2;

/// Limit of bytes that are compared to find words.
const MAX_COMPARED: usize = 8 << 20;

/// Places of the words that were looked up, by their spans and texts.
type KnownPlaces = HashMap<(usize, usize, String), Option<Rc<SourceMap>>>;

/// A command with its parts.
#[derive(Debug)]
pub(super) struct CommandText<'p> {
    command: &'p str,
    parts: &'p Parts,
    /// Number of words of all parts.
    words: usize,
    known: RefCell<KnownPlaces>,
    compared: Cell<usize>,
}

impl<'p> CommandText<'p> {
    pub(super) fn new(command: &'p str, parts: &'p Parts) -> Self {
        Self {
            command,
            parts,
            words: parts.all.iter().map(|part| part.words.len()).sum(),
            known: RefCell::default(),
            compared: Cell::new(0),
        }
    }

    /// Returns `true` if words were not looked up, because there are too many.
    pub(super) fn is_exhausted(&self) -> bool {
        self.compared.get() > MAX_COMPARED
    }

    /// Adds a number of compared bytes.
    pub(super) fn add_cost(&self, bytes: usize) {
        self.compared.set(self.compared.get().saturating_add(bytes));
    }

    fn map_of(&self, word: &Word) -> Option<Rc<SourceMap>> {
        let key = (word.start, word.end, word.text.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let cost = word.end.saturating_sub(word.start) + word.text.len();
        self.add_cost(cost);
        if self.is_exhausted() {
            return None;
        }
        let found = SourceMap::find(self.command, span(word), &word.text).map(Rc::new);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    /// Returns where a range of the text of a word is written, without expansions. A text that the
    /// word has from a variable is found where the variable is set.
    pub(super) fn ranges(&self, word: &Word, range: Range<usize>) -> Vec<Range<usize>> {
        match self.map_of(word) {
            Some(map) => map.ranges(range),
            None => self.ranges_elsewhere(word, &word.text[range]),
        }
    }

    /// Returns `true` if a word is written where it is, and is not the value of an expansion.
    pub(super) fn is_written_in_place(&self, word: &Word) -> bool {
        self.map_of(word).is_some()
    }

    fn ranges_elsewhere(&self, word: &Word, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for piece in text
            .split(UNKNOWN)
            .filter(|piece| piece.len() >= MIN_LENGTH)
        {
            if let Some(map) = SourceMap::find(self.command, span(word), piece) {
                found.extend(map.ranges(0..piece.len()));
                continue;
            }
            self.add_cost(self.words * piece.len());
            if self.is_exhausted() {
                return found;
            }
            let parts = || self.parts.all.iter();
            let values = parts().flat_map(|part| &part.assignments);
            let set = self.written(values.map(|one| &one.value), piece);
            found.extend(match set.is_empty() {
                true => {
                    let words = parts()
                        .flat_map(|part| part.words.iter().skip(1).chain(&part.here_documents));
                    self.written(words, piece)
                }
                false => set,
            });
        }
        found
    }

    /// Returns where the words that contain a text are written.
    fn written<'w>(&self, words: impl Iterator<Item = &'w Word>, text: &str) -> Vec<Range<usize>> {
        let places = words.filter_map(|word| {
            let at = word.text.find(text)?;
            let map = self.map_of(word)?;
            Some(map.ranges(at..at + text.len()))
        });
        places.flatten().collect()
    }
}

/// Returns the place of a word in the command.
pub(super) fn span(word: &Word) -> Range<usize> {
    word.start..word.end
}
