//! Patterns with `*`: a pattern and a text in, `true` out if they match.

/// Returns `true` if a text fits a pattern in which `*` matches any characters.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    matches_bytes(pattern.as_bytes(), text.as_bytes())
}

/// Returns `true` if the text after some `/` fits a pattern in which `*` matches any characters.
pub(crate) fn matches_below(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let Some(star) = pattern.iter().position(|byte| *byte == b'*') else {
        let above = text.strip_suffix(pattern);
        return above.is_some_and(|above| above.ends_with(b"/"));
    };
    // If a pattern with a `*` fits after a later `/`, it also fits after the first one before its head.
    let head = &pattern[..star];
    let mut below = (0..text.len()).filter(|at| text[*at] == b'/');
    let start = below.find(|at| text[at + 1..].starts_with(head));
    start.is_some_and(|at| matches_bytes(pattern, &text[at + 1..]))
}

fn matches_bytes(pattern: &[u8], text: &[u8]) -> bool {
    let Some(star) = pattern.iter().position(|byte| *byte == b'*') else {
        return pattern == text;
    };
    let (head, rest) = (&pattern[..star], &pattern[star + 1..]);
    let (middle, tail) = match rest.iter().rposition(|byte| *byte == b'*') {
        Some(star) => (&rest[..star], &rest[star + 1..]),
        None => (&[][..], rest),
    };
    let inner = text.strip_prefix(head);
    let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(tail)) else {
        return false;
    };
    let mut parts = middle.split(|byte| *byte == b'*');
    parts.all(|part| {
        let at = (0..=inner.len()).find(|at| inner[*at..].starts_with(part));
        inner = at.map_or(&[], |at| &inner[at + part.len()..]);
        at.is_some()
    })
}
