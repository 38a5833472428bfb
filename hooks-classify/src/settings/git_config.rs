//! Reads the configuration of git by the rules of `config.c` in git 2.45 and later.
//!
//! The crate `gix-config` depends on 39 crates that this crate does not need, among them the object
//! database, and reads `[section.sub]` in another way.

use std::iter::Peekable;
use std::str::Chars;

use super::tree::Settings;
use super::value::{SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    GitReader {
        chars: text.chars().peekable(),
        line: 1,
        is_at_end: false,
    }
    .read(settings)
}

struct GitReader<'a> {
    chars: Peekable<Chars<'a>>,
    /// Line of the next character, from 1.
    line: usize,
    is_at_end: bool,
}

impl GitReader<'_> {
    fn read(mut self, settings: &mut Settings) -> Result<(), SettingsError> {
        let mut parent = None;
        let mut is_comment = false;
        loop {
            let line = self.line;
            match self.next() {
                '\n' if self.is_at_end => return Ok(()),
                '\n' => is_comment = false,
                _ if is_comment => {}
                c if is_space(c) => {}
                '#' | ';' => is_comment = true,
                '[' => {
                    let (section, subsection) = self.section().ok_or_else(|| error(line))?;
                    let node = settings.add_collection(None, section.as_str(), line)?;
                    parent = Some(match subsection {
                        None => node,
                        Some(name) => settings.add_collection(Some(node), name.as_str(), line)?,
                    });
                }
                c if c.is_ascii_alphabetic() => {
                    let (name, text) = self.variable(c).ok_or_else(|| error(line))?;
                    let value = match text {
                        Some(text) => SettingValue::new(SettingKind::Untyped, text, line),
                        // A variable without `=` is true.
                        None => SettingValue::new(SettingKind::Boolean, "true", line),
                    };
                    settings.add(parent, name.as_str(), value)?;
                }
                _ => return Err(error(line)),
            }
        }
    }

    /// Returns the next character. `\r\n` is a line break, and so is the end of the text.
    fn next(&mut self) -> char {
        match self.chars.next() {
            Some('\r') if self.chars.next_if_eq(&'\n').is_some() => {
                self.line += 1;
                '\n'
            }
            Some('\n') => {
                self.line += 1;
                '\n'
            }
            Some(c) => c,
            None => {
                self.is_at_end = true;
                '\n'
            }
        }
    }

    /// Reads a section after its `[`: the section in small letters, and the subsection.
    fn section(&mut self) -> Option<(String, Option<String>)> {
        let mut name = String::new();
        let mut quoted = None;
        loop {
            match self.next() {
                _ if self.is_at_end => return None,
                ']' => break,
                c if is_space(c) => {
                    quoted = Some(self.quoted_subsection(c)?);
                    break;
                }
                c if is_name(c) || c == '.' => name.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
        if name.is_empty() && quoted.is_none() {
            return None;
        }
        // `[a.b "c"]` is the section `a` with the subsection `b.c`.
        Some(match (name.split_once('.'), quoted) {
            (None, quoted) => (name, quoted),
            (Some((section, rest)), None) => (section.to_owned(), Some(rest.to_owned())),
            (Some((section, rest)), Some(quoted)) => {
                (section.to_owned(), Some(format!("{rest}.{quoted}")))
            }
        })
    }

    /// Reads blanks, a quoted subsection and `]`.
    fn quoted_subsection(&mut self, first: char) -> Option<String> {
        let mut c = first;
        while is_space(c) {
            if c == '\n' {
                return None;
            }
            c = self.next();
        }
        if c != '"' {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.next() {
                '\n' => return None,
                '"' => break,
                '\\' => match self.next() {
                    '\n' => return None,
                    c => name.push(c),
                },
                c => name.push(c),
            }
        }
        (self.next() == ']').then_some(name)
    }

    /// Reads a variable after its first character: the name in small letters, and the value.
    fn variable(&mut self, first: char) -> Option<(String, Option<String>)> {
        let mut name = first.to_ascii_lowercase().to_string();
        let mut c = self.next();
        while is_name(c) {
            name.push(c.to_ascii_lowercase());
            c = self.next();
        }
        while c == ' ' || c == '\t' {
            c = self.next();
        }
        match c {
            '\n' => Some((name, None)),
            '=' => Some((name, Some(self.value()?))),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        let (mut is_quoted, mut is_comment) = (false, false);
        // Length without the blanks at the end.
        let mut trimmed = None;
        loop {
            match self.next() {
                '\n' if is_quoted => return None,
                '\n' => {
                    value.truncate(trimmed.unwrap_or(value.len()));
                    return Some(value);
                }
                _ if is_comment => {}
                c if is_space(c) && !is_quoted => {
                    if !value.is_empty() {
                        trimmed.get_or_insert(value.len());
                        value.push(c);
                    }
                }
                '#' | ';' if !is_quoted => is_comment = true,
                c => {
                    trimmed = None;
                    match c {
                        '"' => is_quoted = !is_quoted,
                        '\\' => match self.next() {
                            '\n' => {}
                            't' => value.push('\t'),
                            'b' => value.push('\u{8}'),
                            'n' => value.push('\n'),
                            c @ ('\\' | '"') => value.push(c),
                            _ => return None,
                        },
                        c => value.push(c),
                    }
                }
            }
        }
    }
}

fn error(line: usize) -> SettingsError {
    SettingsError::syntax(line, "bad config line")
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}
