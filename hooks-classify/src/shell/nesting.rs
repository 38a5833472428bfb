//! Nesting: a text in, an upper bound of its depth out, before a recursive parser reads it.

/// Depth beyond which no text is parsed.
pub(crate) const CAP: usize = 100;

/// Depth beyond which a text is parsed on a thread with a large stack.
pub(crate) const SHALLOW: usize = 12;

/// Limit of `case` keywords: a parser may double its time with each.
const CASES: usize = 10;

/// Returns an upper bound of the depth: quoted brackets count, and keywords count as never closed.
pub(crate) fn depth(text: &str) -> usize {
    let mut open = 0usize;
    let mut most = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                open += 1;
                most = most.max(open);
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
    if cases > CASES {
        return CAP + 1;
    }
    let bangs = text.matches('!').count();
    most + keywords + bangs / 4
}
