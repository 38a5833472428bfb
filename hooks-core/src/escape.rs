//! Escapes foreign text for display.

/// Returns the text on one line, safe for a terminal, a table and a log; printable characters stay.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // `char::escape_debug` would also escape these harmless characters.
            ' '..='~' => shown.push(character),
            _ if is_blank(character) => shown.extend(character.escape_unicode()),
            // Escapes characters that are not printable (Cc, Cf, Co, Cn, Zl, Zp, every space except
            // U+0020), and combining marks, including variation selectors.
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Returns `true` for letters and symbols without a glyph, which have no general category of their
/// own.
pub fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
    )
}
