//! Brace expansion: the characters of a word in, its words in one of the shells out.
//!
//! Shells expand braces differently. Bash 5.2, zsh 5.9, ksh93u+m 1.0.4 and mksh R59 were compared:
//!
//! - bash, zsh and ksh93 expand `{3..1}` in the order of its ends; mksh and dash do not expand it;
//! - a step against the direction is ignored in bash, turns the order round in zsh (`{1..5..-2}` is
//!   `5 3 1`) and gives the first element alone in ksh93;
//! - zeros in front pad numbers in bash and zsh, not in ksh93;
//! - zsh takes any two characters as ends, and no step after letters;
//! - zsh and ksh93 also expand a sequence whose ends are quoted or come from a variable;
//! - bash drops an empty word of a list, the other shells keep it;
//! - bash and zsh expand braces within braces that are no list themselves, ksh93 and mksh do not.

use std::ops::Range;

use super::expanded_word::{ExpandedChar, text_of};
use crate::model::arg::UNKNOWN;
use crate::model::shells::Shells;

/// Limit of words from one word.
const MAX_WORDS: usize = 1024;

/// Limit of the elements of a sequence that are followed one by one.
const MAX_ELEMENTS: u64 = 64;

/// Limit of braces in a word.
const MAX_BRACES: usize = 20;

/// Limit of digits of a number. Shells compute with different sizes of integers.
const MAX_DIGITS: usize = 9;

/// Shells by their rules of brace expansion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BraceSyntax {
    #[default]
    Bash,
    Zsh,
    Ksh93,
    Mksh,
    /// Dash and other shells without brace expansion.
    Literal,
}

/// The syntaxes besides the default.
pub(crate) const OTHER_BRACES: [BraceSyntax; 4] = [
    BraceSyntax::Zsh,
    BraceSyntax::Ksh93,
    BraceSyntax::Mksh,
    BraceSyntax::Literal,
];

/// Words of one word.
#[derive(Debug, Default)]
pub(crate) struct BraceExpansion {
    pub(crate) words: Vec<Vec<ExpandedChar>>,
    /// `true` if there are more words, which differ from these only in a number.
    pub(crate) has_more: bool,
}

/// The expansion has too many words, or notation that is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownBraces;

impl BraceSyntax {
    /// Returns the shells that may expand braces so.
    pub(crate) const fn shells(self) -> Shells {
        match self {
            Self::Bash => Shells::BASH,
            Self::Zsh => Shells::ANY_ZSH,
            Self::Ksh93 => Shells::KSH,
            Self::Mksh => Shells::MKSH,
            Self::Literal => Shells::WITHOUT_BRACES,
        }
    }

    /// Returns `true` if a word of a list may be empty.
    pub(crate) fn keeps_empty_words(self) -> bool {
        !matches!(self, Self::Bash | Self::Literal)
    }

    fn expands_sequences(self) -> bool {
        matches!(self, Self::Bash | Self::Zsh | Self::Ksh93)
    }

    /// Returns `true` if a brace without a list or sequence of its own hides the braces in it.
    fn hides_inner_braces(self) -> bool {
        matches!(self, Self::Ksh93 | Self::Mksh)
    }

    /// Expands the braces of a word.
    pub(crate) fn expand(self, chars: &[ExpandedChar]) -> Result<BraceExpansion, UnknownBraces> {
        let braces = chars.iter().filter(|ch| is_sign(ch, '{')).count();
        if braces == 0 || self == Self::Literal {
            return Ok(BraceExpansion {
                words: vec![chars.to_vec()],
                has_more: false,
            });
        }
        if braces > MAX_BRACES {
            return Err(UnknownBraces);
        }
        let mut has_more = false;
        let words = self.expand_chars(chars, &mut has_more)?;
        Ok(BraceExpansion { words, has_more })
    }

    fn expand_chars(
        self,
        chars: &[ExpandedChar],
        has_more: &mut bool,
    ) -> Result<Vec<Vec<ExpandedChar>>, UnknownBraces> {
        let mut from = 0;
        while let Some(group) = self.next_group(chars, from) {
            let inside = &chars[group.clone()];
            let middle = match self.elements(inside, has_more)? {
                Some(middle) => middle,
                // Bash keeps the whole group, the other shells expand what is in it.
                None if self == Self::Bash || self.hides_inner_braces() => {
                    from = group.end + 1;
                    continue;
                }
                None => {
                    from = group.start;
                    continue;
                }
            };
            let tails = self.expand_chars(&chars[group.end + 1..], has_more)?;
            if middle.len() * tails.len() > MAX_WORDS {
                return Err(UnknownBraces);
            }
            let preamble = &chars[..group.start - 1];
            let word = |element: &Vec<ExpandedChar>, tail: &Vec<ExpandedChar>| {
                [preamble, element.as_slice(), tail.as_slice()].concat()
            };
            let words = middle
                .iter()
                .flat_map(|element| tails.iter().map(move |tail| word(element, tail)));
            return Ok(words.collect());
        }
        Ok(vec![chars.to_vec()])
    }

    /// Returns the inside of the first group of braces after a position that may be expanded.
    fn next_group(self, chars: &[ExpandedChar], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        loop {
            at += chars[at..].iter().position(|ch| is_sign(ch, '{'))?;
            let close = match self.hides_inner_braces() {
                // Without its closing brace, the rest of the word is literal.
                true => Some(balanced_end(chars, at + 1)?),
                false => self.end_with_separator(chars, at),
            };
            match close {
                Some(close) => return Some(at + 1..close),
                None => at += 1,
            }
        }
    }

    /// Returns the position of the first brace that closes the brace at `open` and has a `,`
    /// or `..` of its own before it: a `}` without one is literal.
    fn end_with_separator(self, chars: &[ExpandedChar], open: usize) -> Option<usize> {
        let is_empty_pair = open == 0 && chars.get(1).is_some_and(|ch| is_sign(ch, '}'));
        if is_empty_pair {
            return None;
        }
        let mut depth = 0usize;
        let mut has_separator = false;
        for (at, ch) in chars.iter().enumerate().skip(open + 1) {
            let is_dots = || {
                let ends = chars.get(at + 2).is_some_and(|after| is_sign(after, '}'));
                let dots = chars.get(at + 1).is_some_and(|next| next.character == '.');
                dots && !(ends && self == Self::Bash)
            };
            if is_sign(ch, '{') {
                depth += 1;
            } else if is_sign(ch, '}') {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if has_separator => return Some(at),
                    None => {}
                }
            } else if depth == 0 && (is_sign(ch, ',') || ch.character == '.' && is_dots()) {
                has_separator = true;
            }
        }
        None
    }

    /// Returns the elements of a group; `None` if it is literal.
    fn elements(
        self,
        inside: &[ExpandedChar],
        has_more: &mut bool,
    ) -> Result<Option<Vec<Vec<ExpandedChar>>>, UnknownBraces> {
        let parts = list_parts(inside);
        let text = text_of(inside);
        if parts.len() == 1 {
            return self.sequence_elements(inside, &text, has_more);
        }
        // Ksh93 takes the end of such a list for a sequence.
        let ends: Vec<char> = text.chars().rev().take(4).collect();
        if let [to, '.', '.', _] = ends.as_slice()
            && to.is_alphanumeric()
        {
            return Err(UnknownBraces);
        }
        let mut all = Vec::new();
        for part in parts {
            all.extend(self.expand_chars(&inside[part], has_more)?);
            if all.len() > MAX_WORDS {
                return Err(UnknownBraces);
            }
        }
        Ok(Some(all))
    }

    fn sequence_elements(
        self,
        inside: &[ExpandedChar],
        text: &str,
        has_more: &mut bool,
    ) -> Result<Option<Vec<Vec<ExpandedChar>>>, UnknownBraces> {
        if !text.contains("..") {
            return Ok(None);
        }
        if !self.expands_sequences() {
            return Ok(None);
        }
        let is_plain = inside.iter().all(|ch| !ch.quoted && !ch.from_expansion);
        if text.contains(UNKNOWN) {
            // The ends of a sequence may come from a variable, except in bash.
            if self == Self::Bash {
                return Ok(None);
            }
            *has_more = true;
            return Ok(Some(vec![vec![computed(UNKNOWN)]]));
        }
        if !is_plain && self == Self::Bash {
            return Ok(None);
        }
        match Sequence::of(text) {
            Some(sequence) => Ok(self.sequence(&sequence, has_more)),
            // A path, or dots alone.
            None if text.contains('/') && !text.contains('{') => Ok(None),
            None if matches!(text, ".." | "...") => Ok(None),
            None => Err(UnknownBraces),
        }
    }

    fn sequence(self, sequence: &Sequence, has_more: &mut bool) -> Option<Vec<Vec<ExpandedChar>>> {
        let (from, to, step) = match *sequence {
            Sequence::Numbers { from, to, step, .. } => (from, to, step),
            Sequence::Characters { from, to, step } => {
                let letters = from.is_ascii_alphabetic() && to.is_ascii_alphabetic();
                let expands = match self {
                    Self::Zsh => step.is_none(),
                    _ => letters,
                };
                if !expands {
                    return None;
                }
                (i64::from(u32::from(from)), i64::from(u32::from(to)), step)
            }
        };
        let towards = if from <= to { 1 } else { -1 };
        let width = step.map_or(1, i64::abs);
        let against = step.is_some_and(|step| step.signum() != towards && from != to);
        let mut count = from.abs_diff(to) / width.unsigned_abs() + 1;
        if self == Self::Ksh93 && against {
            count = 1;
        }
        if count > MAX_ELEMENTS {
            *has_more = true;
            let mut samples = vec![vec![guessed_digit()]];
            if from.min(to) < 0 {
                samples.push(vec![computed('-'), guessed_digit()]);
            }
            return Some(samples);
        }
        let mut values: Vec<i64> = (0..count as i64)
            .map(|at| from + towards * width * at)
            .collect();
        if self == Self::Zsh && step.is_some_and(|step| step < 0) {
            values.reverse();
        }
        let word = |value: i64| -> String {
            match *sequence {
                Sequence::Numbers { digits, .. } if self != Self::Ksh93 => {
                    format!("{value:0digits$}")
                }
                Sequence::Numbers { .. } => value.to_string(),
                Sequence::Characters { .. } => char::from(value as u8).to_string(),
            }
        };
        let words = values
            .into_iter()
            .map(|value| word(value).chars().map(computed).collect());
        Some(words.collect())
    }
}

/// Sequence that the shells with sequences read alike, up to its order, zeros and step.
#[derive(Debug)]
enum Sequence {
    Numbers {
        from: i64,
        to: i64,
        step: Option<i64>,
        /// Minimum number of characters.
        digits: usize,
    },
    Characters {
        from: char,
        to: char,
        step: Option<i64>,
    },
}

impl Sequence {
    fn of(text: &str) -> Option<Self> {
        let character = |text: &str| {
            let mut chars = text.chars();
            let first = chars.next().filter(char::is_ascii_graphic)?;
            chars.next().is_none().then_some(first)
        };
        // `{...a}` and `{a...}` have a dot as an end, which not all shells find.
        let mut parts = text.split("..");
        let (from, to) = (parts.next()?, parts.next()?);
        let step = match parts.next() {
            None => None,
            Some(step) if step.trim_start_matches('-').starts_with('0') => return None,
            Some(step) => Some(number(step)?),
        };
        if parts.next().is_some() {
            return None;
        }
        if let (Some(first), Some(last)) = (number(from), number(to)) {
            let padded = |text: &str| {
                let digits = text.trim_start_matches('-');
                digits.len() > 1 && digits.starts_with('0')
            };
            let is_padded = padded(from) || padded(to);
            return Some(Self::Numbers {
                from: first,
                to: last,
                step,
                digits: if is_padded {
                    from.len().max(to.len())
                } else {
                    0
                },
            });
        }
        let (from, to) = (character(from)?, character(to)?);
        let is_mixed = from.is_ascii_alphabetic()
            && to.is_ascii_alphabetic()
            && from.is_ascii_uppercase() != to.is_ascii_uppercase();
        // Between upper and lower case there are signs, some of which bash reads again.
        (!is_mixed).then_some(Self::Characters { from, to, step })
    }
}

/// Returns a number that all shells read alike.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = (1..=MAX_DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    // `-0` is a number of two characters in some shells.
    let is_minus_zero = text.starts_with('-') && digits.bytes().all(|byte| byte == b'0');
    (is_number && !is_minus_zero).then(|| text.parse().ok())?
}

fn is_sign(ch: &ExpandedChar, sign: char) -> bool {
    ch.character == sign && !ch.quoted && !ch.from_expansion
}

/// Returns a character that the shell computes.
fn computed(character: char) -> ExpandedChar {
    ExpandedChar {
        character,
        quoted: true,
        from_expansion: true,
        inert: false,
        is_guessed: false,
        is_default: false,
    }
}

/// Returns a digit as a replacement for an unknown number.
fn guessed_digit() -> ExpandedChar {
    ExpandedChar {
        inert: true,
        is_guessed: true,
        ..computed('1')
    }
}

/// Returns the position of the brace that closes the brace before `start`.
fn balanced_end(chars: &[ExpandedChar], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, ch) in chars.iter().enumerate().skip(start) {
        if is_sign(ch, '{') {
            depth += 1;
        } else if is_sign(ch, '}') {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            }
        }
    }
    None
}

/// Returns the parts between the commas of a group.
fn list_parts(inside: &[ExpandedChar]) -> Vec<Range<usize>> {
    let mut depth = 0usize;
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, ch) in inside.iter().enumerate() {
        if is_sign(ch, '{') {
            depth += 1;
        } else if is_sign(ch, '}') {
            depth = depth.saturating_sub(1);
        } else if is_sign(ch, ',') && depth == 0 {
            parts.push(from..at);
            from = at + 1;
        }
    }
    parts.push(from..inside.len());
    parts
}
