//! Shell syntax for masking. Takes a command; returns the places at which a shell may run
//! something. These texts are always shown to the person who approves the command, even beside text
//! that looks like a secret.
//!
//! In doubt, text is assumed to run and is shown.

use std::ops::Range;

/// Places at which text that a shell may run begins or ends: operators, line breaks and
/// substitutions, in ascending order.
#[derive(Debug, Default)]
pub(super) struct CommandBoundaries {
    places: Vec<usize>,
    documents: Vec<Range<usize>>,
    /// Texts within quotes, in ascending order; they may be nested.
    quoted: Vec<Range<usize>>,
}

/// Construct around a place.
#[derive(Clone, Copy, PartialEq)]
enum ShellContext {
    Command,
    /// `( … )`
    Parens,
    /// `(( … ))`, in which `<<` does not start a here-document.
    Arithmetic,
    /// Up to the next backtick, regardless of quotes in between.
    Backticks,
    DoubleQuotes,
}

/// A here-document whose text begins on the next line.
struct HereDocument {
    delimiter: Vec<u8>,
    /// `<<-`
    is_indented: bool,
    /// If `true`, its text has no substitutions.
    is_quoted: bool,
}

impl CommandBoundaries {
    pub(super) fn of(text: &str) -> Self {
        let mut scan = ShellScanner {
            text: text.as_bytes(),
            at: 0,
            contexts: vec![ShellContext::Command],
            documents: Vec::new(),
            places: Vec::new(),
            document_texts: Vec::new(),
            quoted_texts: Vec::new(),
            opened: Vec::new(),
        };
        while scan.at < scan.text.len() {
            scan.step();
        }
        scan.places.sort_unstable();
        Self {
            places: scan.places,
            documents: scan.document_texts,
            quoted: scan.quoted_texts,
        }
    }

    /// Returns `true` if a place is within quotes or a here-document.
    pub(super) fn is_quoted(&self, place: usize) -> bool {
        let mut texts = self.quoted.iter().chain(&self.documents);
        texts.any(|text| text.contains(&place))
    }

    /// Returns the texts of the here-documents.
    pub(super) fn documents(&self) -> &[Range<usize>] {
        &self.documents
    }

    /// Returns `end`, or an earlier place at which text that may run begins.
    pub(super) fn end(&self, start: usize, end: usize) -> usize {
        let next = self.places.partition_point(|place| *place < start);
        self.places.get(next).map_or(end, |place| end.min(*place))
    }

    /// Returns `true` if the word around a place names the program: only assignments precede it in
    /// its command.
    pub(super) fn is_program(&self, text: &str, place: usize) -> bool {
        let mut start = self.word(text, place);
        if assigns(&text[start..place]) {
            return false;
        }
        loop {
            let before = text[..start].trim_end_matches([' ', '\t']);
            let Some((last, _)) = before.char_indices().next_back() else {
                return true;
            };
            if self.places.binary_search(&last).is_ok() {
                return true;
            }
            start = self.word(text, last);
            if !assigns(&before[start..]) {
                return false;
            }
        }
    }

    /// Returns the start of the word around a place.
    fn word(&self, text: &str, place: usize) -> usize {
        let blank = text[..place].rfind(char::is_whitespace);
        let blank = blank.map_or(0, |at| {
            at + text[at..].chars().next().map_or(1, char::len_utf8)
        });
        let before = self.places.partition_point(|other| *other < place);
        let operator = before.checked_sub(1).map_or(0, |at| self.places[at] + 1);
        blank.max(operator)
    }
}

/// Returns `true` if a word begins with an assignment.
fn assigns(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

struct ShellScanner<'t> {
    text: &'t [u8],
    at: usize,
    contexts: Vec<ShellContext>,
    documents: Vec<HereDocument>,
    places: Vec<usize>,
    /// Texts of the here-documents that were scanned.
    document_texts: Vec<Range<usize>>,
    quoted_texts: Vec<Range<usize>>,
    /// Starts of the open double quotes.
    opened: Vec<usize>,
}

impl ShellScanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn step(&mut self) {
        let around = *self.contexts.last().unwrap_or(&ShellContext::Command);
        match (around, self.text[self.at]) {
            (_, b'\\') => self.at += 2,
            (_, b'`') => {
                self.places.push(self.at);
                match around {
                    ShellContext::Backticks => drop(self.contexts.pop()),
                    _ => self.contexts.push(ShellContext::Backticks),
                }
                self.at += 1;
            }
            (_, b'$') if self.peek(1) == Some(b'(') => {
                self.places.push(self.at);
                self.at += 1;
                self.open();
            }
            (ShellContext::DoubleQuotes, b'"') => {
                self.contexts.pop();
                if let Some(start) = self.opened.pop() {
                    self.quoted_texts.push(start..self.at);
                }
                self.at += 1;
            }
            (ShellContext::DoubleQuotes, _) => self.at += 1,
            (ShellContext::Backticks, b'\'' | b'"') => self.at += 1,
            (_, b'"') => {
                self.contexts.push(ShellContext::DoubleQuotes);
                self.at += 1;
                self.opened.push(self.at);
            }
            (_, b'\'') => self.quoted(1, false),
            (_, b'$') if self.peek(1) == Some(b'\'') => self.quoted(2, true),
            (_, b'#') if self.begins_a_word() => {
                let rest = &self.text[self.at..];
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            }
            (_, b'(') => self.open(),
            (_, b')') => {
                self.places.push(self.at);
                if matches!(around, ShellContext::Parens | ShellContext::Arithmetic) {
                    self.contexts.pop();
                }
                self.at += 1;
            }
            (_, b'<') => {
                self.places.push(self.at);
                let arrows = self.text[self.at..]
                    .iter()
                    .take_while(|b| **b == b'<')
                    .count();
                self.at += arrows;
                if arrows == 2 && around != ShellContext::Arithmetic {
                    self.parse_delimiter();
                }
            }
            (_, b'\n') => {
                self.places.push(self.at);
                self.at += 1;
                for document in std::mem::take(&mut self.documents) {
                    self.skip_document(&document);
                }
            }
            (_, b';' | b'&' | b'|' | b'>') => {
                self.places.push(self.at);
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    fn begins_a_word(&self) -> bool {
        self.at.checked_sub(1).is_none_or(|before| {
            matches!(
                self.text[before],
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')'
            )
        })
    }

    fn open(&mut self) {
        let is_second = self.at > 0 && self.text[self.at - 1] == b'(';
        self.places.push(self.at);
        self.contexts.push(match is_second {
            true => ShellContext::Arithmetic,
            false => ShellContext::Parens,
        });
        self.at += 1;
    }

    /// Skips a single-quoted text whose opening quote ends after `open` bytes.
    fn quoted(&mut self, open: usize, has_escapes: bool) {
        self.at += open;
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            self.at += match byte {
                b'\\' if has_escapes => 2,
                _ => 1,
            };
            if byte == b'\'' {
                self.quoted_texts.push(start..self.at - 1);
                return;
            }
        }
    }

    /// Parses the delimiter of a here-document.
    fn parse_delimiter(&mut self) {
        let is_indented = self.peek(0) == Some(b'-');
        self.at += usize::from(is_indented);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let (mut quote, mut is_quoted) = (None, false);
        while let Some(byte) = self.peek(0) {
            match (quote, byte) {
                (_, b'\n') => break,
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => delimiter.push(byte),
                (None, b'\'' | b'"') => (quote, is_quoted) = (Some(byte), true),
                (None, b'\\') => is_quoted = true,
                (None, b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => break,
                (None, _) => delimiter.push(byte),
            }
            self.at += 1;
        }
        self.documents.push(HereDocument {
            delimiter,
            is_indented,
            is_quoted,
        });
    }

    /// Skips the text of a here-document, in which only substitutions run. An unterminated
    /// here-document is treated as commands.
    fn skip_document(&mut self, document: &HereDocument) {
        let mut line = self.at;
        let end = loop {
            let Some(rest) = self.text.get(line..).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let mut text = &rest[..length];
            while let (true, [b'\t', behind @ ..]) = (document.is_indented, text) {
                text = behind;
            }
            if text == document.delimiter {
                break line;
            }
            line += length + 1;
        };
        self.document_texts.push(self.at..end);
        while self.at < end && !document.is_quoted {
            match self.text[self.at] {
                b'\\' => self.at += 1,
                b'`' => self.places.push(self.at),
                b'$' if self.peek(1) == Some(b'(') => self.places.push(self.at),
                _ => {}
            }
            self.at += 1;
        }
        self.at = end + document.delimiter.len();
    }
}

#[cfg(test)]
mod tests {
    use super::CommandBoundaries;

    /// Each line is a command; `¦` precedes every text that may run, except its first word.
    #[test]
    fn command_boundaries_precede_every_text_that_may_run() {
        for line in [
            "a b",
            "a¦; b ¦&¦& c ¦| d",
            "a ';' \";\" \\; b",
            "a $';\\';' b",
            "a \"¦$¦(b¦)\" c",
            "a 'x'¦\nb # it's; c¦\nd",
            "a#b';'",
            "a ¦`b '¦;' c¦` d",
            "a ¦> b",
            "cat ¦<< E ¦> f¦\nx; 'y ¦$(z) ¦`w¦`\nE¦\nb",
            "cat ¦<<'E'¦\nx $(z)\nE¦\nb",
            "cat ¦<<-E¦\n\tx; y\n\tE¦\nb",
            // Unterminated.
            "cat ¦<<E¦\nx¦; y",
            "a ¦$¦(¦(1¦<<x¦)¦)¦\nb¦\nx",
            "cat ¦<<< 'a; b'¦; c",
        ] {
            let text = line.replace('¦', "");
            let mut want = Vec::new();
            let mut at = 0;
            for piece in line.split_inclusive('¦') {
                at += piece.trim_end_matches('¦').len();
                if piece.ends_with('¦') {
                    want.push(at);
                }
            }
            assert_eq!(CommandBoundaries::of(&text).places, want, "{line}");
        }
    }

    #[test]
    fn only_the_first_word_of_a_command_is_its_program() {
        for (command, word, is) in [
            ("shutdown now", "shutdown", true),
            ("A=b shutdown now", "shutdown", true),
            ("a; /sbin/shutdown", "shutdown", true),
            ("a \"$(shutdown)\"", "shutdown", true),
            ("sudo shutdown", "shutdown", false),
            ("é shutdown", "shutdown", false),
            ("A=é\u{a0}b shutdown", "shutdown", false),
            ("A=é shutdown", "shutdown", true),
            ("a --token=shutdown", "shutdown", false),
        ] {
            let place = command.find(word).unwrap();
            assert_eq!(
                CommandBoundaries::of(command).is_program(command, place),
                is,
                "{command}"
            );
        }
    }
}
