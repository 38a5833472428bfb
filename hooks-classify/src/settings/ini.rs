//! Reads INI as `configparser` of Python 3.11 does, with these differences: a key without a value is a
//! [`SettingKind::Flag`], and sections and options may be repeated, as with `strict=False`.
//!
//! The crates for INI have no lines, and follow other rules for comments and continuation lines.

use super::tree::Settings;
use super::value::{SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let mut section = None;
    let mut option: Option<IniOption> = None;
    let mut indent = 0;
    for (number, line) in lines(text).enumerate() {
        let number = number + 1;
        let value = trim(line);
        if value.is_empty() {
            if let Some(IniOption {
                text: Some(text), ..
            }) = &mut option
            {
                text.push('\n');
            }
            continue;
        }
        if value.starts_with(['#', ';']) {
            continue;
        }
        let current_indent = line.chars().take_while(|c| is_blank(*c)).count();
        if let Some(option) = &mut option
            && current_indent > indent
        {
            let Some(text) = &mut option.text else {
                let message = "a continuation line after a key without a value";
                return Err(SettingsError::syntax(number, message));
            };
            text.push('\n');
            text.push_str(value);
            continue;
        }
        indent = current_indent;
        if let Some(ended) = option.take() {
            ended.add_to(settings)?;
        }
        if let Some(name) = section_name(value) {
            section = Some(settings.add_collection(None, name, number)?);
            continue;
        }
        let Some(section) = section else {
            return Err(SettingsError::syntax(
                number,
                "a key before the first section",
            ));
        };
        option = Some(IniOption::parse(value, section, number)?);
    }
    match option {
        Some(option) => option.add_to(settings),
        None => Ok(()),
    }
}

struct IniOption {
    section: usize,
    name: String,
    /// `None` for a key without a delimiter.
    text: Option<String>,
    line: usize,
}

impl IniOption {
    fn parse(text: &str, section: usize, line: usize) -> Result<Self, SettingsError> {
        let (name, text) = match text.split_once(['=', ':']) {
            Some((name, value)) => (trim(name), Some(trim(value).to_owned())),
            None => (text, None),
        };
        if name.is_empty() {
            return Err(SettingsError::syntax(line, "a value without a key"));
        }
        Ok(Self {
            section,
            name: name.to_lowercase(),
            text,
            line,
        })
    }

    fn add_to(self, settings: &mut Settings) -> Result<(), SettingsError> {
        let (kind, text) = match &self.text {
            None => (SettingKind::Flag, ""),
            // References of `configparser` and of `tox`.
            Some(text) if ["%(", "${", "{"].iter().any(|start| text.contains(start)) => {
                (SettingKind::Expression, trim_end(text))
            }
            Some(text) => (SettingKind::Untyped, trim_end(text)),
        };
        let value = SettingValue::new(kind, text, self.line);
        settings.add(Some(self.section), self.name.as_str(), value)?;
        Ok(())
    }
}

/// Returns the name of a section: from the first bracket to the last one.
fn section_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('[')?;
    name.rfind(']')
        .map(|end| &name[..end])
        .filter(|name| !name.is_empty())
}

/// Splits at `\n`, `\r\n` and `\r`, as Python does for a file of text.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// `str.isspace` of Python.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_blank)
}
