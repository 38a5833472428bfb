//! Where in a source something stands that the compiler names without saying where.

use crate::run::Position;

/// The words and texts of a source with their places, comments left out. Good enough to point
/// at a word; the compiler decides what the source means.
fn tokens(source: &str) -> Vec<(usize, &str)> {
    let bytes = source.as_bytes();
    let is_word =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += source[at..].find('\n').unwrap_or(source.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2 + source[at + 2..]
                    .find("*/")
                    .map_or(source.len() - at - 2, |end| end + 2);
            }
            quote @ (b'"' | b'\'' | b'`') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                if let Some(text) = source.get(start..at) {
                    tokens.push((start, text));
                }
            }
            byte if is_word(byte) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                tokens.push((start, &source[start..at]));
            }
            _ => at += 1,
        }
    }
    tokens
}

/// The place of a byte of the source.
fn position(source: &str, at: usize) -> Position {
    let before = &source[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Position {
        line: before.matches('\n').count() as u32 + 1,
        column: (at - line_start) as u32 + 1,
    }
}

/// The text that names the module which is imported.
pub(crate) fn of_import(source: &str, module: &str) -> Option<Position> {
    let named = |text: &str| {
        let inner = text.strip_prefix(['"', '\'', '`']);
        inner.and_then(|text| text.strip_suffix(['"', '\'', '`'])) == Some(module)
    };
    let found = tokens(source).into_iter().find(|(_, token)| named(token));
    found.map(|(at, _)| position(source, at))
}

/// The export of this name, or the first one; the beginning of a source that has none.
pub(crate) fn of_export(source: &str, name: Option<&str>) -> Position {
    let tokens = tokens(source);
    let exports = || {
        tokens
            .iter()
            .enumerate()
            .filter(|(_, (_, token))| *token == "export")
    };
    let named = name.and_then(|name| {
        exports().find_map(|(index, _)| {
            let rest = tokens[index + 1..].iter();
            let mut statement = rest.take_while(|(_, token)| *token != "export");
            statement.find(|(_, token)| *token == name)
        })
    });
    let at = named.map(|(at, _)| *at);
    let first = || exports().next().map_or(0, |(_, (at, _))| *at);
    position(source, at.unwrap_or_else(first))
}

#[cfg(test)]
mod tests {
    use super::{of_export, of_import};
    use crate::run::Position;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn an_import_is_found_where_it_is_written_and_not_in_a_comment() {
        let source = "// from \"fs\"\n/* 'fs' */ import x from 'fs';\n";
        assert_eq!(of_import(source, "fs"), Some(at(2, 26)));
        assert_eq!(of_import("", "fs"), None);
    }

    #[test]
    fn an_export_is_found_by_its_name_behind_the_word() {
        let source = "const helper = 1;\nexport default () => helper;\nexport { helper };\n";
        assert_eq!(of_export(source, Some("helper")), at(2, 22));
        assert_eq!(of_export("/* é */ export default 5", None), at(1, 10));
        assert_eq!(of_export("let a;", None), at(1, 1));
    }

    #[test]
    fn sources_that_end_in_the_middle_are_no_trouble() {
        for source in [
            "'", "\"\\", "`a\\", "/*", "/", "//", "export", "é'é", "'\\é",
        ] {
            of_import(source, "x");
            of_export(source, Some("x"));
        }
    }
}
