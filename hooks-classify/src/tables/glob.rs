//! Patterns of names: a pattern of a table and a name in, `true` out if they match. The name may be
//! a pattern of the shell, or unknown in part.

use crate::model::arg::UNKNOWN;
pub(crate) use crate::model::wildcard::matches;

/// Returns `true` if some name fits both a pattern of the shell and a pattern of a table. A
/// wildcard of the shell fits no leading dot.
pub(super) fn shell_glob_matches(word: &str, pattern: &str) -> bool {
    let hidden = pattern.starts_with('.') && word.starts_with(['*', '?', '[']);
    if hidden || ends_differ(word, pattern) {
        return false;
    }
    let word = word.replace(UNKNOWN, "*");
    globs_overlap(word.as_bytes(), pattern.as_bytes())
}

/// Returns `true` if the text before the first wildcards, or behind the last ones, differs.
fn ends_differ(word: &str, pattern: &str) -> bool {
    let start = word.split(is_wildcard_or_unknown).next().unwrap_or("");
    let pattern_start = pattern.split('*').next().unwrap_or("");
    if !start.starts_with(pattern_start) && !pattern_start.starts_with(start) {
        return true;
    }
    let last = word.char_indices().rev();
    let mut last = last.filter(|(_, c)| is_wildcard_or_unknown(*c));
    let end = match last.next() {
        // The end of a set of characters is not the end of the text.
        Some((_, '[')) => return false,
        Some((at, c)) => &word[at + c.len_utf8()..],
        None => word,
    };
    let pattern_end = pattern.rsplit('*').next().unwrap_or("");
    !end.ends_with(pattern_end) && !pattern_end.ends_with(end)
}

/// Returns `true` for characters of a word that may stand for other characters: wildcards of the
/// shell and [`UNKNOWN`].
pub(super) fn is_wildcard_or_unknown(c: char) -> bool {
    matches!(c, '*' | '?' | '[') || c == UNKNOWN
}

/// Returns `true` if some name fits both a pattern of the shell and a pattern of a table.
pub(super) fn globs_overlap(mut word: &[u8], pattern: &[u8]) -> bool {
    // Positions in `pattern` that the bytes of `word` so far may reach.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    loop {
        for at in 0..pattern.len() {
            reached[at + 1] |= reached[at] && pattern[at] == b'*';
        }
        let [byte, rest @ ..] = word else {
            return reached[pattern.len()];
        };
        word = rest;
        if *byte == b'*' {
            let first = reached.iter().position(|is| *is);
            reached[first.unwrap_or(pattern.len() + 1).min(pattern.len())..].fill(first.is_some());
            continue;
        }
        let any = matches!(byte, b'?' | b'[');
        if *byte == b'['
            && let Some(end) = word.iter().position(|byte| *byte == b']')
        {
            word = &word[end + 1..];
        }
        let mut next = vec![false; pattern.len() + 1];
        for (at, other) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            let star = *other == b'*';
            next[at] |= star;
            next[at + 1] |= !star && (any || byte == other);
        }
        reached = next;
    }
}
