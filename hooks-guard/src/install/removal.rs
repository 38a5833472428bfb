//! Removes entries from a document. In: a text. Out: the text without them; comments and all other
//! characters are kept.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::jsonc::{DocumentError, is_ours, unparsed};
use crate::protocol::Agent;
use crate::protocol::settings_text::{BOM, OPTIONS};

/// Returns the document without the entries that run this program for the agent.
pub(super) fn ours(text: &str, agent: Agent) -> Result<String, DocumentError> {
    repeat(text, |text, root| {
        let hooks = match agent.description().container() {
            Some(key) => root.get_object(key)?,
            None => root,
        };
        for property in &hooks.properties {
            let Value::Array(list) = &property.value else {
                continue;
            };
            let entries = ranges(list);
            for (index, entry) in list.elements.iter().enumerate() {
                let Value::Object(entry) = entry else {
                    continue;
                };
                if is_ours(entry, agent) {
                    return Some(cut(text, &entries, index));
                }
                let Some(handlers) = entry.get_array("hooks") else {
                    continue;
                };
                let ours = |handler: &Value<'_>| matches!(handler, Value::Object(handler) if is_ours(handler, agent));
                let Some(first) = handlers.elements.iter().position(ours) else {
                    continue;
                };
                // Remove a group with its last handler, unless it contains a comment.
                let whole = handlers.elements.iter().all(ours) && !commented(&text[span(entry)]);
                return Some(match whole {
                    true => cut(text, &entries, index),
                    false => cut(text, &ranges(handlers), first),
                });
            }
        }
        None
    })
}

/// Returns the document without empty lists of these events, and without an empty container.
pub(super) fn emptied(
    text: &str,
    container: Option<&str>,
    events: &[&str],
) -> Result<String, DocumentError> {
    repeat(text, |text, root| {
        let empty = |value: &Value<'_>| {
            let bare = &text[span(value)];
            let inner = bare.get(1..bare.len() - 1);
            inner.is_some_and(|inner| inner.trim().is_empty())
        };
        let find = |object: &Object<'_>, names: &[&str]| {
            let spans: Vec<_> = object.properties.iter().map(span).collect();
            let found = object.properties.iter().position(|property| {
                names.contains(&property.name.as_str()) && empty(&property.value)
            })?;
            Some(cut(text, &spans, found))
        };
        match container {
            Some(key) => find(root.get_object(key)?, events).or_else(|| find(root, &[key])),
            None => find(root, events),
        }
    })
}

/// Repeats an edit until nothing is left to remove.
fn repeat(
    text: &str,
    once: impl Fn(&str, &Object<'_>) -> Option<String>,
) -> Result<String, DocumentError> {
    let (mark, text) = match text.strip_prefix(BOM) {
        Some(rest) => (&text[..BOM.len_utf8()], rest),
        None => ("", text),
    };
    let mut text = text.to_owned();
    loop {
        let parsed = parse_to_ast(&text, &CollectOptions::default(), &OPTIONS);
        let next = match parsed.map_err(|error| unparsed(&text, &error))?.value {
            Some(Value::Object(root)) => once(&text, &root),
            _ => None,
        };
        match next {
            Some(next) => text = next,
            None => return Ok(format!("{mark}{text}")),
        }
    }
}

fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

fn ranges(list: &Array<'_>) -> Vec<Range<usize>> {
    list.elements.iter().map(span).collect()
}

/// Returns the text without one of its siblings and one comma: the one after it, else the one
/// before it.
fn cut(text: &str, siblings: &[Range<usize>], index: usize) -> String {
    let node = siblings[index].clone();
    let after = skip_trivia(text, node.end);
    let before = index
        .checked_sub(1)
        .map(|last| skip_trivia(text, siblings[last].end));
    let comma = match before {
        _ if text[after..].starts_with(',') => Some(after),
        Some(before) if text[before..].starts_with(',') => Some(before),
        _ => None,
    };
    let mut left = text[..node.start].to_owned();
    let mut right = text[node.end..].to_owned();
    match comma {
        Some(at) if at >= node.end => drop(right.remove(at - node.end)),
        Some(at) => drop(left.remove(at)),
        None => {}
    }
    // Remove a line with no other content as a whole.
    let indented = left.trim_end_matches([' ', '\t']).len();
    let rest = right.trim_start_matches([' ', '\t', '\r']);
    if left[..indented].ends_with('\n') && rest.starts_with('\n') {
        left.truncate(indented);
        right = rest[1..].to_owned();
    }
    left + &right
}

/// Returns the end of whitespace and comments.
fn skip_trivia(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let bare = rest.trim_start();
        at += rest.len() - bare.len();
        let length = if bare.starts_with("//") {
            bare.find('\n')
        } else if bare.starts_with("/*") {
            bare.find("*/").map(|end| end + 2)
        } else {
            return at;
        };
        at += length.unwrap_or(bare.len());
    }
}

/// Returns `true` if a valid text contains a comment.
fn commented(text: &str) -> bool {
    let mut in_string = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => in_string = !in_string,
            '\\' if in_string => drop(rest.next()),
            '/' if !in_string => return true,
            _ => {}
        }
    }
    false
}
