//! The tool calls that an agent has described in `session/update`. In: these updates. Out: what a later
//! request for permission about the same call leaves out.

use std::collections::VecDeque;

use serde_json::{Map, Value};

/// Maximum number of described calls; the oldest are forgotten.
const MAX_CALLS: usize = 256;

/// Fields of a tool call that describe it.
const FIELDS: [&str; 7] = [
    "kind",
    "title",
    "name",
    "rawInput",
    "content",
    "locations",
    META,
];

/// Field in which some agents name the tool; it describes nothing else.
const META: &str = "_meta";

/// Session and id of a tool call, as the trail stores them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolCallKey {
    pub(super) session_id: String,
    pub(super) call_id: String,
}

/// The described tool calls of a connection that have not ended.
#[derive(Debug, Default)]
pub(super) struct ToolCalls(VecDeque<(ToolCallKey, Map<String, Value>)>);

impl ToolCalls {
    /// Records an update of a call: its fields replace earlier ones, and `is_new` forgets those.
    pub(super) fn describe(&mut self, key: ToolCallKey, is_new: bool, update: Map<String, Value>) {
        let described = update
            .into_iter()
            .filter(|(name, value)| FIELDS.contains(&name.as_str()) && !value.is_null());
        match self.0.iter_mut().find(|(call, _)| *call == key) {
            Some((_, fields)) => {
                if is_new {
                    fields.clear();
                }
                fields.extend(described);
            }
            None => {
                if self.0.len() >= MAX_CALLS {
                    self.0.pop_front();
                }
                self.0.push_back((key, described.collect()));
            }
        }
    }

    /// Forgets a call.
    pub(super) fn forget(&mut self, key: &ToolCallKey) {
        self.0.retain(|(call, _)| call != key);
    }

    /// Adds what is known of a call to its description in a request, whose own fields count. Returns
    /// `true` if something was added, except `_meta`.
    pub(super) fn complete(&self, key: &ToolCallKey, call: &mut Map<String, Value>) -> bool {
        let Some((_, known)) = self.0.iter().find(|(known, _)| known == key) else {
            return false;
        };
        let mut has_added = false;
        for (field, value) in known {
            let describes = field != META;
            match (call.get_mut(field), value) {
                (Some(Value::Object(own)), Value::Object(known)) => {
                    for (name, value) in known {
                        if !own.contains_key(name) {
                            own.insert(name.clone(), value.clone());
                            has_added |= describes;
                        }
                    }
                }
                (Some(own), value) if is_empty(own) && !is_empty(value) => {
                    *own = value.clone();
                    has_added |= describes;
                }
                (None, value) if !is_empty(value) => {
                    call.insert(field.clone(), value.clone());
                    has_added |= describes;
                }
                _ => {}
            }
        }
        has_added
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}
