//! [`PossibleOptions`]: words of a text that a program would read as options.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::arg::UNKNOWN;

/// Limit of different words; more may be any option.
const MAX_WORDS: usize = 12;

/// Words that a text passes on as data, and that a program would read as options: values of
/// variables, arguments of functions, printed words. Copies share them.
///
/// A value that is only known when the text runs may be such a word. The round after the one that
/// found it knows it everywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct PossibleOptions(Rc<RefCell<Words>>);

#[derive(Debug, Default)]
struct Words {
    /// Those of earlier rounds.
    known: BTreeSet<String>,
    found: BTreeSet<String>,
    /// `true` if a program got a word that may be one of them.
    matter: bool,
}

impl PossibleOptions {
    /// Records the words of a text that look like options.
    pub(crate) fn note(&self, text: &str) {
        // A list is one text: `(a b)`.
        let parts = text.split(|c: char| c.is_whitespace() || "()".contains(c));
        let words = parts.chain(std::iter::once(text));
        for word in words.filter(|word| is_option(word)) {
            let mut words = self.0.borrow_mut();
            match words.found.len() < MAX_WORDS {
                true => words.found.insert(word.to_owned()),
                false => words.found.insert(format!("-{UNKNOWN}")),
            };
        }
    }

    /// Returns the words of earlier rounds, one of which an unknown word of a program may be.
    pub(crate) fn of_unknown_word(&self) -> Vec<String> {
        let mut words = self.0.borrow_mut();
        words.matter = true;
        words.known.iter().cloned().collect()
    }

    /// Returns the words for another round; `None` if this round found no further ones that matter.
    pub(crate) fn next_round(&self) -> Option<Self> {
        let words = self.0.borrow();
        let found_more = words.matter && !words.found.is_subset(&words.known);
        found_more.then(|| self.known_from_now())
    }

    /// Returns the words for another round, which knows them everywhere.
    pub(crate) fn known_from_now(&self) -> Self {
        let words = self.0.borrow();
        Self(Rc::new(RefCell::new(Words {
            known: &words.known | &words.found,
            found: words.found.clone(),
            matter: false,
        })))
    }
}

/// Returns `true` if a program would read a word as an option that is no number.
fn is_option(word: &str) -> bool {
    let name = word.strip_prefix('-').unwrap_or("");
    let name = name.strip_prefix('-').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == UNKNOWN)
}
