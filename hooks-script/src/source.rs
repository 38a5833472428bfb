//! Finds positions in a source for errors that the compiler reports without one, and its names and
//! strings. A tokenizer goes through the source; the result is a line and a column, or a list.

use crate::position::Position;

/// Token of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// Includes the quotes. For a template, the parts outside of `${}`.
    Text(&'s str),
    Expression(&'s str),
    Sign(char),
}

/// Words that are followed by a value rather than an operator.
const BEFORE_A_VALUE: &[&str] = &[
    "await",
    "case",
    "default",
    "delete",
    "do",
    "else",
    "extends",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

impl Token<'_> {
    /// Returns `true` if a `/` after this token starts a regular expression rather than a division.
    /// After `)` and `}` only a parser could decide; the more likely case is returned.
    fn is_before_a_value(self) -> bool {
        match self {
            Token::Word(word) => BEFORE_A_VALUE.contains(&word),
            Token::Text(_) | Token::Expression(_) => false,
            Token::Sign(sign) => !matches!(sign, ')' | ']'),
        }
    }

    /// Returns the value of a word or a string.
    fn says(self) -> Option<String> {
        match self {
            Token::Word(word) => Some(unescaped(word)),
            Token::Text(text) => {
                let inner = text.strip_prefix(['"', '\'', '`'])?;
                Some(unescaped(inner.strip_suffix(['"', '\'', '`'])?))
            }
            Token::Expression(_) | Token::Sign(_) => None,
        }
    }
}

/// Returns a word or a string with its escapes resolved.
fn unescaped(text: &str) -> String {
    let mut unescaped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        unescaped.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escaped) = rest.chars().next() else {
            break;
        };
        rest = &rest[escaped.len_utf8()..];
        let digits = match (escaped, rest.strip_prefix('{')) {
            ('u', Some(braced)) => braced.split_once('}'),
            ('u', None) => rest.split_at_checked(4),
            ('x', _) => rest.split_at_checked(2),
            _ => None,
        };
        let code = digits.and_then(|(digits, _)| u32::from_str_radix(digits, 16).ok());
        match (escaped, digits, code.and_then(char::from_u32)) {
            (_, Some((_, behind)), Some(character)) => {
                unescaped.push(character);
                rest = behind;
            }
            ('n', ..) => unescaped.push('\n'),
            ('r', ..) => unescaped.push('\r'),
            ('t', ..) => unescaped.push('\t'),
            ('b', ..) => unescaped.push('\u{8}'),
            ('v', ..) => unescaped.push('\u{b}'),
            ('f', ..) => unescaped.push('\u{c}'),
            ('0', ..) => unescaped.push('\0'),
            ('\n' | '\u{2028}' | '\u{2029}', ..) => {}
            (other, ..) => unescaped.push(other),
        }
    }
    unescaped + rest
}

/// Tokenizes a source, without comments. It is precise enough to locate a word; the compiler
/// defines the meaning of the source.
fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let is_word = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\' | '\u{200c}' | '\u{200d}')
    };
    let mut tokens: Vec<(usize, Token<'_>)> = Vec::new();
    // Open braces; `true` for those of a template.
    let mut braces = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let ends_template = first == '}' && braces.last() == Some(&true);
        let is_value = || {
            tokens
                .last()
                .is_none_or(|(_, token)| token.is_before_a_value())
        };
        let length = if rest.starts_with("//") {
            rest.find(LINE_ENDS).unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if matches!(first, '"' | '\'' | '`') || ends_template {
            let quote = if ends_template { '`' } else { first };
            if ends_template {
                braces.pop();
            }
            let length = text_length(rest, quote);
            if quote == '`' && rest[..length].ends_with("${") {
                braces.push(true);
            }
            tokens.push((at, Token::Text(&rest[..length])));
            length
        } else if first == '/' && is_value() {
            let length = expression_length(rest);
            let flags = rest[length..].find(|c| !is_word(c));
            let length = flags.map_or(rest.len(), |flags| length + flags);
            tokens.push((at, Token::Expression(&rest[..length])));
            length
        } else if is_word(first) {
            let mut length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            // `\u{61}` in a name.
            while rest[..length].ends_with("\\u") && rest[length..].starts_with('{') {
                let Some(end) = rest[length..].find('}') else {
                    break;
                };
                length += end + 1;
                let more = rest[length..].find(|c| !is_word(c));
                length = more.map_or(rest.len(), |more| length + more);
            }
            tokens.push((at, Token::Word(&rest[..length])));
            length
        } else {
            match first {
                '{' => braces.push(false),
                '}' => drop(braces.pop()),
                _ => {}
            }
            if !first.is_whitespace() && first != '\u{feff}' {
                tokens.push((at, Token::Sign(first)));
            }
            first.len_utf8()
        };
        at += length;
    }
    tokens
}

/// Returns the length of a string whose first character is a quote; for a template, up to `${`.
fn text_length(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '$' if quote == '`' && rest[at..].starts_with("${") => return at + 2,
            _ if character == quote => return at + 1,
            // Only a template may continue on the next line.
            '\r' | '\n' if quote != '`' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length up to the slash that ends a regular expression, without its flags.
fn expression_length(rest: &str) -> usize {
    let mut in_class = false;
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return at + 1,
            _ if LINE_ENDS.contains(&character) => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Line terminators; the first two also as a pair. Strings may contain the others.
const LINE_ENDS: [char; 4] = ['\r', '\n', '\u{2028}', '\u{2029}'];

/// Converts a byte offset to a position.
fn position(source: &str, at: usize) -> Position {
    let before = &source[..at];
    let last = before.char_indices().rfind(|(_, c)| LINE_ENDS.contains(c));
    let line_start = last.map_or(0, |(end, c)| end + c.len_utf8());
    let (ends, pairs) = (before.matches(LINE_ENDS), before.matches("\r\n"));
    Position {
        line: (ends.count() - pairs.count()) as u32 + 1,
        column: (at - line_start) as u32 + 1,
    }
}

/// Returns `true` if a name or a string of the source, outside comments, is `name`.
pub(crate) fn contains_name(source: &str, name: &str) -> bool {
    let mut tokens = tokens(source).into_iter();
    tokens.any(|(_, token)| token.says().as_deref() == Some(name))
}

/// Returns the strings of the source, each once, in the order of the source. Templates with `${}`
/// are left out, because their value is unknown.
pub(crate) fn strings(source: &str) -> Vec<String> {
    let mut strings = Vec::new();
    for (_, token) in tokens(source) {
        if let (Token::Text(_), Some(string)) = (token, token.says())
            && !strings.contains(&string)
        {
            strings.push(string);
        }
    }
    strings
}

/// Returns the position of the string that names the imported module.
pub(crate) fn of_import(source: &str, module: &str) -> Option<Position> {
    let tokens = tokens(source);
    let found = tokens.iter().enumerate().find(|(index, (_, token))| {
        let mut before = tokens[..*index].iter().rev().map(|(_, token)| *token);
        let imports = match before.next() {
            Some(Token::Word("from" | "import")) => true,
            Some(Token::Sign('(')) => before.next() == Some(Token::Word("import")),
            _ => false,
        };
        imports && matches!(token, Token::Text(_)) && token.says().as_deref() == Some(module)
    });
    found.map(|(_, (at, _))| position(source, *at))
}

/// Returns the number of open brackets after a token.
fn depth_behind(token: Token<'_>, depth: usize) -> usize {
    match token {
        Token::Sign('{' | '(' | '[') => depth + 1,
        Token::Sign('}' | ')' | ']') => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Returns the tokens after each `export` of a module. Properties named `export` are skipped.
fn exports<'t, 's>(tokens: &'t [(usize, Token<'s>)]) -> Vec<(usize, &'t [(usize, Token<'s>)])> {
    let mut depth = 0;
    let mut found = Vec::new();
    for (index, (at, token)) in tokens.iter().enumerate() {
        if depth == 0 && *token == Token::Word("export") {
            found.push((*at, &tokens[index + 1..]));
        }
        depth = depth_behind(*token, depth);
    }
    found
}

/// Returns the tokens after `export` if they are a list, up to its end.
fn list<'t, 's>(statement: &'t [(usize, Token<'s>)]) -> Option<&'t [(usize, Token<'s>)]> {
    let (_, Token::Sign('{')) = statement.first()? else {
        return None;
    };
    let end = |(_, token): &(usize, Token<'_>)| *token == Token::Sign('}');
    Some(&statement[1..=statement.iter().position(end)?])
}

/// Returns the offset at which the tokens after an `export` declare this name.
fn named(statement: &[(usize, Token<'_>)], name: &str) -> Option<usize> {
    let says = |&&(_, token): &&(usize, Token<'_>)| token.says().as_deref() == Some(name);
    let found = match statement.first()?.1 {
        // `{ this as that, other }`: the last word of each.
        Token::Sign('{') => {
            let ends = |token| matches!(token, Token::Sign(',' | '}'));
            let names = list(statement)?.windows(2);
            let mut names = names.filter(|pair| ends(pair[1].1)).map(|pair| &pair[0]);
            names.find(says)
        }
        Token::Word("const" | "let" | "var") => {
            let (mut depth, mut is_name) = (0, true);
            statement[1..].iter().find(|entry| {
                depth = depth_behind(entry.1, depth);
                match entry.1 {
                    Token::Sign('=') if depth == 0 => is_name = false,
                    Token::Sign(',') if depth == 0 => is_name = true,
                    _ => {}
                }
                is_name && says(entry)
            })
        }
        // `default`, `* as this`, `async function* this`, `class this`.
        _ => {
            let head = statement.iter();
            let mut head = head.take_while(|(_, token)| !matches!(token, Token::Sign('(' | '{')));
            head.find(says)
        }
    };
    found.map(|(at, _)| *at)
}

/// Returns the export of this name or, by default, the first one; the start of the source if there
/// is none.
pub(crate) fn of_export(source: &str, name: Option<&str>) -> Position {
    let tokens = tokens(source);
    let exports = exports(&tokens);
    let mut statements = exports.iter().map(|(_, statement)| *statement);
    let named = name.and_then(|name| statements.find_map(|statement| named(statement, name)));
    let first = || exports.first().map_or(0, |(at, _)| *at);
    position(source, named.unwrap_or_else(first))
}

/// Returns the second default export.
pub(crate) fn of_second_default(source: &str) -> Option<Position> {
    let tokens = tokens(source);
    let exports = exports(&tokens);
    let defaults = exports
        .iter()
        .filter_map(|(_, statement)| match statement.first() {
            Some((at, Token::Word("default"))) => Some(*at),
            _ => None,
        });
    defaults.skip(1).map(|at| position(source, at)).next()
}

/// Returns the position of a regular expression with this text.
pub(crate) fn of_expression(source: &str, expression: &str) -> Option<Position> {
    let found = tokens(source)
        .into_iter()
        .find(|(_, token)| *token == Token::Expression(expression));
    found.map(|(at, _)| position(source, at))
}

/// Returns the position of the name that the compiler quotes in its message: its export, its use as
/// an undeclared private name, or else its first occurrence.
pub(crate) fn of_quoted(source: &str, message: &str) -> Option<Position> {
    let name = message.split('\'').nth(1).filter(|name| !name.is_empty())?;
    let tokens = tokens(source);
    let is_named = |(_, token): &&(usize, Token<'_>)| token.says().as_deref() == Some(name);
    let found = if message.contains("export") {
        let exports = exports(&tokens);
        let mut listed = exports.iter().filter_map(|(_, it)| list(it)).flatten();
        listed.find(is_named).map(|(at, _)| *at)
    } else {
        undeclared(&tokens, name)
    };
    let first = || tokens.iter().find(is_named).map(|(at, _)| *at);
    found.or_else(first).map(|at| position(source, at))
}

/// Returns the offset of a private name that is used outside of every class that declares it.
fn undeclared(tokens: &[(usize, Token<'_>)], name: &str) -> Option<usize> {
    // Every open bracket, with the index of its class if it opens a class body.
    let mut open: Vec<Option<usize>> = Vec::new();
    // Number of brackets that are open where a class begins.
    let mut begins = None;
    let mut declared = Vec::new();
    let mut used = Vec::new();
    for (index, (at, token)) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| tokens[before].1);
        let behind = tokens.get(index + 1).map(|(_, token)| *token);
        match token {
            Token::Word("class") if before != Some(Token::Sign('.')) => begins = Some(open.len()),
            Token::Sign('{') if begins == Some(open.len()) => {
                begins = None;
                open.push(Some(index));
            }
            Token::Sign('{' | '(' | '[') => open.push(None),
            Token::Sign('}' | ')' | ']') => drop(open.pop()),
            Token::Word(_) if token.says().as_deref() == Some(name) => {
                let is_use = before == Some(Token::Sign('.')) || behind == Some(Token::Word("in"));
                match open.last() {
                    Some(Some(class)) if !is_use => declared.push(*class),
                    _ => used.push((*at, open.clone())),
                }
            }
            _ => {}
        }
    }
    let is_declared = |around: &[Option<usize>]| {
        let mut classes = around.iter().flatten();
        classes.any(|class| declared.contains(class))
    };
    used.into_iter()
        .find(|(_, around)| !is_declared(around))
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::{
        contains_name, of_export, of_expression, of_import, of_quoted, of_second_default, strings,
    };
    use crate::position::Position;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn names_and_strings_are_found_outside_comments() {
        let source = r#"// out "a"
            switch (m["t\u006fol"]) { case 'write': case `edit`: return { ...m, [`a${'b'}c`]: /out/ }; }
            /* stop */ f('write')"#;
        assert_eq!(strings(source), ["tool", "write", "edit", "b"]);
        for (name, is_found) in [("tool", true), ("m", true), ("out", false), ("stop", false)] {
            assert_eq!(contains_name(source, name), is_found, "{name}");
        }
        assert!(contains_name("({ out }) => 1", "out"));
    }

    #[test]
    fn an_import_is_found_outside_comments() {
        let source = "// from \"fs\"\n/* 'fs' */ import x from 'fs';\n";
        assert_eq!(of_import(source, "fs"), Some(at(2, 26)));
        assert_eq!(of_import("", "fs"), None);
    }

    #[test]
    fn an_export_is_found_by_its_name_after_the_keyword() {
        let source = "const helper = 1;\nexport default () => helper;\nexport { helper };\n";
        assert_eq!(of_export(source, Some("helper")), at(3, 10));
        assert_eq!(of_export("/* é */ export default 5", None), at(1, 10));
        assert_eq!(of_export("let a;", None), at(1, 1));
    }

    #[test]
    fn the_position_of_an_export_is_its_name_in_the_export_statement() {
        for (source, name, line, column) in [
            (
                "const n = 1;\nexport default () => n;\nexport { n as m, n };",
                "n",
                3,
                18,
            ),
            (
                "export default () => { const version = 1; };\nexport const a = [1, 2], version = 2",
                "version",
                2,
                26,
            ),
            ("export const { a, b: [c] } = f(() => { c; });", "c", 1, 23),
            (
                "export default 1; export async function* run() {}",
                "run",
                1,
                42,
            ),
            ("export * as all from 'x'", "all", 1, 13),
            (
                "class A { export() { default: 1 } }\nexport default 1",
                "default",
                2,
                8,
            ),
            ("export function f(a) {}\nexport { a }", "a", 2, 10),
        ] {
            assert_eq!(of_export(source, Some(name)), at(line, column), "{source}");
        }
        let source = "class A { export(){} default(){} export(){} }\nexport default 1";
        assert_eq!(of_second_default(source), None);
    }

    #[test]
    fn a_private_name_is_found_at_its_undeclared_use() {
        let message = "undefined private field '#y'";
        for (source, line, column) in [
            (
                "class B { #y; z() { return this.#y } }\n\nclass A { m() { return this.#y } }",
                3,
                29,
            ),
            (
                "const s = '#y';\nclass A { m() { class B { #y } return #y in this } }",
                2,
                39,
            ),
            ("class A extends f({}) { #x = this.#y }", 1, 35),
            (
                "class A { m() { return class { n() { this.#y } } } }",
                1,
                43,
            ),
        ] {
            assert_eq!(
                of_quoted(source, message),
                Some(at(line, column)),
                "{source}"
            );
        }
    }

    #[test]
    fn line_terminators_match_the_compiler() {
        for end in ["\u{2028}", "\u{2029}"] {
            // Strings may contain these terminators.
            let source = format!("// export default{end}'{end}'{end}export default 5");
            assert_eq!(of_export(&source, None), at(4, 1), "{end:?}");
        }
        for end in ["\n", "\r", "\r\n"] {
            let source = format!("// export default{end}{end}'x{end}export default 5");
            assert_eq!(of_export(&source, None), at(4, 1), "{end:?}");
        }
    }

    #[test]
    fn an_import_is_a_string_after_the_keyword() {
        let source = "const r = 'y', from = 1;\n\nimport x from 'y'";
        assert_eq!(of_import(source, "y"), Some(at(3, 15)));
        assert_eq!(
            of_import("import 'a\\u0062\\u{63}\\x64'", "abcd"),
            Some(at(1, 8))
        );
        assert_eq!(of_import("await import('y')", "y"), Some(at(1, 14)));
        assert_eq!(of_import("const i = 'y'; await import(i)", "y"), None);
        for before in [
            "/'/g",
            "/[/']/",
            "1 / 2",
            "`'${`'`}'`",
            "'\\''",
            "a[0] / b / '/'",
        ] {
            let source = format!("const a = {before};\nimport x from 'y'");
            assert_eq!(of_import(&source, "y"), Some(at(2, 15)), "{before}");
        }
    }

    #[test]
    fn exported_names_may_be_strings_and_a_byte_order_mark_is_skipped() {
        let source = "const a = 1;\n\nexport { a as 'a-b' }";
        assert_eq!(of_export(source, Some("a-b")), at(3, 15));
        assert_eq!(
            of_export("\u{feff}export default 5", Some("default")),
            at(1, 11)
        );
        assert_eq!(
            of_export("const q = /\"/;\nexport { hook }", Some("hook")),
            at(2, 10)
        );
    }

    #[test]
    fn names_quoted_in_a_message_are_found() {
        let source = "let nope1;\nexport { nope as default };";
        let message = "exported variable 'nope' does not exist";
        assert_eq!(of_quoted(source, message), Some(at(2, 10)));
        let source = "class A {\n  f() { this.#y; } }";
        assert_eq!(
            of_quoted(source, "undefined private field '#y'"),
            Some(at(2, 14))
        );
        assert_eq!(of_quoted(source, "something else"), None);
        assert_eq!(
            of_expression("let a = 1 / 2;\n  /x/gg", "/x/gg"),
            Some(at(2, 3))
        );
        let source = "export default 1;\nexport default 2;";
        assert_eq!(of_second_default(source), Some(at(2, 8)));
        assert_eq!(of_second_default("export default 1;"), None);
    }

    #[test]
    fn truncated_sources_do_not_panic() {
        for source in [
            "'", "\"\\", "`a\\", "/*", "/", "//", "export", "é'é", "'\\é", "/[", "`${", "}",
            "\\u{", "'\\u{", "'\\",
        ] {
            of_import(source, "x");
            of_export(source, Some("x"));
            of_quoted(source, "'x'");
        }
    }
}
