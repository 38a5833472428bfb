//! Patterns with `*`: a pattern and a text in, `true` out if they match.

/// Returns `true` if a text fits a pattern in which `*` matches any characters. Compares the ends first,
/// because most texts differ there.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let differs = |of_pattern: Option<&u8>, of_text: Option<&u8>| {
        of_pattern.is_some_and(|byte| *byte != b'*') && of_pattern != of_text
    };
    let (bytes, text_bytes) = (pattern.as_bytes(), text.as_bytes());
    if differs(bytes.last(), text_bytes.last()) || differs(bytes.first(), text_bytes.first()) {
        return false;
    }
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = text.strip_prefix(head);
    let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(tail)) else {
        return false;
    };
    middle.split('*').all(|part| {
        let at = inner.find(part);
        inner = at.map_or("", |at| &inner[at + part.len()..]);
        at.is_some()
    })
}
