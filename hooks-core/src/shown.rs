//! Texts of others, made safe to show.

/// The text on one line, safe for a terminal, a table and a log; all that prints as it is, stays.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            // `char::escape_debug` would also escape these, which hide nothing.
            ' '..='~' => shown.push(character),
            _ if is_blank(character) => shown.extend(character.escape_unicode()),
            // Escapes what is not printable: Cc, Cf, Co, Cn, Zl, Zp and every
            // space but the ordinary one, and marks that join what is before
            // them, variation selectors included.
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Letters and symbols that print as nothing, which no general category tells.
pub fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
    )
}
