//! Reads `.yarnrc` as yarn 1 does: with the parser of its lockfile, and as YAML if that fails.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::tree::Settings;
use super::value::{SettingKind, SettingValue, SettingsError, SettingsFormat};
use super::yaml;

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let rest = match read_lockfile_syntax(text, settings) {
        Ok(rest) => rest,
        Err(error @ SettingsError::Syntax { .. }) => return read_yaml(text, settings, error),
        Err(error) => return Err(error),
    };
    // yarn ignores what follows a wrong indentation at the top level.
    let is_blank = |token: &Token| matches!(token, Token::Newline | Token::Indent(_));
    match rest.into_iter().find(|(token, _)| !is_blank(token)) {
        Some((_, line)) => Err(SettingsError::syntax(line, "wrong indentation")),
        None => Ok(()),
    }
}

/// Reads a text that has an error as YAML.
fn read_yaml(
    text: &str,
    settings: &mut Settings,
    error: SettingsError,
) -> Result<(), SettingsError> {
    *settings = Settings::new(SettingsFormat::YarnRc);
    match yaml::read(text, settings) {
        // YAML takes any text for one value.
        Ok(()) if settings.len() > 0 => Ok(()),
        Err(error @ (SettingsError::TooDeep { .. } | SettingsError::TooManyCopies { .. })) => {
            Err(error)
        }
        _ => Err(error),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Newline,
    /// Blanks at the start of a line, in pairs.
    Indent(usize),
    Colon,
    Comma,
    Text(String),
    Number(String),
    Boolean(bool),
}

/// A [`Token`] with its line.
type TokenOnLine = (Token, usize);

/// Reads the text up to the first key with a wrong indentation, and returns the rest.
fn read_lockfile_syntax(
    text: &str,
    settings: &mut Settings,
) -> Result<Vec<TokenOnLine>, SettingsError> {
    let mut parser = YarnParser {
        tokens: tokens(text)?.into_iter().peekable(),
        settings,
    };
    parser.read_table(None, 0)?;
    Ok(parser.tokens.collect())
}

fn tokens(text: &str) -> Result<Vec<TokenOnLine>, SettingsError> {
    let mut tokens = Vec::new();
    let (mut rest, mut line, mut is_line_start) = (text, 1, false);
    while let Some(first) = rest.chars().next() {
        let token_line = line;
        let (length, token) = match first {
            '\n' | '\r' => {
                // yarn reads two line feeds as one.
                let length = if rest[1..].starts_with('\n') { 2 } else { 1 };
                line += if rest.starts_with("\n\n") { 2 } else { 1 };
                (length, Some(Token::Newline))
            }
            '#' => (rest.find('\n').unwrap_or(rest.len()), None),
            ' ' if is_line_start => {
                let length = rest.len() - rest.trim_start_matches(' ').len();
                if length % 2 == 1 {
                    return Err(SettingsError::syntax(line, "an odd number of blanks"));
                }
                (length, Some(Token::Indent(length / 2)))
            }
            ' ' => (1, None),
            '"' => {
                let length = quoted_length(rest);
                let text = serde_json::from_str(&rest[..length])
                    .map_err(|_| SettingsError::syntax(line, "a wrong quoted text"))?;
                (length, Some(Token::Text(text)))
            }
            '0'..='9' => {
                let end = rest.find(|c: char| !c.is_ascii_digit());
                let length = end.unwrap_or(rest.len());
                (length, Some(Token::Number(rest[..length].to_owned())))
            }
            _ if rest.starts_with("true") => (4, Some(Token::Boolean(true))),
            _ if rest.starts_with("false") => (5, Some(Token::Boolean(false))),
            ':' => (1, Some(Token::Colon)),
            ',' => (1, Some(Token::Comma)),
            'a'..='z' | 'A'..='Z' | '/' | '.' | '-' => {
                let length = rest.find([':', ' ', '\n', '\r', ',']).unwrap_or(rest.len());
                (length, Some(Token::Text(rest[..length].to_owned())))
            }
            other => {
                let message = format!("unexpected `{}`", other.escape_debug());
                return Err(SettingsError::syntax(line, message));
            }
        };
        is_line_start = first == '\n' || rest.starts_with("\r\n");
        rest = &rest[length..];
        tokens.extend(token.map(|token| (token, token_line)));
    }
    Ok(tokens)
}

/// Returns the length of a quoted text with its quotes. As in yarn, `\"` ends the text if `\` stands
/// before it.
fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_escaped =
        |at: usize| bytes[at - 1] == b'\\' && bytes.get(at.wrapping_sub(2)) != Some(&b'\\');
    (1..bytes.len())
        .find(|at| bytes[*at] == b'"' && !is_escaped(*at))
        .map_or(bytes.len(), |at| at + 1)
}

struct YarnParser<'a> {
    tokens: Peekable<IntoIter<TokenOnLine>>,
    settings: &'a mut Settings,
}

impl YarnParser<'_> {
    /// Reads the keys of a table. [`Settings::add`] bounds the depth of the recursion.
    fn read_table(&mut self, parent: Option<usize>, indent: usize) -> Result<(), SettingsError> {
        loop {
            match self.tokens.peek() {
                None => return Ok(()),
                Some((Token::Newline, _)) => {
                    self.tokens.next();
                    if indent == 0 {
                        continue;
                    }
                    match self.tokens.peek() {
                        Some((Token::Indent(found), _)) if *found == indent => {
                            self.tokens.next();
                        }
                        _ => return Ok(()),
                    }
                }
                Some((Token::Indent(found), _)) if *found == indent => {
                    self.tokens.next();
                }
                Some((Token::Indent(_), _)) => return Ok(()),
                Some((Token::Text(_), _)) => {
                    if self.read_key(parent, indent)? {
                        return Ok(());
                    }
                }
                Some((_, line)) => return Err(SettingsError::syntax(*line, "a key is missing")),
            }
        }
    }

    /// Reads keys and their value. Returns `true` if the value is a table that also ends the table of
    /// its keys.
    fn read_key(&mut self, parent: Option<usize>, indent: usize) -> Result<bool, SettingsError> {
        let (first, line) = self.key_name(1)?;
        let mut others = Vec::new();
        while self
            .tokens
            .next_if(|(token, _)| *token == Token::Comma)
            .is_some()
        {
            others.push(self.key_name(line)?.0);
        }
        let kind_and_text = match self.tokens.next() {
            Some((Token::Colon, _)) => None,
            Some((Token::Text(text), _)) => Some((SettingKind::Text, text)),
            Some((Token::Number(text), _)) => Some((SettingKind::Number, text)),
            Some((Token::Boolean(value), _)) => Some((SettingKind::Boolean, value.to_string())),
            _ => return Err(SettingsError::syntax(line, "a value is missing")),
        };
        let is_table = kind_and_text.is_none();
        let node = match kind_and_text {
            None => {
                let node = self.settings.add_collection(parent, first.as_str(), line)?;
                self.read_table(Some(node), indent + 1)?;
                node
            }
            Some((kind, text)) => {
                let value = SettingValue::new(kind, text, line);
                self.settings.add(parent, first.as_str(), value)?
            }
        };
        let nodes = node..self.settings.len();
        for name in others {
            let key = Some(name.as_str().into());
            self.settings.copy(nodes.clone(), parent, key)?;
        }
        let is_indented = matches!(self.tokens.peek(), Some((Token::Indent(_), _)));
        Ok(is_table && indent > 0 && !is_indented)
    }

    fn key_name(&mut self, line: usize) -> Result<TextOnLine, SettingsError> {
        match self.tokens.next() {
            Some((Token::Text(name), line)) if !name.is_empty() => Ok((name, line)),
            _ => Err(SettingsError::syntax(line, "a key is missing")),
        }
    }
}

/// A text with its line.
type TextOnLine = (String, usize);
