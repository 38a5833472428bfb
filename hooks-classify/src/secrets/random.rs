//! Texts that look random, and e-mail addresses: a text in, their ranges out.

use std::cell::LazyCell;
use std::ops::Range;

use crate::model::lazy_regex::LazyRegex;

/// Minimum length of a text that looks random.
const MIN_RANDOM: usize = 20;
const MIN_HEX: usize = 32;

/// Texts, one of which every match of [`digests`] has.
const DIGEST_MARKS: &[&str] = &[
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "SHA256:",
    "h1:",
    "Qm",
    "bafk",
    "bafy",
    "iVBORw0KGg",
    "/9j/",
    "R0lGODlh",
    "R0lGODdh",
    "UklGR",
    "AAABAA",
    "PHN2Zy",
    "PD94bWwg",
    "UEsDB",
    "JVBERi0",
    "H4sI",
    "QlpoO",
    "KLUv/",
    "/Td6WFo",
    "N3q8ry",
    "f0VMR",
    "AGFzbQ",
    "d09GM",
    "d09GR",
    "T2dnUw",
    "SUQz",
    "ZkxhQ",
];

/// A text that looks random.
#[derive(Debug)]
pub(super) struct RandomText {
    pub(super) range: Range<usize>,
    /// `true` if it has letters of both cases and digits, and is no digest or image: more than a
    /// name or a commit.
    pub(super) is_likely_secret: bool,
}

/// Returns the texts that look random outside of known secrets.
pub(super) fn random_texts(text: &str, known: &[Range<usize>]) -> Vec<RandomText> {
    let mut found = Vec::new();
    if !has_run(text, MIN_RANDOM) {
        return found;
    }
    let digests = LazyCell::new(|| digests(text));
    for (words, min_length, is_hex) in [
        (random_words(text), MIN_RANDOM, false),
        (base64_words(text), MIN_HEX, false),
        (hex_numbers(text), MIN_HEX, true),
    ] {
        for word in words {
            for range in outside(word, known) {
                let part = &text[range.clone()];
                if part.len() < min_length || !is_hex && !looks_random(part) {
                    continue;
                }
                let is_digest = || digests.iter().any(|digest| overlap(digest, &range));
                found.push(RandomText {
                    is_likely_secret: !is_hex && is_mixed(part) && !is_digest(),
                    range,
                });
            }
        }
    }
    found
}

// Loops instead of regular expressions: compiling the expressions took 3.0 of the 14.2 million
// instructions of one hook, because the id of its session looks random.

/// Returns the words of letters, digits, `+`, `_` and `-`, and those of base64, with the padding at
/// their end.
fn random_words(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-');
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let name = run(bytes, at, is_name);
        let base64 = run(bytes, at, is_base64);
        let end = match (name - at >= MIN_RANDOM, base64 - at >= MIN_HEX) {
            (true, _) => padded(bytes, name),
            (false, true) => padded(bytes, base64),
            // No word begins before the end of both runs that are too short, but a run of base64 may
            // begin in one of names.
            (false, false) => {
                at = name.min(base64).max(at + 1);
                continue;
            }
        };
        words.push(at..end);
        at = end;
    }
    words
}

/// Returns the words of base64 of at least the length of a hexadecimal digest.
fn base64_words(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let runs = runs(bytes, is_base64).filter(|run| run.len() >= MIN_HEX);
    runs.map(|run| run.start..padded(bytes, run.end)).collect()
}

/// Returns the hexadecimal numbers of at least the length of a digest that are no part of a word.
fn hex_numbers(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let runs = runs(text.as_bytes(), |byte| byte.is_ascii_hexdigit());
    let runs = runs.filter(|run| {
        run.len() >= MIN_HEX
            && !text[..run.start].ends_with(is_word)
            && !text[run.end..].starts_with(is_word)
    });
    runs.collect()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Returns the end of the run of a class of bytes that begins at a place.
fn run(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    let rest = bytes[at..].iter();
    at + rest.take_while(|byte| class(**byte)).count()
}

/// Returns the longest runs of a class of bytes.
fn runs(bytes: &[u8], class: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(|byte| class(*byte))?;
        let start = at;
        at = run(bytes, at, class);
        Some(start..at)
    })
}

/// Returns the end of a word of base64 with its padding: at most two `=`.
fn padded(bytes: &[u8], end: usize) -> usize {
    let rest = bytes[end..].iter();
    end + rest.take(2).take_while(|byte| **byte == b'=').count()
}

/// Returns the e-mail addresses of a text.
pub(super) fn mail_addresses(text: &str) -> Vec<Range<usize>> {
    static MAIL: LazyRegex = LazyRegex::new(|| {
        r#"[^\s@<>"'`(),;:=|&/\[\]{}$]+@[^\s@<>"'`(),;:=|&/\[\]{}$]+\.[^\s@<>"'`(),;:=.|&/\[\]{}$]{2,}"#
            .to_owned()
    });
    if !text.contains('@') {
        return Vec::new();
    }
    let found = MAIL.get().find_iter(text);
    let found = found.filter(|mail| !mail.as_str().starts_with("git@"));
    found.map(|mail| mail.range()).collect()
}

/// Returns the parts of a range outside of others.
fn outside(range: Range<usize>, known: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = vec![range];
    for other in known {
        parts = parts
            .into_iter()
            .flat_map(|part| match overlap(&part, other) {
                true => vec![
                    part.start..other.start.max(part.start),
                    other.end.min(part.end)..part.end,
                ],
                false => vec![part],
            })
            .collect();
    }
    parts
}

pub(super) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns `true` if a text has a run of this many letters, digits and signs of `base64`.
fn has_run(text: &str, length: usize) -> bool {
    let mut run = 0;
    text.bytes().any(|byte| {
        let is_part = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'/');
        run = if is_part { run + 1 } else { 0 };
        run >= length
    })
}

/// Returns digests with the name of their algorithm, content ids, and files in base64: the trail has
/// to show what was installed.
fn digests(text: &str) -> Vec<Range<usize>> {
    static DIGESTS: LazyRegex = LazyRegex::new(|| {
        concat!(
            r"\b(?:sha(?:1|256|384|512)-|SHA256:|h1:)[A-Za-z0-9+/]{27,88}={0,2}",
            // Content ids of IPFS.
            r"|\bQm[A-Za-z0-9]{44}\b|\bbaf[ky][a-z2-7]{55,}\b",
            // Images, archives, documents, fonts, sounds.
            r"|(?:iVBORw0KGg|/9j/[2-4]|R0lGODlh|R0lGODdh|UklGR|AAABAA|PHN2Zy|PD94bWwg|UEsDB|JVBERi0|H4sI[AC]",
            r"|QlpoO|KLUv/[QS]|/Td6WFo|N3q8ry|f0VMR|AGFzbQ|d09GM|d09GR|T2dnUw|SUQz|ZkxhQ)[A-Za-z0-9+/]{16,}={0,2}",
        )
        .to_owned()
    });
    if !DIGEST_MARKS.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let found = DIGESTS.get().find_iter(text);
    found.map(|digest| digest.range()).collect()
}

fn is_mixed(text: &str) -> bool {
    let any = |class: fn(&u8) -> bool| text.as_bytes().iter().any(class);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit)
}

/// Returns `true` if letters of both cases and digits alternate as in no word.
fn looks_random(text: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| {
            let (one, other) = (class(pair[0]), class(pair[1]));
            one != other && one != 0 && other != 0
        })
        .count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    letters && (digits && (plain || changes * 5 >= text.len()) || changes * 2 >= text.len())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::{Strategy, prop_oneof, proptest};
    use proptest::{collection, prop_assert_eq};
    use regex::Regex;

    use super::{base64_words, hex_numbers, random_words};

    fn matches(pattern: &str, text: &str) -> Vec<Range<usize>> {
        let pattern = Regex::new(pattern).expect("a pattern");
        pattern.find_iter(text).map(|found| found.range()).collect()
    }

    /// Returns texts of runs around the lengths that count.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[A-Za-z0-9+/]{17,36}",
            "[A-Za-z0-9_-]{17,24}",
            "[0-9a-f]{29,35}",
            "={1,3}",
            "[ /_é€\u{301}:-]{1,2}",
        ];
        collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_loops_find_what_the_expressions_match(text in texts()) {
            prop_assert_eq!(
                random_words(&text),
                matches(r"[A-Za-z0-9+_-]{20,}={0,2}|[A-Za-z0-9+/]{32,}={0,2}", &text)
            );
            prop_assert_eq!(base64_words(&text), matches(r"[A-Za-z0-9+/]{32,}={0,2}", &text));
            if !text.contains('\u{301}') {
                prop_assert_eq!(hex_numbers(&text), matches(r"\b[0-9a-fA-F]{32,}\b", &text));
            }
        }
    }
}
