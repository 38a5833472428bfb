//! Expanded words: the characters of a word with their quotes and origin in, the words after splitting and
//! brace expansion out.

use crate::model::arg::{Arg, UNKNOWN, resolve_prefix};
use crate::model::span::Span;

/// Limit of words from one brace expansion.
const MAX_WORDS: usize = 64;

/// Limit of braces in a word.
const MAX_BRACES: usize = 20;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpandedChar {
    pub(crate) character: char,
    pub(crate) quoted: bool,
    /// `true` if the character comes from an expansion: blanks split, braces are literal.
    pub(crate) from_expansion: bool,
    /// `true` if an unknown part is data, never code.
    pub(crate) inert: bool,
    /// `true` if the character replaces an unknown number.
    pub(crate) is_guessed: bool,
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
    pub(crate) overridable: bool,
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
            }));
    }

    /// Adds an unknown number.
    pub(crate) fn push_unknown_number(&mut self, quoted: bool) {
        self.chars.push(ExpandedChar {
            character: '1',
            quoted,
            from_expansion: true,
            inert: true,
            is_guessed: true,
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

pub(crate) fn text_of(chars: &[ExpandedChar]) -> String {
    chars.iter().map(|ch| ch.character).collect()
}

/// Splits an expanded word into words, after brace expansion.
pub(crate) fn split_words(expanded: &ExpandedWord, span: Span) -> Vec<Arg> {
    let mut out = Vec::new();
    let has_too_many_braces = expanded
        .chars
        .iter()
        .filter(|c| c.character == '{' && !c.quoted && !c.from_expansion)
        .count()
        > MAX_BRACES;
    let words = if has_too_many_braces {
        vec![vec![ExpandedChar {
            character: UNKNOWN,
            quoted: true,
            from_expansion: true,
            inert: false,
            is_guessed: false,
        }]]
    } else {
        expand_braces(&expanded.chars)
    };
    for word in words {
        for field in split_fields(&word, expanded.has_quotes) {
            let resolved_path = expanded.resolved_path(&text_of(&field), 0);
            let path_of_prefix = expanded.path_of_only_prefix(&text_of(&field));
            let glob = field
                .iter()
                .any(|ch| !ch.quoted && matches!(ch.character, '*' | '?' | '['));
            out.push(Arg {
                text: text_of(&field),
                span,
                glob,
                overridable: expanded.overridable,
                may_split: glob || expanded.may_split,
                inert: field.iter().all(|ch| ch.is_inert()),
                has_guessed_number: field.iter().any(|ch| ch.is_guessed),
                is_array_literal: false,
                resolved_path,
                path_of_prefix,
            });
        }
    }
    out
}

fn split_fields(chars: &[ExpandedChar], quotes: bool) -> Vec<Vec<ExpandedChar>> {
    let mut out = Vec::new();
    let mut current = Vec::new();
    let mut split = false;
    for ch in chars {
        if ch.from_expansion && !ch.quoted && ch.character.is_ascii_whitespace() {
            split = true;
            if !current.is_empty() {
                out.push(std::mem::take(&mut current));
            }
        } else {
            current.push(*ch);
        }
    }
    if !current.is_empty() || (quotes && !split) || (quotes && out.is_empty()) {
        out.push(current);
    }
    out
}

/// Expands `a{b,c}` and `{1..3}`. An expansion of more than [`MAX_WORDS`] words is unknown.
fn expand_braces(chars: &[ExpandedChar]) -> Vec<Vec<ExpandedChar>> {
    let is = |ch: &ExpandedChar, c: char| ch.character == c && !ch.quoted && !ch.from_expansion;
    let mut open = 0;
    while let Some(start) = chars[open..]
        .iter()
        .position(|c| is(c, '{'))
        .map(|i| i + open)
    {
        let mut depth = 0usize;
        let mut commas = Vec::new();
        let mut end = None;
        for (at, ch) in chars.iter().enumerate().skip(start) {
            if is(ch, '{') {
                depth += 1;
            } else if is(ch, '}') {
                depth -= 1;
                if depth == 0 {
                    end = Some(at);
                    break;
                }
            } else if is(ch, ',') && depth == 1 {
                commas.push(at);
            }
        }
        let Some(end) = end else {
            open = start + 1;
            continue;
        };
        let middle: Vec<Vec<ExpandedChar>> = if commas.is_empty() {
            match expand_sequence(&chars[start + 1..end]) {
                Some(words) => words,
                None => {
                    open = start + 1;
                    continue;
                }
            }
        } else {
            let mut from = start + 1;
            let mut parts = Vec::new();
            for at in commas.into_iter().chain([end]) {
                parts.push(chars[from..at].to_vec());
                from = at + 1;
            }
            parts
        };
        let tails = expand_braces(&chars[end + 1..]);
        let mut out = Vec::new();
        for part in middle {
            for part in expand_braces(&part) {
                for tail in &tails {
                    if out.len() >= MAX_WORDS {
                        return vec![vec![ExpandedChar {
                            character: UNKNOWN,
                            quoted: true,
                            from_expansion: true,
                            inert: false,
                            is_guessed: false,
                        }]];
                    }
                    let mut word = chars[..start].to_vec();
                    word.extend_from_slice(&part);
                    word.extend_from_slice(tail);
                    out.push(word);
                }
            }
        }
        return out;
    }
    vec![chars.to_vec()]
}

fn expand_sequence(chars: &[ExpandedChar]) -> Option<Vec<Vec<ExpandedChar>>> {
    let text: String = chars.iter().map(|ch| ch.character).collect();
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step = parts
        .next()
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    let word = |text: String| -> Vec<ExpandedChar> {
        text.chars()
            .map(|character| ExpandedChar {
                character,
                quoted: true,
                from_expansion: true,
                inert: false,
                is_guessed: false,
            })
            .collect()
    };
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        if from.abs_diff(to) / step >= MAX_WORDS as u64 {
            return Some(vec![word(UNKNOWN.to_string())]);
        }
        let (low, high) = (from.min(to), from.max(to));
        let mut all: Vec<_> = (low..=high)
            .step_by(step as usize)
            .map(|n| word(n.to_string()))
            .collect();
        if from > to {
            all.reverse();
        }
        return Some(all);
    }
    let (mut a, mut b) = (from.chars(), to.chars());
    let (Some(from), None, Some(to), None) = (a.next(), a.next(), b.next(), b.next()) else {
        return None;
    };
    if !from.is_ascii() || !to.is_ascii() {
        return None;
    }
    let (low, high) = (from.min(to), from.max(to));
    Some((low..=high).map(|c| word(c.into())).collect())
}
