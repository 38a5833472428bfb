//! [`PossibleOptions`]: words of a text that a program would read as options, or that end a command
//! of its script.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::arg::UNKNOWN;

/// Signs at which scripts split a text, and a list begins, also in braces, which some shells expand in values.
const SEPARATORS: &str = "({:,;=/";

/// Limit of different words; more may be any option.
const MAX_WORDS: usize = 12;

/// Limit of replacements of unknown words that are tried in one round.
const MAX_TRIES: usize = 500;

/// Words that a text passes on as data, and that a program would read as options, or `sed` as the end
/// of a command: values of variables, arguments of functions, printed words. Copies share them.
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
    /// Texts of earlier rounds that may end a command of a script.
    known_ends: BTreeSet<String>,
    found_ends: BTreeSet<String>,
    /// `true` if a program got a word that may be one of them.
    matter: bool,
    /// `true` if an earlier round cut or split an unknown value anywhere: it may be any text that is
    /// passed on.
    cuts: bool,
    /// `true` if this round did.
    found_cut: bool,
    /// Number of words that were tried in this round.
    tries: usize,
}

impl PossibleOptions {
    /// Records the words of a text that look like options, also behind a sign at which a shell or a
    /// program may split it: `f:-o`, `(a -o)`.
    pub(crate) fn note(&self, text: &str) {
        let cuts = self.0.borrow().cuts;
        // The keys of a list: `([-o]=a)`.
        let is_list = text.starts_with('(');
        self.note_ends(text, |before| {
            cuts || before.is_whitespace()
                || SEPARATORS.contains(before)
                || is_list && before == '['
        });
    }

    /// Records what looks like an option in an operand of a program, which may print it: a text in code
    /// such as `s/a/-o/`. The words of a command in the operand (`sh -c 'head -n 1'`) are not printed.
    pub(crate) fn note_in_operand(&self, operand: &str) {
        self.note_ends(operand, |before| {
            SEPARATORS.contains(before) || "\"'".contains(before)
        });
    }

    /// Records the ends of a text that look like options: the shell cuts or splits it anywhere.
    pub(crate) fn note_all_ends(&self, text: &str) {
        self.note_ends(text, |_| true);
    }

    /// Records that the shell cuts or splits a value, which is unknown if it is `None`.
    pub(crate) fn note_cut(&self, value: Option<&str>) {
        match value.filter(|value| !value.contains(UNKNOWN)) {
            Some(value) => self.note_all_ends(value),
            None => self.0.borrow_mut().found_cut = true,
        }
    }

    fn note_ends(&self, text: &str, may_begin_behind: impl Fn(char) -> bool) {
        if may_end_command(text) {
            let mut words = self.0.borrow_mut();
            if words.found_ends.len() <= MAX_WORDS {
                words.found_ends.insert(text.to_owned());
            }
        }
        for (at, _) in text.match_indices('-') {
            if self.0.borrow().found.len() > MAX_WORDS {
                return;
            }
            let end = &text[at..];
            // An unknown part before it may be empty.
            let may_begin = |before| before == UNKNOWN || may_begin_behind(before);
            if !text[..at].chars().next_back().is_none_or(may_begin) {
                continue;
            }
            let is_end = |c: char| c.is_whitespace() || "()]".contains(c);
            let word = end.split(is_end).next().unwrap_or(end);
            // A list is one text, of which each word is an element: `(a -o)`.
            let whole = (!text.starts_with('(')).then_some(end);
            for option in std::iter::once(word).chain(whole) {
                if is_option(option) {
                    self.insert(option);
                }
            }
        }
    }

    fn insert(&self, option: &str) {
        let mut words = self.0.borrow_mut();
        match words.found.len() < MAX_WORDS {
            true => words.found.insert(option.to_owned()),
            false => words.found.insert(format!("-{UNKNOWN}")),
        };
    }

    /// Returns the words of earlier rounds, one of which an unknown word of a program may be.
    pub(crate) fn of_unknown_word(&self) -> Vec<String> {
        let mut words = self.0.borrow_mut();
        words.matter = true;
        words.known.iter().cloned().collect()
    }

    /// Returns the texts of earlier rounds, one of which an unknown part of a script may be; `None` if
    /// there are too many.
    pub(crate) fn of_unknown_part(&self) -> Option<Vec<String>> {
        let mut words = self.0.borrow_mut();
        words.matter = true;
        let ends = &words.known_ends;
        (ends.len() <= MAX_WORDS).then(|| ends.iter().cloned().collect())
    }

    /// Counts a try; `false` if there were too many in this round.
    pub(crate) fn count_try(&self) -> bool {
        let mut words = self.0.borrow_mut();
        words.tries += 1;
        words.tries <= MAX_TRIES
    }

    /// Returns the words for another round; `None` if this round found no further ones that matter.
    pub(crate) fn next_round(&self) -> Option<Self> {
        let words = self.0.borrow();
        let found_more = words.found_cut && !words.cuts
            || !words.found.is_subset(&words.known)
            || !words.found_ends.is_subset(&words.known_ends);
        (words.matter && found_more).then(|| self.known_from_now())
    }

    /// Returns the words for another round, which knows them everywhere.
    pub(crate) fn known_from_now(&self) -> Self {
        let words = self.0.borrow();
        Self(Rc::new(RefCell::new(Words {
            known: &words.known | &words.found,
            found: words.found.clone(),
            known_ends: &words.known_ends | &words.found_ends,
            found_ends: words.found_ends.clone(),
            matter: false,
            cuts: words.cuts || words.found_cut,
            found_cut: false,
            tries: 0,
        })))
    }
}

/// Returns `true` if a program would read a word as an option that is no number.
pub(crate) fn is_option(word: &str) -> bool {
    let name = word.strip_prefix('-').unwrap_or("");
    let name = name.strip_prefix('-').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == UNKNOWN)
}

/// Returns `true` if a text in the middle of a script of `sed` may end the command there and begin
/// something that writes or runs: a delimiter, then flags and a file, or another command.
fn may_end_command(text: &str) -> bool {
    let is_delimiter = |c: char| c == '\n' || c.is_ascii_punctuation();
    text.match_indices(is_delimiter).any(|(at, delimiter)| {
        let rest = &text[at + delimiter.len()..];
        let is_flag = |c: char| c.is_ascii_digit() || "gpiImM".contains(c);
        let mut rest = rest.trim_start_matches(is_flag).chars();
        match rest.next() {
            Some('w' | 'W' | ';' | '}' | '\n') => true,
            Some('e') => rest.next().is_none_or(|c| !c.is_alphanumeric()),
            _ => delimiter == "\n",
        }
    })
}
