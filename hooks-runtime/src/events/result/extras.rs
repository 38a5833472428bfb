//! Fields of the JSON form that only some hosts write: they are stored in [`HookResult::extra`], and
//! are checked and applied like the fields of a [`HookResult`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Action, ContextRole, HookResult, USER_MESSAGE_SOURCE};
use crate::map::Map;

/// Extra key: texts to inject, each with its own role, lifetime and placement.
pub(crate) const CONTEXT_INJECTIONS: &str = "context_injections";

/// A text of [`CONTEXT_INJECTIONS`]. Its origin is the hook that returned it, so a `hook_name` and
/// an `event` are not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListedInjection {
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) role: ContextRole,
    #[serde(default)]
    pub(crate) ephemeral: bool,
    #[serde(default)]
    pub(crate) append_to_last_tool_result: bool,
}

/// An extra with an invalid value.
pub(super) struct InvalidExtra {
    pub(super) field: &'static str,
    pub(super) found: Value,
    pub(super) expected: &'static str,
}

/// Returns the first invalid extra.
pub(super) fn check(extra: &Map) -> Result<(), InvalidExtra> {
    let invalid = |field, value: &Value, expected| {
        Err(InvalidExtra {
            field,
            found: value.clone(),
            expected,
        })
    };
    match extra.get(USER_MESSAGE_SOURCE) {
        None | Some(Value::Null | Value::String(_)) => {}
        Some(other) => return invalid(USER_MESSAGE_SOURCE, other, "a string or null"),
    }
    match extra.get(CONTEXT_INJECTIONS) {
        Some(value) if read(value).is_none() => invalid(
            CONTEXT_INJECTIONS,
            value,
            "an array of objects with a string `content`, and optionally `role`, `ephemeral` and \
             `append_to_last_tool_result`",
        ),
        _ => Ok(()),
    }
}

/// Reads a list. `null` is invalid, because a result that injects must not lose its texts.
fn read(value: &Value) -> Option<Vec<ListedInjection>> {
    let items = value.as_array()?;
    // Serde also reads an array as a struct, and the key of an object as an enum.
    let is_plain = |item: &Value| {
        let object = item.as_object();
        object.is_some_and(|object| object.get("role").is_none_or(Value::is_string))
    };
    items.iter().all(is_plain).then_some(())?;
    let items = items.iter().map(ListedInjection::deserialize);
    items.collect::<Result<_, _>>().ok()
}

impl HookResult {
    /// Returns the texts to inject. Texts that are listed replace
    /// [`context_injection`](HookResult::context_injection), which summarizes them.
    pub(crate) fn injections(&self) -> Vec<ListedInjection> {
        if self.action != Action::InjectContext {
            return Vec::new();
        }
        let listed = self.listed().unwrap_or_default();
        let mut texts: Vec<_> = listed
            .into_iter()
            .filter(|item| !item.content.is_empty())
            .collect();
        if texts.is_empty() {
            let single = self.context_injection.as_ref();
            texts.extend(
                single
                    .filter(|text| !text.is_empty())
                    .map(|text| ListedInjection {
                        content: text.clone(),
                        role: self.context_injection_role,
                        ephemeral: self.ephemeral,
                        append_to_last_tool_result: self.append_to_last_tool_result,
                    }),
            );
        }
        texts
    }

    /// Returns the listed texts, if there is a valid list.
    fn listed(&self) -> Option<Vec<ListedInjection>> {
        read(self.extra.as_ref()?.get(CONTEXT_INJECTIONS)?)
    }

    /// Replaces the listed texts, if there is a list.
    pub(crate) fn relist(&mut self, texts: Vec<ListedInjection>) {
        let list = self
            .extra
            .as_mut()
            .and_then(|extra| extra.get_mut(CONTEXT_INJECTIONS));
        if let Some(list) = list {
            *list = serde_json::json!(texts);
        }
    }

    /// Sets or removes the name that is displayed beside the message for the user.
    pub(crate) fn set_message_source(&mut self, source: Option<&str>) {
        if let Some(source) = source {
            let extra = self.extra.get_or_insert_default();
            extra.insert(USER_MESSAGE_SOURCE.to_owned(), source.into());
        } else if let Some(extra) = &mut self.extra {
            extra.shift_remove(USER_MESSAGE_SOURCE);
            if extra.is_empty() {
                self.extra = None;
            }
        }
    }
}
