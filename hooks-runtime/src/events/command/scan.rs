//! Finds JSON objects in text, and removes what surrounds them on terminals and in files.

use std::ops::Range;

use serde::de::IgnoredAny;

pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Maximum number of broken objects with several lines whose lines are searched again.
const MAX_BROKEN: usize = 16;

/// Returns the places of the JSON objects that are not part of another object, and the error of the
/// last other `{`.
///
/// After an error, the search continues at the next line, which a broken object may have swallowed.
/// After [`MAX_BROKEN`] of them it continues at the place of the error, or at the last line if the
/// object is incomplete: the time is linear in the length.
pub(crate) fn find_objects(text: &[u8]) -> (Vec<Range<usize>>, Option<serde_json::Error>) {
    let (mut objects, mut broken) = (Vec::new(), None);
    let last_line = line_start(text.trim_ascii_end());
    let (mut at, mut searched_again) = (0, 0);
    while let Some(offset) = text[at..].iter().position(|byte| *byte == b'{') {
        let start = at + offset;
        let rest = &text[start..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        at = match values.next() {
            Some(Ok(_)) => {
                let end = start + values.byte_offset();
                objects.push(start..end);
                end
            }
            Some(Err(error)) => {
                let length = match error.is_eof() {
                    true => rest.len(),
                    false => error_offset(rest, &error).saturating_sub(1).max(1),
                };
                let line = rest[..length].iter().position(|byte| *byte == b'\n');
                let next = match line {
                    Some(line) if searched_again < MAX_BROKEN => {
                        searched_again += 1;
                        start + line
                    }
                    _ if error.is_eof() && start < last_line => last_line,
                    _ => start + length,
                };
                broken = Some(error);
                next
            }
            None => text.len(),
        };
    }
    (objects, broken)
}

/// Returns the start of the last line.
pub(crate) fn line_start(text: &[u8]) -> usize {
    let line = text.iter().rposition(|byte| *byte == b'\n');
    line.map_or(0, |at| at + 1)
}

/// Returns the place of an error, or the place after it.
fn error_offset(text: &[u8], error: &serde_json::Error) -> usize {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let before = lines.by_ref().take(error.line().saturating_sub(1));
    before.map(<[u8]>::len).sum::<usize>() + error.column()
}

/// Returns the text of an output in UTF-16. Without a byte order mark, UTF-16 has an ASCII character
/// at the start, and an object.
pub(crate) fn utf_16_as_utf_8(output: &[u8]) -> Option<Vec<u8>> {
    let (is_little_endian, is_marked) = match output {
        [0xff, 0xfe, ..] => (true, true),
        [0xfe, 0xff, ..] => (false, true),
        [1..=0x7f, 0, ..] => (true, false),
        [0, 1..=0x7f, ..] => (false, false),
        _ => return None,
    };
    let (pairs, rest) = output.split_at(output.len() - output.len() % 2);
    if !rest.is_empty() {
        return None;
    }
    let units = pairs.chunks_exact(2).map(|pair| match is_little_endian {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let text = text.ok().filter(|text| is_marked || text.contains('{'));
    text.map(String::into_bytes)
}

/// Removes the control sequences of terminals that begin with `ESC [`, `ESC (` or `ESC )`. JSON never
/// contains them, because its texts have no unescaped control characters.
pub(crate) fn without_colour_codes(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == ESCAPE) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let length = colour_code_len(rest);
        if length == 0 {
            plain.push(ESCAPE);
        }
        rest = &rest[length.max(1)..];
    }
    plain.extend_from_slice(rest);
    plain
}

const ESCAPE: u8 = 0x1b;

/// Returns the length of the control sequence at the start of the text, or 0.
fn colour_code_len(text: &[u8]) -> usize {
    match text {
        [ESCAPE, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'?'));
            let parameters = parameters.count();
            match rest.get(parameters) {
                Some(end) if end.is_ascii_alphabetic() => 2 + parameters + 1,
                _ => 0,
            }
        }
        [ESCAPE, b'(' | b')', set, ..] if set.is_ascii_alphanumeric() => 3,
        _ => 0,
    }
}

/// Removes white space and byte order marks from both ends.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    loop {
        let shorter = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let shorter = shorter.strip_suffix(BYTE_ORDER_MARK).unwrap_or(shorter);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter.trim_ascii();
    }
}

pub(crate) fn is_blank(text: &[u8]) -> bool {
    trim(text).is_empty()
}

/// Returns `true` if text that is not JSON has a member with the name `action`, in a notation of JSON,
/// JavaScript or Python, or in JSON within a JSON string.
pub(crate) fn names_action(text: &[u8]) -> bool {
    const NAME: &[u8] = b"action";
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\''));
    let is_member = |at: usize| {
        let (before, after) = (&text[..at], &text[at + NAME.len()..]);
        let escapes = after.iter().take_while(|byte| **byte == b'\\').count();
        let after = &after[escapes..];
        let (is_named, after) = match is_quote(after.first()) {
            true => (is_quote(before.last()), &after[1..]),
            false => {
                let before = before.trim_ascii_end();
                (matches!(before.last(), Some(b'{' | b',')), after)
            }
        };
        is_named && after.trim_ascii_start().starts_with(b":")
    };
    let names = text.windows(NAME.len()).enumerate();
    names
        .filter(|(_, word)| *word == NAME)
        .any(|(at, _)| is_member(at))
}
