//! Texts that look random, and e-mail addresses: a text in, their ranges out.

use std::ops::Range;

use crate::model::lazy_regex::LazyRegex;

/// Minimum length of a text that looks random.
const MIN_RANDOM: usize = 20;
const MIN_HEX: usize = 32;

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
    static WORD: LazyRegex =
        LazyRegex::new(|| r"[A-Za-z0-9+_-]{20,}={0,2}|[A-Za-z0-9+/]{32,}={0,2}".to_owned());
    static BASE64: LazyRegex = LazyRegex::new(|| r"[A-Za-z0-9+/]{32,}={0,2}".to_owned());
    static HEX: LazyRegex = LazyRegex::new(|| r"\b[0-9a-fA-F]{32,}\b".to_owned());
    let mut found = Vec::new();
    if !has_run(text, MIN_RANDOM) {
        return found;
    }
    let digests = digests(text);
    for (pattern, min_length, is_hex) in [
        (&WORD, MIN_RANDOM, false),
        (&BASE64, MIN_HEX, false),
        (&HEX, MIN_HEX, true),
    ] {
        for word in pattern.get().find_iter(text) {
            for range in outside(word.range(), known) {
                let part = &text[range.clone()];
                if part.len() < min_length || !is_hex && !looks_random(part) {
                    continue;
                }
                let is_digest = digests.iter().any(|digest| overlap(digest, &range));
                found.push(RandomText {
                    is_likely_secret: !is_hex && is_mixed(part) && !is_digest,
                    range,
                });
            }
        }
    }
    found
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
