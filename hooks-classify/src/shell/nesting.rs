//! How deeply a text nests, before any parser that recurses sees it.

/// Deeper than this nothing is parsed.
pub(crate) const CAP: usize = 100;

/// Deeper than this, parsing happens on a thread with a large stack.
pub(crate) const SHALLOW: usize = 12;

/// More `case` than this, and a parser may take time that doubles with each.
const CASES: usize = 10;

/// An upper bound of the depth: brackets are counted whether or not they are
/// quoted, and keywords as if none of them were ever closed by its `fi`.
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
