//! Reads YAML from the events of the crate `saphyr-parser`. An alias is replaced by a copy.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::tree::{NodeKey, Settings};
use super::value::{SettingKind, SettingValue, SettingsError};

/// Prefix of the tags that YAML itself defines, such as `!!str`.
const YAML_TAGS: &str = "tag:yaml.org,2002:";
const MERGE_KEY: &str = "<<";
const COLLECTION_AS_KEY: &str = "a list or table is a key; use a text";

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let mut reader = YamlReader {
        settings,
        open: Vec::new(),
        anchors: HashMap::new(),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| SettingsError::syntax(error.marker().line(), error.info()))?;
        reader.read(&event, span.start.line())?;
    }
    Ok(())
}

struct YamlReader<'a> {
    settings: &'a mut Settings,
    /// The lists and tables around the next event.
    open: Vec<OpenCollection>,
    /// Nodes of the anchors that are complete.
    anchors: HashMap<usize, Range<usize>>,
}

struct OpenCollection {
    /// `None` for the root of a document.
    node: Option<usize>,
    anchor: usize,
    next: NextKey,
}

enum NextKey {
    Index(usize),
    /// The next event is a key.
    Name,
    /// The next event is the value of a key.
    ValueOf {
        name: String,
        line: usize,
        is_merge: bool,
    },
}

/// ValuePlace of a value in the settings.
struct ValuePlace {
    parent: Option<usize>,
    key: NodeKey,
    line: usize,
}

impl YamlReader<'_> {
    fn read(&mut self, event: &Event<'_>, line: usize) -> Result<(), SettingsError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = *style == ScalarStyle::Plain;
                if self.takes_key(text, line, is_plain && text == MERGE_KEY) {
                    return Ok(());
                }
                // A text without a key is a document of its own.
                let Some(ValuePlace { parent, key, line }) = self.next_place(line)? else {
                    return Ok(());
                };
                let (kind, text) = resolve(text, is_plain, tag.as_deref());
                let node = self
                    .settings
                    .add(parent, key, SettingValue::new(kind, text, line))?;
                self.end_value(Some(node), *anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(*anchor, tag.as_deref(), NextKey::Index(0), line)
            }
            Event::MappingStart(anchor, tag) => {
                self.open(*anchor, tag.as_deref(), NextKey::Name, line)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(ended) => self.end_value(ended.node, ended.anchor),
                None => Ok(()),
            },
            Event::Alias(anchor) => self.read_alias(*anchor, line),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// Stores a text as the key of the next value if the next event is a key.
    fn takes_key(&mut self, text: &str, line: usize, is_merge: bool) -> bool {
        let Some(OpenCollection { next, .. }) = self.open.last_mut() else {
            return false;
        };
        if !matches!(next, NextKey::Name) {
            return false;
        }
        *next = NextKey::ValueOf {
            name: text.to_owned(),
            line,
            is_merge,
        };
        true
    }

    /// Returns the place of the next value. `None` is the root of a document.
    fn next_place(&self, line: usize) -> Result<Option<ValuePlace>, SettingsError> {
        let Some(open) = self.open.last() else {
            return Ok(None);
        };
        let parent = open.node;
        let (key, line) = match &open.next {
            NextKey::Index(index) => (NodeKey::Index(*index), line),
            NextKey::ValueOf { name, line, .. } => (NodeKey::from(name.as_str()), *line),
            NextKey::Name => return Err(SettingsError::syntax(line, COLLECTION_AS_KEY)),
        };
        Ok(Some(ValuePlace { parent, key, line }))
    }

    fn open(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        next: NextKey,
        line: usize,
    ) -> Result<(), SettingsError> {
        let node = match self.next_place(line)? {
            None => None,
            Some(ValuePlace { parent, key, line }) => {
                let kind = match tag {
                    Some(tag) if is_unknown_tag(tag) => SettingKind::Expression,
                    _ => SettingKind::EmptyCollection,
                };
                let value = SettingValue::new(kind, "", line);
                Some(self.settings.add(parent, key, value)?)
            }
        };
        self.open.push(OpenCollection { node, anchor, next });
        Ok(())
    }

    fn read_alias(&mut self, anchor: usize, line: usize) -> Result<(), SettingsError> {
        let Some(nodes) = self.anchors.get(&anchor).cloned() else {
            let message = "an alias of a key or of the value around it; write the value instead";
            return Err(SettingsError::syntax(line, message));
        };
        let text = self.settings.value(nodes.start).text.clone();
        if self.takes_key(&text, line, false) {
            // The key is a copy, and counts as one.
            return match nodes.len() {
                1 => self.settings.count_copy(text.len(), line),
                _ => Err(SettingsError::syntax(line, COLLECTION_AS_KEY)),
            };
        }
        let Some(ValuePlace { parent, key, .. }) = self.next_place(line)? else {
            return Ok(());
        };
        let copy = self.settings.len();
        self.settings.copy(nodes, parent, Some(key))?;
        self.end_value(Some(copy), 0)
    }

    /// Ends the value that begins with `node` and reaches to the last node.
    fn end_value(&mut self, node: Option<usize>, anchor: usize) -> Result<(), SettingsError> {
        let Some(node) = node else {
            return Ok(());
        };
        let nodes = node..self.settings.len();
        if anchor > 0 {
            self.anchors.insert(anchor, nodes.clone());
        }
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let parent = open.node;
        match &mut open.next {
            NextKey::Index(index) => *index += 1,
            next => {
                let ended = std::mem::replace(next, NextKey::Name);
                if matches!(ended, NextKey::ValueOf { is_merge: true, .. }) {
                    return self.merge(nodes, parent);
                }
            }
        }
        Ok(())
    }

    /// Copies the values of the table after `<<`, or of each table in the list after it, to the table
    /// around it.
    fn merge(&mut self, nodes: Range<usize>, into: Option<usize>) -> Result<(), SettingsError> {
        let end = nodes.end;
        for child in self.settings.children(nodes) {
            let child = self.settings.subtree(child, end);
            if self.settings.is_item(child.start) {
                for value in self.settings.children(child) {
                    let value = self.settings.subtree(value, end);
                    self.settings.copy(value, into, None)?;
                }
            } else {
                self.settings.copy(child, into, None)?;
            }
        }
        Ok(())
    }
}

/// Returns `true` if only the program knows the value of a tag, such as `!ENV` or `!!python/name:x`.
fn is_unknown_tag(tag: &Tag) -> bool {
    !is_non_specific(tag)
        && core_type(tag).is_none_or(|name| {
            ![
                "str", "bool", "int", "float", "null", "map", "seq", "set", "omap", "binary",
            ]
            .contains(&name)
        })
}

/// Returns `true` if a tag is a `!` alone: the value is a text, list or table.
fn is_non_specific(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!"
}

/// Returns `str` of the tag `!!str`.
fn core_type(tag: &Tag) -> Option<&str> {
    match tag.handle.as_str() {
        YAML_TAGS => Some(&tag.suffix),
        // A verbatim tag.
        "" => tag.suffix.strip_prefix(YAML_TAGS),
        _ => None,
    }
}

/// Returns kind and text of a scalar.
fn resolve(text: &str, is_plain: bool, tag: Option<&Tag>) -> (SettingKind, String) {
    let kind = match tag {
        Some(tag) if is_unknown_tag(tag) => SettingKind::Expression,
        Some(tag) if is_non_specific(tag) || core_type(tag) == Some("str") => SettingKind::Text,
        Some(_) => plain_kind(text),
        None if is_plain => plain_kind(text),
        None => SettingKind::Text,
    };
    match kind {
        SettingKind::Null => (kind, String::new()),
        SettingKind::Boolean => (kind, text.to_ascii_lowercase()),
        // yarn, docker and others replace variables.
        SettingKind::Text if text.contains("${") => (SettingKind::Expression, text.to_owned()),
        _ => (kind, text.to_owned()),
    }
}

fn plain_kind(text: &str) -> SettingKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => SettingKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => SettingKind::Boolean,
        _ if is_yaml_1_1_boolean(text) => SettingKind::BooleanOrText,
        _ if is_number(text) => SettingKind::Number,
        _ => SettingKind::Text,
    }
}

fn is_yaml_1_1_boolean(text: &str) -> bool {
    let is_same = |word: &&str| text.eq_ignore_ascii_case(word);
    ["yes", "no", "on", "off", "y", "n"].iter().any(is_same)
}

fn is_number(text: &str) -> bool {
    let starts_as_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    starts_as_number
        && text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.parse::<f64>().is_ok()
}
