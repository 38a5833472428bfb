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
///
/// Ids of sessions and calls are among the texts of each hook: compiling expressions for the words and
/// the digests took 3.7 million instructions of its process.
pub(super) fn random_texts(text: &str, known: &[Range<usize>]) -> Vec<RandomText> {
    static HEX: LazyRegex = LazyRegex::new(|| r"\b[0-9a-fA-F]{32,}\b".to_owned());
    let mut found = Vec::new();
    if !has_run(text, MIN_RANDOM, is_of_word_or_base64) {
        return found;
    }
    let hex = match has_run(text, MIN_HEX, |byte| byte.is_ascii_hexdigit()) {
        true => HEX.get().find_iter(text).map(|word| word.range()).collect(),
        false => Vec::new(),
    };
    let mut all_digests = None;
    for (words, min_length, is_hex) in [
        (words(text), MIN_RANDOM, false),
        (base64_words(text), MIN_HEX, false),
        (hex, MIN_HEX, true),
    ] {
        for word in words {
            for range in outside(word, known) {
                let part = &text[range.clone()];
                if part.len() < min_length || !is_hex && !looks_random(part) {
                    continue;
                }
                let is_likely_secret = !is_hex && is_mixed(part) && {
                    let digests = all_digests.get_or_insert_with(|| digests(text));
                    !digests.iter().any(|digest| overlap(digest, &range))
                };
                found.push(RandomText {
                    is_likely_secret,
                    range,
                });
            }
        }
    }
    found
}

/// Returns the words of at least `MIN_RANDOM` letters, digits, `+`, `_` and `-`, or of at least
/// `MIN_HEX` characters of `base64`, each with up to two `=` at its end.
fn words(text: &str) -> Vec<Range<usize>> {
    runs(text, |rest| {
        let word = run_length(rest, |byte| is_of_word_or_base64(byte) && byte != b'/');
        match word >= MIN_RANDOM {
            true => Some(word),
            false => base64_run(rest),
        }
    })
}

/// Returns the words of at least `MIN_HEX` characters of `base64`, with up to two `=` at their end.
fn base64_words(text: &str) -> Vec<Range<usize>> {
    runs(text, base64_run)
}

fn base64_run(text: &[u8]) -> Option<usize> {
    let length = run_length(text, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
    });
    (length >= MIN_HEX).then_some(length)
}

/// Returns the runs that begin first, without overlaps, each with up to two `=` at its end.
fn runs(text: &str, run_at: impl Fn(&[u8]) -> Option<usize>) -> Vec<Range<usize>> {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        match run_at(&bytes[at..]) {
            Some(length) => {
                let end = at + length;
                let signs = bytes[end..]
                    .iter()
                    .take(2)
                    .take_while(|byte| **byte == b'=');
                let end = end + signs.count();
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn run_length(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    let end = text.iter().position(|byte| !is_part(*byte));
    end.unwrap_or(text.len())
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

/// Returns `true` if a text has a run of this many bytes.
fn has_run(text: &str, length: usize, is_part: fn(u8) -> bool) -> bool {
    let mut run = 0;
    text.bytes().any(|byte| {
        run = if is_part(byte) { run + 1 } else { 0 };
        run >= length
    })
}

/// Returns `true` for letters, digits, and signs of both alphabets of `base64`.
fn is_of_word_or_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-' | b'/')
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
    /// Texts, one of which every match has.
    const NEEDS: [&str; 29] = [
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
        "R0lGOD",
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
        "d09G",
        "T2dnUw",
        "SUQz",
        "ZkxhQ",
    ];
    if !NEEDS.iter().any(|need| text.contains(need)) {
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
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    fn matches_of(pattern: &str, text: &str) -> Vec<Range<usize>> {
        let pattern = Regex::new(pattern).expect("an expression");
        pattern.find_iter(text).map(|word| word.range()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn words_are_those_of_their_expressions(
            runs in prop::collection::vec("[a-zA-Z0-9]{0,40}[+_/=-]{0,3}[ é]{0,1}", 0..6)
        ) {
            let text = runs.concat();
            let word = "[A-Za-z0-9+_-]{20,}={0,2}|[A-Za-z0-9+/]{32,}={0,2}";
            prop_assert_eq!(words(&text), matches_of(word, &text));
            prop_assert_eq!(base64_words(&text), matches_of("[A-Za-z0-9+/]{32,}={0,2}", &text));
        }
    }

    #[test]
    fn digests_of_all_kinds_are_found() {
        let long = "Ab2".repeat(20);
        let prefixes = [
            "sha1-",
            "sha256-",
            "sha384-",
            "sha512-",
            "SHA256:",
            "h1:",
            "iVBORw0KGg",
            "/9j/4",
            "R0lGODlh",
            "R0lGODdh",
            "UklGR",
            "AAABAA",
            "PHN2Zy",
            "PD94bWwg",
            "UEsDB",
            "JVBERi0",
            "H4sIA",
            "H4sIC",
            "QlpoO",
            "KLUv/Q",
            "KLUv/S",
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
        let texts = prefixes.iter().map(|prefix| format!("{prefix}{long}"));
        let ids = [
            format!("Qm{}", &long[..44]),
            format!("bafk{}", "a".repeat(60)),
            format!("bafy{}", "a".repeat(60)),
        ];
        for text in texts.chain(ids) {
            assert_eq!(digests(&text).len(), 1, "{text}");
        }
    }
}
