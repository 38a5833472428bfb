//! Words: the source of a word in, its quoted and unquoted pieces and its expansions out.
//!
//! The parsers report the ends of substitutions (`ends`). This module scans for the ends that they
//! do not report, such as the end of a substitution inside `${x:-…}`.

use crate::model::script::{
    DefaultWord, ParameterOperator, ShellWord, SubstitutionText, WordPiece,
};
use crate::model::span::Span;

/// Meaning of quotes in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QuoteMode {
    /// A word of a command.
    Word,
    /// Text with literal quotes and with expansions: a here-document.
    Document,
    /// `[[ … ]]`, `((…))`, the inside of `${…}`: quotes quote, blanks are literal.
    Expression,
    /// The inside of a `${…}` in double quotes: single quotes are literal, or quote, by shell.
    QuotedOperator,
}

impl QuoteMode {
    /// Returns the meaning of quotes in the text of `[ … ]`, in which a process substitution runs.
    pub(crate) fn of_test(text: &str) -> Self {
        match text.contains("<(") || text.contains(">(") {
            true => Self::Word,
            false => Self::Expression,
        }
    }
}

/// Ends of substitutions by their starts, in bytes of the source.
pub(crate) type SubstitutionEnds<'a> = &'a dyn Fn(usize) -> Option<usize>;

/// Splits `source[from..to]` into pieces.
pub(crate) fn lex_word(
    source: &str,
    from: usize,
    to: usize,
    mode: QuoteMode,
    ends: SubstitutionEnds<'_>,
) -> ShellWord {
    let mut lexer = Lexer {
        source,
        at: from,
        to,
        ends,
        pieces: Vec::new(),
    };
    lexer.run(mode);
    ShellWord {
        pieces: lexer.pieces,
        span: Span::new(from, to),
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    to: usize,
    ends: SubstitutionEnds<'a>,
    pieces: Vec<WordPiece>,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &str {
        self.source.get(self.at..self.to).unwrap_or("")
    }

    fn push_text(&mut self, new: &str, quoted: bool) {
        match self.pieces.last_mut() {
            Some(WordPiece::Text {
                text,
                quoted: before,
            }) if *before == quoted => text.push_str(new),
            _ => self.pieces.push(WordPiece::Text {
                text: new.to_owned(),
                quoted,
            }),
        }
    }

    /// Begins a piece at a quote. In an expression all text counts as quoted, and an empty piece keeps
    /// the text before the quote apart.
    fn push_quotes(&mut self, mode: QuoteMode) {
        self.push_text("", mode != QuoteMode::Expression);
    }

    fn run(&mut self, mode: QuoteMode) {
        while let Some(next) = self.peek() {
            match next {
                '\\' => {
                    self.at += 1;
                    let Some(escaped) = self.peek() else {
                        self.push_text("\\", true);
                        continue;
                    };
                    self.at += escaped.len_utf8();
                    let mut buffer = [0; 4];
                    if mode == QuoteMode::Document && !matches!(escaped, '$' | '`' | '\\' | '\n') {
                        self.push_text("\\", true);
                    }
                    if escaped != '\n' {
                        self.push_text(escaped.encode_utf8(&mut buffer), true);
                    }
                }
                '\'' if mode == QuoteMode::QuotedOperator => {
                    self.at += 1;
                    self.push_text("'", true);
                }
                '\'' if mode != QuoteMode::Document => {
                    self.at += 1;
                    let length = self.rest().find('\'').unwrap_or(self.rest().len());
                    let inside = self.rest()[..length].to_owned();
                    self.at += (length + 1).min(self.to - self.at);
                    self.push_quotes(mode);
                    self.push_text(&inside, true);
                }
                '"' if mode != QuoteMode::Document => {
                    self.at += 1;
                    self.push_quotes(mode);
                    self.double_quoted();
                }
                '$' => self.expansion(false, mode),
                '`' => self.backquoted(mode == QuoteMode::Document),
                '<' | '>' if mode == QuoteMode::Word && self.rest()[1..].starts_with('(') => {
                    let start = self.at + 2;
                    let end = self.closing_bracket(self.at);
                    self.pieces.push(WordPiece::ProcessSubstitution {
                        text: self.substitution_text(start, end),
                    });
                    self.at = (end + 1).min(self.to);
                }
                _ => {
                    let stop = self
                        .rest()
                        .char_indices()
                        .skip(1)
                        .find(|(_, c)| matches!(c, '\\' | '\'' | '"' | '$' | '`' | '<' | '>'))
                        .map_or(self.rest().len(), |(i, _)| i);
                    let plain = self.rest()[..stop].to_owned();
                    self.at += stop;
                    self.push_text(&plain, mode != QuoteMode::Word);
                }
            }
        }
    }

    /// Reads the inside of double quotes and the closing quote.
    fn double_quoted(&mut self) {
        while let Some(next) = self.peek() {
            match next {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    self.at += 1;
                    let Some(escaped) = self.peek() else { return };
                    self.at += escaped.len_utf8();
                    if !matches!(escaped, '$' | '`' | '"' | '\\' | '\n') {
                        self.push_text("\\", true);
                    }
                    if escaped != '\n' {
                        self.push_text(escaped.encode_utf8(&mut [0; 4]), true);
                    }
                }
                '$' => self.expansion(true, QuoteMode::Document),
                '`' => self.backquoted(true),
                _ => {
                    let stop = self
                        .rest()
                        .find(['"', '\\', '$', '`'])
                        .unwrap_or(self.rest().len());
                    let plain = self.rest()[..stop].to_owned();
                    self.at += stop;
                    self.push_text(&plain, true);
                }
            }
        }
    }

    fn expansion(&mut self, quoted: bool, mode: QuoteMode) {
        let rest = &self.rest()[1..];
        let quoted = quoted || mode == QuoteMode::Document;
        match rest.chars().next() {
            Some('(') if rest.starts_with("((") && self.closing_arithmetic().is_some() => {
                let end = self.closing_arithmetic().unwrap_or(self.to);
                let inner = lex_word(
                    self.source,
                    self.at + 3,
                    end,
                    QuoteMode::Expression,
                    self.ends,
                );
                self.pieces.push(WordPiece::Arithmetic {
                    inner,
                    bracketed: false,
                });
                self.at = (end + 2).min(self.to);
            }
            Some('(') => {
                let start = self.at + 2;
                let end = self.closing_bracket(self.at);
                let text = self.substitution_text(start, end);
                self.pieces
                    .push(WordPiece::CommandSubstitution { text, quoted });
                self.at = (end + 1).min(self.to);
            }
            Some('[') => {
                let end = self.rest().find(']').map_or(self.to, |i| self.at + i);
                let inner = lex_word(
                    self.source,
                    (self.at + 2).min(end),
                    end,
                    QuoteMode::Expression,
                    self.ends,
                );
                self.pieces.push(WordPiece::Arithmetic {
                    inner,
                    bracketed: true,
                });
                self.at = (end + 1).min(self.to);
            }
            Some('{') => self.braced_parameter(quoted),
            Some('\'')
                if !quoted && !matches!(mode, QuoteMode::Document | QuoteMode::QuotedOperator) =>
            {
                self.at += 2;
                let text = self.ansi_c_quoted();
                self.push_text(&text, true);
            }
            Some('"') if !quoted => {
                self.at += 2;
                self.push_text("", true);
                self.double_quoted();
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len());
                let name = rest[..length].to_owned();
                self.at += 1 + length;
                self.push_bare_variable(name, quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 2;
                self.push_bare_variable(c.into(), quoted);
            }
            _ => {
                self.at += 1;
                self.push_text("$", true);
            }
        }
    }

    /// Adds a variable without braces, and the `[…]` after it as its subscript.
    fn push_bare_variable(&mut self, name: String, quoted: bool) {
        let subscript = self.rest().starts_with('[').then(|| {
            let end = find_closing_bracket(self.source, self.at, self.to, b'[', b']');
            let inner = QuoteMode::Expression;
            Box::new(lex_word(self.source, self.at + 1, end, inner, self.ends))
        });
        self.pieces.push(WordPiece::Variable {
            name,
            operator: ParameterOperator::None,
            quoted,
            subscript,
        });
    }

    /// Reads `${…}`.
    fn braced_parameter(&mut self, quoted: bool) {
        let open = self.at + 1;
        let start = self.at + 2;
        let end = self.closing_brace(start);
        let inside = self.source.get(start..end).unwrap_or("");
        // In zsh, `${=name}` is split, also in quotes, and `${~name}` and `${^name}` are patterns.
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let without_marks = inside.trim_start_matches(['=', '~', '^']);
        let (start, inside, quoted) = match without_marks.starts_with(name) {
            true if without_marks.len() < inside.len() => {
                (end - without_marks.len(), without_marks, false)
            }
            _ => (start, inside, quoted),
        };
        let mark = usize::from(inside.starts_with(['!', '#']) && inside.len() > 1);
        let length = inside[mark..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(inside.len() - mark);
        let length = if length == 0 {
            inside[mark..].chars().next().map_or(0, char::len_utf8)
        } else {
            length
        };
        let name = inside[mark..mark + length].to_owned();
        let after = start + mark + length;
        let operator = self.source.get(after..end).unwrap_or("");
        // A process substitution runs in the word of an operator, too.
        let has_process = !quoted && (operator.contains("<(") || operator.contains(">("));
        let word_mode = match has_process {
            true => QuoteMode::Word,
            false => QuoteMode::Expression,
        };
        // In zsh, `=(…)` runs a command and is the name of a file with its output.
        let word = operator.trim_start_matches([':', '+', '-', '=', '?']);
        let has_file_of_output = !quoted && operator.len() > word.len() && {
            let operators = &operator[..operator.len() - word.len()];
            word.contains("=(")
                || word.starts_with('(') && operators.trim_start_matches(':').len() > 1
        };
        let operator = if has_file_of_output {
            ParameterOperator::Disputed(lex_word(self.source, after, end, word_mode, self.ends))
        } else if mark == 1 {
            let rest = lex_word(self.source, after, end, QuoteMode::Expression, self.ends);
            match inside.starts_with('#') {
                true => ParameterOperator::Length(rest),
                false => ParameterOperator::Indirect(rest),
            }
        } else if operator.is_empty() {
            ParameterOperator::None
        } else if quoted && operator.contains('\'') {
            let mode = QuoteMode::QuotedOperator;
            let word = lex_word(self.source, after, end, mode, self.ends);
            let other_end = find_bracket(self.source, open, self.to, (b'{', b'}'), false);
            let assigns = operator.trim_start_matches(':').starts_with('=');
            // Where single quotes quote, something else may be expanded.
            let expands_other = || {
                let mode = QuoteMode::Expression;
                let quoting = lex_word(self.source, after, end, mode, self.ends);
                let is_text = |piece: &WordPiece| matches!(piece, WordPiece::Text { .. });
                let mut pieces = quoting.pieces.iter();
                pieces.any(|piece| !is_text(piece) && !word.pieces.contains(piece))
            };
            match other_end != end || assigns || expands_other() {
                true => ParameterOperator::Disputed(word),
                // The quotes may be a part of the value.
                false => ParameterOperator::Other(word),
            }
        } else if let Some(skip) = [":-", ":=", "-", "="]
            .iter()
            .find(|o| operator.starts_with(**o))
        {
            let from = after + skip.len();
            let default = DefaultWord {
                word: lex_word(self.source, from, end, word_mode, self.ends),
                replaces_empty: skip.starts_with(':'),
            };
            match skip.ends_with('=') {
                true => ParameterOperator::Assign(default),
                false => ParameterOperator::Default(default),
            }
        } else {
            ParameterOperator::Other(lex_word(self.source, after, end, word_mode, self.ends))
        };
        self.at = (end + 1).min(self.to);
        self.pieces.push(WordPiece::Variable {
            name,
            operator,
            quoted,
            subscript: None,
        });
    }

    fn backquoted(&mut self, quoted: bool) {
        let mut text = String::new();
        let start = self.at;
        self.at += 1;
        while let Some(next) = self.peek() {
            self.at += next.len_utf8();
            match next {
                '`' => break,
                '\\' => match self.peek() {
                    Some(c @ ('$' | '`' | '\\')) => {
                        self.at += 1;
                        text.push(c);
                    }
                    Some('"') if quoted => {
                        self.at += 1;
                        text.push('"');
                    }
                    _ => text.push('\\'),
                },
                _ => text.push(next),
            }
        }
        let same = self.source.get(start + 1..start + 1 + text.len()) == Some(text.as_str());
        let at = same.then_some(start + 1);
        self.pieces.push(WordPiece::CommandSubstitution {
            text: SubstitutionText { text, start: at },
            quoted,
        });
    }

    /// Reads the inside of `$'…'` and the closing quote.
    fn ansi_c_quoted(&mut self) -> String {
        let mut bytes = Vec::new();
        while let Some(next) = self.peek() {
            self.at += next.len_utf8();
            match next {
                '\'' => break,
                '\\' => {
                    let Some(kind) = self.peek() else { break };
                    self.at += kind.len_utf8();
                    self.ansi_c_escape(kind, &mut bytes);
                }
                _ => bytes.extend(next.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn ansi_c_escape(&mut self, kind: char, bytes: &mut Vec<u8>) {
        let simple = match kind {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => kind as u8,
            '0'..='7' => {
                self.at -= 1;
                self.escaped_number(8, 3) as u8
            }
            'x' => self.escaped_number(16, 2) as u8,
            'u' | 'U' => {
                let code = self.escaped_number(16, if kind == 'u' { 4 } else { 8 });
                let c = char::from_u32(code).unwrap_or('\u{fffd}');
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                return;
            }
            'c' => {
                let c = self.peek().unwrap_or('@');
                self.at += c.len_utf8();
                (c as u32 as u8) & 0x1f
            }
            _ => {
                bytes.push(b'\\');
                bytes.extend(kind.encode_utf8(&mut [0; 4]).bytes());
                return;
            }
        };
        bytes.push(simple);
    }

    fn escaped_number(&mut self, radix: u32, max_digits: usize) -> u32 {
        let mut value = 0u32;
        for _ in 0..max_digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }

    fn substitution_text(&self, start: usize, end: usize) -> SubstitutionText {
        let text = self.source.get(start..end).unwrap_or("").to_owned();
        SubstitutionText {
            text,
            start: Some(start),
        }
    }

    /// Returns the closing bracket of the substitution that starts at `start`.
    fn closing_bracket(&self, start: usize) -> usize {
        if let Some(end) = (self.ends)(start)
            && end <= self.to
            && end > start
        {
            return end - 1;
        }
        find_closing_bracket(self.source, start + 1, self.to, b'(', b')')
    }

    fn closing_brace(&self, start: usize) -> usize {
        find_closing_bracket(self.source, start - 1, self.to, b'{', b'}')
    }

    /// Returns the `))` of a `$((`. `$((` may also open a substitution with a subshell, which
    /// closes with `) )`.
    fn closing_arithmetic(&self) -> Option<usize> {
        let inner = find_closing_bracket(self.source, self.at + 2, self.to, b'(', b')');
        self.source
            .as_bytes()
            .get(inner + 1)
            .filter(|b| **b == b')' && inner + 1 < self.to)
            .map(|_| inner)
    }
}

/// Returns the bracket that closes the bracket at `open`, outside quotes; `to` if it is missing.
pub(super) fn find_closing_bracket(
    source: &str,
    open: usize,
    to: usize,
    opening: u8,
    closing: u8,
) -> usize {
    find_bracket(source, open, to, (opening, closing), true)
}

/// Returns the closing bracket as [`find_closing_bracket`]; single quotes quote only if
/// `single_quotes` is `true`.
fn find_bracket(
    source: &str,
    open: usize,
    to: usize,
    (opening, closing): (u8, u8),
    single_quotes: bool,
) -> usize {
    let bytes = source.as_bytes();
    let mut depth = 0usize;
    let mut at = open;
    let mut documents = Vec::new();
    while at < to {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' if single_quotes => {
                at += 1;
                while at < to && bytes[at] != b'\'' {
                    at += 1;
                }
            }
            b'"' => {
                at += 1;
                while at < to && bytes[at] != b'"' {
                    if bytes[at] == b'\\' {
                        at += 1;
                    }
                    if bytes[at.min(to - 1)] == b'$' && bytes.get(at + 1) == Some(&b'(') {
                        at = find_closing_bracket(source, at + 1, to, b'(', b')');
                    }
                    at += 1;
                }
            }
            b'<' if opening == b'('
                && bytes[at..to].starts_with(b"<<")
                && bytes.get(at + 2) != Some(&b'<') =>
            {
                documents.extend(here_document_delimiter(&source[at + 2..to]));
                at += 1;
            }
            b'<' if bytes[at..to].starts_with(b"<<<") => at += 2,
            b'\n' if !documents.is_empty() => {
                at = skip_here_documents(source, at, to, &mut documents)
            }
            b'#' if opening == b'(' && bytes[at - 1].is_ascii_whitespace() => {
                while at + 1 < to && bytes[at + 1] != b'\n' {
                    at += 1;
                }
            }
            byte if byte == opening => depth += 1,
            byte if byte == closing => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    to
}

/// Returns the end word of a here-document, after its `<<`.
fn here_document_delimiter(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
    let length = rest
        .find(|c: char| c.is_whitespace() || ";&|<>()".contains(c))
        .unwrap_or(rest.len());
    let word: String = rest[..length]
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    (!word.is_empty()).then_some(word)
}

/// Returns the end of the here-documents that begin after the line break at `at`.
fn skip_here_documents(source: &str, at: usize, to: usize, documents: &mut Vec<String>) -> usize {
    let mut place = at;
    for end in documents.drain(..) {
        loop {
            let start = place + 1;
            if start >= to {
                return to;
            }
            let length = source[start..to].find('\n').unwrap_or(to - start);
            place = start + length;
            if source[start..place].trim() == end {
                break;
            }
        }
    }
    // The line break after the last line may begin the bodies of further documents.
    place.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::find_closing_bracket;

    #[test]
    fn a_substitution_ends_after_its_here_documents() {
        let text = "(cat <<'E'\ndon't (\nE\n)x";
        assert_eq!(
            find_closing_bracket(text, 0, text.len(), b'(', b')'),
            text.len() - 2
        );
    }
}
