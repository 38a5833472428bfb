//! Sanitizes texts of hooks for the history: removes parts of the input, masks private data, and
//! truncates.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Maximum number of characters of a class name.
pub(super) const MAX_CLASS_CHARS: usize = 100;

/// Maximum number of bytes of a text that are examined.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Minimum length of a piece of an input that is found in a text.
const MIN_PIECE: usize = 8;

/// Minimum length of an input that is found in a text if it occurs as a whole.
const MIN_WHOLE: usize = 4;

/// Minimum length of a word of an input that is found in a text of a hook.
const MIN_WORD: usize = 3;

/// Masks private data in a text: e-mail addresses, runs of seven and more digits, and texts that
/// look like a key, a password or a token.
///
/// ```
/// use hooks_script::mask;
///
/// assert_eq!(mask("mail to ada@example.org failed"), "mail to [e-mail] failed");
/// assert_eq!(mask("call +44 20 7946 0958"), "call [number]");
/// assert_eq!(mask("Authorization: Bearer abc.def"), "Authorization: [secret]");
/// assert_eq!(mask("SyntaxError at hook.js:12:7"), "SyntaxError at hook.js:12:7");
/// ```
pub fn mask(text: &str) -> String {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r#"(?i-u)(\b[a-z0-9_-]*(?:authorization|api[_-]?key|access[_-]?key|private[_-]?key|"#,
            r#"password|passwd|pwd|secret|token)["']?[ \t]*[:=][ \t]*)"#,
            r#"(?:(?:basic|bearer)[ \t]+)?(?:"[ -!#-~]*"|'[ -&(-~]*'|["']?[!#-&(-~]+["']?)"#,
            r#"|\b(bearer[ \t]+)[!#-&(-~]+|\b([a-z][a-z0-9+.-]*://)[!-.0-?A-~]+@"#,
        ))
    });
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"(?s-u)-----BEGIN [A-Z ]*PRIVATE KEY-----[ -~\t\r\n]*?(?:-----END [A-Z ]*KEY-----|\z)",
            r"|\b(?:sk|pk|rk|ghp|gho|ghs|xox[a-z])[_-][A-Za-z0-9_-]{8,}",
        ))
    });
    static MAIL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"[^ \t\r\n@<>"'`(),;:=]+@[^ \t\r\n@<>"'`(),;:=]+\.[^ \t\r\n@<>"'`(),;:=.]{2,}"#)
    });
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9_+=-]{20,}"));
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\+?\(?[0-9](?:[ ./()-]{0,2}[0-9]){6,}"));

    let text = KEY.replace_all(text, "[secret]");
    let text = NAMED.replace_all(&text, |found: &Captures<'_>| {
        let mut before = (1..=3).filter_map(|which| found.get(which));
        let before = before.next().map_or("", |name| name.as_str());
        let behind = if found[0].ends_with('@') { "@" } else { "" };
        format!("{before}[secret]{behind}")
    });
    let text = MAIL.replace_all(&text, "[e-mail]");
    let text = TOKEN.replace_all(&text, |found: &Captures<'_>| {
        // A token has letters and digits. Plain words are not tokens; the next pattern masks long
        // numbers.
        let has = |test: fn(&u8) -> bool| found[0].as_bytes().iter().any(test);
        let is_token = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        if is_token {
            "[secret]".to_owned()
        } else {
            found[0].to_owned()
        }
    });
    NUMBER.replace_all(&text, "[number]").into_owned()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is part of this file, and a test uses it")
}

/// Truncates a text to the examined length. The last word before the cut is removed too, because
/// half of a secret would not be recognised.
pub(super) fn truncate_to_limit(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let end = start.rfind(char::is_whitespace).unwrap_or(0);
    start[..end].to_owned()
}

/// Returns the first characters of a text, ending with `…` if the text is longer.
pub(super) fn truncate(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    kept.chain((most > 0).then_some('…')).collect()
}

/// Replaces the parts of a text that repeat an input, in any case, with `[input]`. If the source of
/// the text's author is given, also replaces single words that are not in that source.
pub(super) fn replace_inputs<'a>(
    text: &str,
    source: Option<&str>,
    input: impl Iterator<Item = (&'a String, &'a Value)>,
) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut found = FoundChars::new(text);
    if let Some(source) = source {
        found.find_words_except(source);
    }
    for (key, value) in input {
        found.find_input(key);
        found.find_all(value);
    }
    found.text()
}

/// Characters of a text that occur in an input.
struct FoundChars {
    text: Vec<char>,
    folded: Vec<char>,
    /// Places of each piece of the text, by its length beyond the minimum. Pieces shorter than the
    /// longest are padded with zeros.
    pieces: [Option<PieceIndex>; MIN_PIECE - MIN_WHOLE + 1],
    /// Hashes that occur among the longest pieces of the text.
    hashes: Vec<bool>,
    /// Words to find, with their places.
    words: HashMap<Vec<char>, Vec<Range<usize>>>,
    marked: Vec<bool>,
}

/// Rolling hash of the last [`MIN_PIECE`] characters.
#[derive(Default)]
struct RollingHash(u64);

impl RollingHash {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    /// Weight of the oldest character.
    const FIRST: u64 = Self::FACTOR.wrapping_pow(MIN_PIECE as u32);
    const BITS: u32 = 14;

    fn push(&mut self, new: char, gone: Option<char>) {
        let sum = self.0.wrapping_add(u64::from(new) + 1);
        let gone = gone.map_or(0, |gone| u64::from(gone) + 1);
        self.0 = sum
            .wrapping_mul(Self::FACTOR)
            .wrapping_sub(gone.wrapping_mul(Self::FIRST).wrapping_mul(Self::FACTOR));
    }

    fn bit(&self) -> usize {
        (self.0 >> (u64::BITS - Self::BITS)) as usize
    }
}

type PieceIndex = HashMap<[char; MIN_PIECE], Vec<usize>>;

fn padded(piece: &[char]) -> [char; MIN_PIECE] {
    let mut padded = ['\0'; MIN_PIECE];
    padded[..piece.len()].copy_from_slice(piece);
    padded
}

impl FoundChars {
    fn new(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let folded: Vec<char> = text.iter().copied().map(fold_case).collect();
        let marked = vec![false; text.len()];
        let mut hashes = vec![false; 1 << RollingHash::BITS];
        let mut hash = RollingHash::default();
        for (at, &character) in folded.iter().enumerate() {
            hash.push(
                character,
                at.checked_sub(MIN_PIECE).map(|first| folded[first]),
            );
            hashes[hash.bit()] |= at + 1 >= MIN_PIECE;
        }
        FoundChars {
            hashes,
            text,
            folded,
            pieces: Default::default(),
            words: HashMap::new(),
            marked,
        }
    }

    /// Also finds the words of the text, except those that occur in this source.
    fn find_words_except(&mut self, source: &str) {
        for place in words(&self.folded) {
            let word = self.folded[place.clone()].to_vec();
            self.words.entry(word).or_default().push(place);
        }
        let source: Vec<char> = source.chars().map(fold_case).collect();
        for place in words(&source) {
            self.words.remove(&source[place]);
        }
    }

    fn find_all(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.find_input(&number.to_string()),
            Value::String(text) => self.find_input(text),
            Value::Array(items) => items.iter().for_each(|item| self.find_all(item)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                self.find_input(key);
                self.find_all(value);
            }),
        }
    }

    fn find_input(&mut self, input: &str) {
        let input: Vec<char> = input.chars().map(fold_case).collect();
        if !self.words.is_empty() {
            for place in words(&input) {
                for place in self.words.remove(&input[place]).unwrap_or_default() {
                    self.marked[place].fill(true);
                }
            }
        }
        if input.len() < MIN_PIECE {
            self.mark(&input);
            return;
        }
        // An input may be a thousand times as long as the text. Most of its pieces need only this
        // hash lookup.
        let mut hash = RollingHash::default();
        for (at, &character) in input.iter().enumerate() {
            hash.push(
                character,
                at.checked_sub(MIN_PIECE).map(|first| input[first]),
            );
            if at + 1 >= MIN_PIECE && self.hashes[hash.bit()] {
                self.mark(&input[at + 1 - MIN_PIECE..=at]);
            }
        }
    }

    /// Marks every occurrence of a piece. The text is scanned once per length, independent of the
    /// number of pieces.
    fn mark(&mut self, piece: &[char]) {
        let length = piece.len();
        let Some(pieces) = length
            .checked_sub(MIN_WHOLE)
            .and_then(|n| self.pieces.get_mut(n))
        else {
            return;
        };
        let pieces = pieces.get_or_insert_with(|| {
            let mut pieces = PieceIndex::new();
            for (at, piece) in self.folded.windows(length).enumerate() {
                pieces.entry(padded(piece)).or_default().push(at);
            }
            pieces
        });
        // Each piece has to be marked only once.
        for at in pieces.remove(&padded(piece)).unwrap_or_default() {
            self.marked[at..at + length].fill(true);
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut inside = false;
        for (&character, &marked) in self.text.iter().zip(&self.marked) {
            if !marked {
                text.push(character);
            } else if !inside {
                text.push_str("[input]");
            }
            inside = marked;
        }
        text
    }
}

/// Returns the ranges of words with at least [`MIN_WORD`] characters.
fn words(text: &[char]) -> impl Iterator<Item = Range<usize>> {
    let runs = text.chunk_by(|one, next| one.is_alphanumeric() == next.is_alphanumeric());
    let mut end = 0;
    let runs = runs.map(move |run| {
        end += run.len();
        (run[0], end - run.len()..end)
    });
    runs.filter(|(first, place)| first.is_alphanumeric() && place.len() >= MIN_WORD)
        .map(|(_, place)| place)
}

fn fold_case(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn without(text: &str, input: Value) -> String {
        super::replace_inputs(text, None, input.as_object().unwrap().iter())
    }

    #[test]
    fn s_20_input_words_that_are_not_in_the_source_are_replaced() {
        let source = "throw new HookStopException('blocked word: ' + word)";
        let message = json!({"text": "Please murder the Butler, word by word; PIN 4711", "n": 815});
        for (text, clean) in [
            ("blocked word: please", "blocked word: [input]"),
            ("blocked word: BUTLER!", "blocked word: [input]!"),
            ("got PIN, 4711 and 815", "got [input], [input] and [input]"),
            ("by 15 of 47112 butlers", "by 15 of 47112 butlers"),
            ("input: murder", "input: [input]"),
        ] {
            let found =
                super::replace_inputs(text, Some(source), message.as_object().unwrap().iter());
            assert_eq!(found, clean);
        }
    }

    #[test]
    fn s_20_addresses_numbers_and_secrets_are_masked() {
        for (text, masked) in [
            (
                "from <Ada.Lovelace+x@mail.example.org>!",
                "from <[e-mail]>!",
            ),
            ("jürgen@bücher.example wrote", "[e-mail] wrote"),
            ("card 4111 1111-1111 1111.", "card [number]."),
            ("id 1234567", "id [number]"),
            ("+1 (555) 123-4567", "[number]"),
            ("password=hunter2 and more", "password=[secret] and more"),
            ("{\"api_key\": \"k\"}", "{\"api_key\": [secret]}"),
            ("TOKEN: xyz", "TOKEN: [secret]"),
            ("bearer abc", "bearer [secret]"),
            ("ghp_abcdEFGH1234abcdEFGH", "[secret]"),
            ("e3b0c44298fc1c149afbf4c8996fb924", "[secret]"),
            ("/x?access_token=abc", "/x?access_token=[secret]"),
            (
                "AWS_SECRET_ACCESS_KEY=a/b",
                "AWS_SECRET_ACCESS_KEY=[secret]",
            ),
            ("client_secret: 'a b c' is", "client_secret: [secret] is"),
            (
                r#"password="a b c" pwd=1"#,
                "password=[secret] pwd=[secret]",
            ),
            ("key sk-proj-abcdefgh", "key [secret]"),
            ("GET https://u:p@host/x", "GET https://[secret]@host/x"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- end",
                "[secret] end",
            ),
            ("-----BEGIN PRIVATE KEY-----\nabc", "[secret]"),
            ("eyJhbGciOiJIUzI1NiIsInR5.e30x", "[secret].e30x"),
        ] {
            assert_eq!(mask(text), masked, "{text}");
        }
    }

    #[test]
    fn s_20_technical_text_is_not_masked() {
        for text in [
            "TypeError: cannot read property 'length' of undefined",
            "    at checkTheMessageForForbiddenWords (hook.js:123456:12)",
            "expected 42 of 123456 bytes at 10:20:30",
            "a@b, a token of thanks, the password is wrong",
            "…äöü 🦀",
            "",
        ] {
            assert_eq!(mask(text), text);
        }
    }

    #[test]
    fn s_20_a_text_is_truncated_between_characters() {
        assert_eq!(truncate("äöü🦀x", 5), "äöü🦀x");
        assert_eq!(truncate("äöü🦀x", 4), "äöü…");
        assert_eq!(truncate("äöü🦀x", 1), "…");
        assert_eq!(truncate("äöü🦀x", 0), "");
        assert_eq!(truncate("", 0), "");
        let long = format!("start {}", "🦀".repeat(MAX_TEXT_BYTES));
        assert_eq!(truncate_to_limit(&long), "start");
        assert_eq!(truncate_to_limit(&long[6..]), "");
    }

    #[test]
    fn s_20_input_is_replaced_in_the_text_of_a_hook() {
        let message = json!({"text": "Meet me at the Harbour tonight", "n": 123456, "to": {"name": "Ada K"}, "short": "no"});
        for (text, clean) in [
            ("bad: Meet me at the Harbour tonight", "bad: [input]"),
            ("bad: MEET ME AT THE HARBOUR TONIGHT!", "bad: [input]!"),
            ("bad word: 'the Harbour'", "bad word: '[input]'"),
            (
                "Ada K and ada k in 123456",
                "[input] and [input] in [input]",
            ),
            ("no links", "no links"),
        ] {
            assert_eq!(without(text, message.clone()), clean);
        }
        let nested = json!({"a": [{"b": ["deeply hidden"]}], "a long key too": 1});
        assert_eq!(
            without("deeply hidden/a long key too", nested),
            "[input]/[input]"
        );
    }
}
