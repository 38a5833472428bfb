//! Expanded words: the pieces of a word in, its characters with their quotes and origin out.

use crate::model::arg::{UNKNOWN, resolve_prefix};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpandedChar {
    pub(crate) character: char,
    pub(crate) quoted: bool,
    /// `true` if the character comes from an expansion: blanks split, braces are literal.
    pub(crate) from_expansion: bool,
    /// `true` if an unknown part is data, never code.
    pub(crate) inert: bool,
    /// `true` if the character replaces an unknown number.
    pub(crate) is_guessed: bool,
    /// `true` if the character is a part of a default, which an inherited variable may replace.
    pub(crate) is_default: bool,
}

impl ExpandedChar {
    pub(crate) fn is_inert(self) -> bool {
        self.inert || self.character != UNKNOWN
    }
}

#[derive(Debug, Default)]
pub(crate) struct ExpandedWord {
    pub(crate) chars: Vec<ExpandedChar>,
    pub(crate) has_quotes: bool,
    pub(crate) may_split: bool,
    /// Path in a variable at the beginning.
    pub(crate) path_of_prefix: Option<String>,
    /// Position of that variable in the word.
    pub(crate) prefix_start: usize,
}

impl ExpandedWord {
    pub(crate) fn push(&mut self, text: &str, quoted: bool, from_expansion: bool) {
        self.push_value(text, quoted, from_expansion, false);
    }

    pub(crate) fn push_value(
        &mut self,
        text: &str,
        quoted: bool,
        from_expansion: bool,
        inert: bool,
    ) {
        self.chars
            .extend(text.chars().map(|character| ExpandedChar {
                character,
                quoted,
                from_expansion,
                inert,
                is_guessed: false,
                is_default: false,
            }));
    }

    /// Adds a default, which an inherited variable may replace.
    pub(crate) fn push_default(&mut self, text: &str, quoted: bool, inert: bool) {
        let start = self.chars.len();
        self.push_value(text, quoted, true, inert);
        self.chars[start..]
            .iter_mut()
            .for_each(|ch| ch.is_default = true);
        self.may_split |= !quoted;
    }

    /// Adds an unknown number.
    pub(crate) fn push_unknown_number(&mut self, quoted: bool) {
        self.chars.push(ExpandedChar {
            character: '1',
            quoted,
            from_expansion: true,
            inert: true,
            is_guessed: true,
            is_default: false,
        });
    }

    /// Replaces unknown numbers by unknown text.
    pub(crate) fn without_guessed_numbers(mut self) -> Self {
        for ch in self.chars.iter_mut().filter(|ch| ch.is_guessed) {
            ch.character = UNKNOWN;
        }
        self
    }

    pub(crate) fn push_unknown(&mut self, inert: bool) {
        self.push_value(UNKNOWN.encode_utf8(&mut [0; 4]), true, true, inert);
    }

    /// Adds an address with unknown parts.
    pub(crate) fn push_address(&mut self, address: &str, quoted: bool) {
        for (at, known) in address.split(UNKNOWN).enumerate() {
            if at > 0 {
                self.push_unknown(false);
            }
            self.push(known, quoted, true);
        }
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.chars)
    }

    pub(crate) fn is_inert(&self) -> bool {
        self.chars.iter().all(|ch| ch.is_inert())
    }

    /// Returns `true` if an unquoted brace is open.
    pub(crate) fn has_open_brace(&self) -> bool {
        self.chars
            .iter()
            .any(|ch| ch.character == '{' && !ch.quoted)
    }

    /// Returns `true` if a path may begin after the present characters: `--folder=…`.
    pub(crate) fn may_start_path(&self) -> bool {
        self.chars
            .last()
            .is_none_or(|ch| matches!(ch.character, '=' | ':' | '@' | '(' | ' '))
    }

    /// Returns a text of the characters as a path, if it begins with a variable whose path is known.
    pub(crate) fn resolved_path(&self, text: &str, start: usize) -> Option<String> {
        let prefix = self.path_of_prefix.as_deref();
        resolve_prefix(prefix.filter(|_| self.prefix_start == start), text)
    }

    /// Returns the path of that variable, if it is the only unknown part of a text.
    pub(crate) fn path_of_only_prefix(&self, text: &str) -> Option<String> {
        let is_only_unknown = text.matches(UNKNOWN).count() == 1;
        self.path_of_prefix.clone().filter(|_| is_only_unknown)
    }
}

/// Returns the text of the characters if inherited variables replace the defaults in it; `None` if it
/// has none.
pub(crate) fn overridden_text(chars: &[ExpandedChar]) -> Option<String> {
    let parts = chars.chunk_by(|one, other| one.is_default == other.is_default);
    let has_default = chars.iter().any(|ch| ch.is_default);
    has_default.then(|| {
        let text = |part: &[ExpandedChar]| match part[0].is_default {
            true => UNKNOWN.to_string(),
            false => text_of(part),
        };
        parts.map(text).collect()
    })
}

pub(crate) fn text_of(chars: &[ExpandedChar]) -> String {
    chars.iter().map(|ch| ch.character).collect()
}
