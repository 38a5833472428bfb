//! Edits the hook in a document of settings: JSON with comments, or TOML. In: the text of the
//! settings, and the planned entries. Out: the text with or without them.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ast, parse_to_ast};
use serde_json::{Map, Value};

use super::jsonc::{DocumentError, is_ours, unparsed};
use super::plan::Plan;
use super::{removal, toml_list};
use crate::protocol::Agent;
use crate::protocol::settings_text::{BOM, OPTIONS};

/// Returns the document with the hook in it, exactly once.
pub(super) fn with(text: Option<&str>, plan: &Plan) -> Result<String, DocumentError> {
    let text = text.unwrap_or_default();
    let format = plan.agent.description().toml();
    if is_empty(text) && format.is_none() {
        return Ok(new_document(plan));
    }
    let mut there = entries(text, plan.agent)?;
    let mut wanted = plan.entries.clone();
    // Ignore the order of events: the user may arrange them.
    there.sort_by(|one, other| one.0.cmp(&other.0));
    wanted.sort_by(|one, other| one.0.cmp(&other.0));
    if there == wanted {
        return Ok(text.to_owned());
    }
    if let Some(format) = format {
        let text = toml_list::without(text, plan.agent, format)?;
        return toml_list::with(&text, format, &plan.entries);
    }
    let document = JsonDocument::parse(&removal::ours(text, plan.agent)?)?;
    for (key, value) in &plan.root {
        if document.member(&document.root, "", key)?.is_none() {
            document.root.append(key, input(value));
        }
    }
    let container = plan.agent.description().container();
    let hooks = match container {
        Some(key) => {
            let hooks = document.object(&document.root, "", key)?;
            hooks.unwrap_or_else(|| document.root.object_value_or_set(key))
        }
        None => document.root.clone(),
    };
    for (event, entry) in &plan.entries {
        let list = document.array(&hooks, &prefix(container), event)?;
        let list = list.unwrap_or_else(|| hooks.array_value_or_set(event));
        list.append(input(entry));
    }
    Ok(document.text())
}

/// Returns the document without the hook.
pub(super) fn without(text: &str, plan: &Plan) -> Result<String, DocumentError> {
    if entries(text, plan.agent)?.is_empty() {
        return Ok(text.to_owned());
    }
    if let Some(format) = plan.agent.description().toml() {
        return toml_list::without(text, plan.agent, format);
    }
    let events: Vec<_> = plan
        .entries
        .iter()
        .map(|(event, _)| event.as_str())
        .collect();
    let container = plan.agent.description().container();
    removal::emptied(&removal::ours(text, plan.agent)?, container, &events)
}

/// Returns the beginning of the path of an event, for messages.
fn prefix(container: Option<&str>) -> String {
    container.map_or_else(String::new, |key| format!("{key}."))
}

fn is_empty(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == BOM)
}

/// Returns `true` if the document contains the hook, of any version.
pub(super) fn has(text: &str, plan: &Plan) -> Result<bool, DocumentError> {
    Ok(!entries(text, plan.agent)?.is_empty())
}

/// Returns the entries of the hook in a document, by event.
pub(crate) fn entries(text: &str, agent: Agent) -> Result<Vec<(String, Value)>, DocumentError> {
    if text
        .trim_matches(|c: char| c.is_whitespace() || c == BOM)
        .is_empty()
    {
        return Ok(Vec::new());
    }
    match agent.description().toml() {
        Some(format) => toml_list::entries(text, agent, format),
        None => JsonDocument::parse(text)?.entries(agent),
    }
}

struct JsonDocument {
    /// Byte order mark of the document, or empty.
    mark: &'static str,
    tree: CstRootNode,
    root: CstObject,
}

impl JsonDocument {
    fn parse(text: &str) -> Result<Self, DocumentError> {
        let (mark, text) = match text.strip_prefix(BOM) {
            Some(text) => ("\u{feff}", text),
            None => ("", text),
        };
        let tree = CstRootNode::parse(text, &OPTIONS).map_err(|error| unparsed(text, &error))?;
        let root = tree.object_value().ok_or_else(|| DocumentError::Shape {
            at: "the document".into(),
            wanted: "an object",
        })?;
        Ok(Self { mark, tree, root })
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.tree)
    }

    /// Returns the value of an optional key.
    fn member(
        &self,
        object: &CstObject,
        within: &str,
        key: &str,
    ) -> Result<Option<CstNode>, DocumentError> {
        let mut found = object
            .properties()
            .into_iter()
            .filter(|property| property.decoded_name().as_deref() == Some(key));
        let first = found.next();
        match found.next() {
            Some(_) => Err(DocumentError::Twice {
                at: format!("{within}{key}"),
            }),
            None => Ok(first.and_then(|property| property.value())),
        }
    }

    fn object(
        &self,
        object: &CstObject,
        within: &str,
        key: &str,
    ) -> Result<Option<CstObject>, DocumentError> {
        let value = self.member(object, within, key)?;
        let wrong = || DocumentError::Shape {
            at: format!("{within}{key}"),
            wanted: "an object",
        };
        value
            .map(|value| value.as_object().ok_or_else(wrong))
            .transpose()
    }

    fn array(
        &self,
        object: &CstObject,
        within: &str,
        key: &str,
    ) -> Result<Option<CstArray>, DocumentError> {
        let value = self.member(object, within, key)?;
        let wrong = || DocumentError::Shape {
            at: format!("{within}{key}"),
            wanted: "a list",
        };
        value
            .map(|value| value.as_array().ok_or_else(wrong))
            .transpose()
    }

    /// Returns the lists of hooks, by event.
    fn lists(&self, agent: Agent) -> Result<Vec<(String, CstArray)>, DocumentError> {
        let container = agent.description().container();
        let hooks = match container {
            Some(key) => self.object(&self.root, "", key)?,
            None => Some(self.root.clone()),
        };
        let Some(hooks) = hooks else {
            return Ok(Vec::new());
        };
        let names = hooks.properties().into_iter();
        let names = names.filter_map(|property| property.decoded_name());
        let mut lists = Vec::new();
        for name in names {
            // Ignore other values that are not lists, unless the event is one of the hook's.
            if let Some(value) = self.member(&hooks, &prefix(container), &name)?
                && let Some(list) = value.as_array()
            {
                lists.push((name, list));
            }
        }
        Ok(lists)
    }

    /// Returns the entries of this program, unchanged.
    fn entries(&self, agent: Agent) -> Result<Vec<(String, Value)>, DocumentError> {
        let mut entries = Vec::new();
        for (event, list) in self.lists(agent)? {
            for element in list.elements() {
                if runs_this_program(&element.to_string(), agent)
                    && let Some(value) = element.to_serde_value()
                {
                    entries.push((event.clone(), value));
                }
            }
        }
        Ok(entries)
    }
}

/// Returns `true` if an entry, or a handler in it, runs this program.
fn runs_this_program(entry: &str, agent: Agent) -> bool {
    let parsed = parse_to_ast(entry, &CollectOptions::default(), &OPTIONS);
    let Some(ast::Value::Object(entry)) = parsed.ok().and_then(|parsed| parsed.value) else {
        return false;
    };
    let handlers = entry
        .get_array("hooks")
        .into_iter()
        .flat_map(|list| &list.elements);
    let mut handlers = handlers.filter_map(|handler| handler.as_object());
    is_ours(&entry, agent) || handlers.any(|handler| is_ours(handler, agent))
}

/// Returns a new document with the hook only.
fn new_document(plan: &Plan) -> String {
    let mut hooks = Map::new();
    for (event, entry) in &plan.entries {
        let list = hooks
            .entry(event.clone())
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            list.push(entry.clone());
        }
    }
    let mut root: Map<_, _> = plan.root.iter().cloned().collect();
    match plan.agent.description().container() {
        Some(key) => drop(root.insert(key.into(), hooks.into())),
        None => root.extend(hooks),
    }
    format!("{:#}\n", Value::Object(root))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(object) => CstInputValue::Object(
            object
                .iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
    }
}
