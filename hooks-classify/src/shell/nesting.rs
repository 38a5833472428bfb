//! Nesting: a text in, an upper bound of its depth out, before a recursive parser reads it.

/// Depth beyond which no text is parsed.
pub(crate) const MAX_NESTING: usize = 100;

/// Depth beyond which a text is parsed on a thread with a large stack.
pub(crate) const MAX_SHALLOW_NESTING: usize = 12;

/// Limit of `case` keywords: a parser may double its time with each.
const MAX_CASES: usize = 10;

/// Returns an upper bound of the depth: quoted brackets count, and keywords count as never closed.
pub(crate) fn nesting_bound(text: &str) -> usize {
    let mut open = 0usize;
    let mut deepest = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    let keywords = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| {
            matches!(
                *word,
                "if" | "while" | "until" | "for" | "case" | "select" | "function" | "coproc"
            )
        })
        .count();
    let cases = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| *word == "case")
        .count();
    if cases > MAX_CASES {
        return MAX_NESTING + 1;
    }
    let bangs = text.matches('!').count();
    deepest + keywords + bangs / 4
}
