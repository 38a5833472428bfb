//! Edits the hook in a TOML document, in which it has tables of one list (`[[hooks]]`). In: the text of
//! the settings, and the planned entries. Out: the text with or without them; every other character is
//! kept.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table, TomlError};

use super::jsonc::{DocumentError, runs};
use crate::excerpt::Excerpt;
use crate::protocol::settings_text::{self, BOM};
use crate::protocol::{Agent, TomlRegistration};

/// Returns the entries of the hook in a document, by event.
pub(super) fn entries(
    text: &str,
    agent: Agent,
    format: &TomlRegistration,
) -> Result<Vec<(String, Value)>, DocumentError> {
    let document = parse(text)?;
    tables(&document, format)?;
    let value = settings_text::toml(body(text)).unwrap_or_default();
    let list = value[format.list].as_array().into_iter().flatten();
    let ours = list.filter(|entry| is_ours(entry["command"].as_str(), agent));
    let event = |entry: &Value| entry[format.event].as_str().unwrap_or_default().to_owned();
    Ok(ours.map(|entry| (event(entry), entry.clone())).collect())
}

/// Returns the document with these entries at its end.
pub(super) fn with(
    text: &str,
    format: &TomlRegistration,
    entries: &[(String, Value)],
) -> Result<String, DocumentError> {
    let end = match body(text).contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    let mut wanted = text.to_owned();
    if !body(text).is_empty() && !text.ends_with('\n') {
        wanted.push_str(end);
    }
    for (_, entry) in entries {
        if !body(&wanted).is_empty() {
            wanted.push_str(end);
        }
        wanted.push_str(&format!("[[{}]]{end}", format.list));
        for (key, value) in entry.as_object().into_iter().flatten() {
            let value = match value {
                Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
                other => other.to_string(),
            };
            wanted.push_str(&format!("{key} = {value}{end}"));
        }
    }
    // A list of another form cannot be extended by a table.
    parse(&wanted).map_err(|_| not_tables(format))?;
    Ok(wanted)
}

/// Returns the document without the entries of the hook.
pub(super) fn without(
    text: &str,
    agent: Agent,
    format: &TomlRegistration,
) -> Result<String, DocumentError> {
    let document = parse(text)?;
    let mark = text.len() - body(text).len();
    let mut cuts: Vec<Range<usize>> = tables(&document, format)?
        .into_iter()
        .filter(|table| is_ours(table.get("command").and_then(Item::as_str), agent))
        .filter_map(|table| lines(body(text), table))
        .map(|cut| cut.start + mark..cut.end + mark)
        .collect();
    cuts.sort_by_key(|cut| cut.start);
    let mut left = text.to_owned();
    for cut in cuts.into_iter().rev() {
        left.replace_range(cut, "");
    }
    Ok(left)
}

fn is_ours(command: Option<&str>, agent: Agent) -> bool {
    command.is_some_and(|line| runs(line, agent))
}

/// Returns the text without its byte order mark.
fn body(text: &str) -> &str {
    text.strip_prefix(BOM).unwrap_or(text)
}

fn parse(text: &str) -> Result<Document<&str>, DocumentError> {
    let text = body(text);
    let unparsed = |error: TomlError| DocumentError::Parse {
        excerpt: Excerpt::new(text, error.span().unwrap_or_default()),
        detail: error.message().to_lowercase(),
    };
    Document::parse(text).map_err(unparsed)
}

fn not_tables(format: &TomlRegistration) -> DocumentError {
    DocumentError::Shape {
        at: format.list.to_owned(),
        wanted: "a list of tables in the form `[[hooks]]`",
    }
}

/// Returns the tables of the list.
fn tables<'a>(
    document: &'a Document<&str>,
    format: &TomlRegistration,
) -> Result<Vec<&'a Table>, DocumentError> {
    match document.get(format.list) {
        None => Ok(Vec::new()),
        Some(Item::ArrayOfTables(list)) => Ok(list.iter().collect()),
        Some(_) => Err(not_tables(format)),
    }
}

/// Returns the lines of a table, from its header to its last value, with the empty line before them.
fn lines(text: &str, table: &Table) -> Option<Range<usize>> {
    let header = table.span()?;
    let values = table.iter().filter_map(|(_, item)| item.span());
    let last = values.map(|span| span.end).max()?.max(header.end);
    let start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[last..]
        .find('\n')
        .map_or(text.len(), |at| last + at + 1);
    let before = text[..start].strip_suffix('\n');
    let before = before.map(|before| before.strip_suffix('\r').unwrap_or(before));
    let start = match before {
        Some(before) if before.is_empty() || before.ends_with('\n') => before.len(),
        _ => start,
    };
    Some(start..end)
}
