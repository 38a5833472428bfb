//! Changes of single fields.

// The attribute that names a row of the bench `performance` holds it:
// `event_modify/4` −1 % instructions, together with `record.rs`.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::lookup;
use crate::Map;

/// New values for single fields of an event, as a hook returns them in place of all data; other
/// fields keep their values.
///
/// ```
/// use hooks_runtime::{Changes, Event, HookRegistry, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// let mut changes = Changes::new();
/// changes.set("timeout", 30);
/// assert_eq!(changes.get("timeout"), Some(&json!(30)));
///
/// // A hook sets a change in its result.
/// let hooks = HookRegistry::new();
/// hooks.register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::set("timeout", 30).and_set("retries", 0),
///     RegisterOptions::new(),
/// );
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let emission = hooks.emit("tool:pre", json!({"tool_name": "fetch"})).await.unwrap();
/// assert_eq!(emission.data["tool_name"], "fetch");
/// assert_eq!(emission.data["timeout"], 30);
/// # });
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Most hooks change one field: it costs no allocation.
    first: Option<Change>,
    #[expect(
        clippy::box_collection,
        reason = "where there is nothing, which is in every answer, nothing is to be dropped"
    )]
    more: Option<Box<Vec<Change>>>,
}

type Change = (Cow<'static, str>, Value);

impl Changes {
    /// Creates an empty set of changes.
    #[inline]
    pub const fn new() -> Self {
        Changes {
            first: None,
            more: None,
        }
    }

    /// Sets a field; the latest value applies.
    #[inline]
    pub fn set(&mut self, field: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let change = (field.into(), value.into());
        if self.first.is_none() {
            self.first = Some(change);
        } else {
            self.replace(change);
        }
    }

    fn replace(&mut self, (field, value): Change) {
        let mut before = self
            .first
            .iter_mut()
            .chain(self.more.iter_mut().flat_map(|more| more.iter_mut()));
        if let Some((_, old)) = before.find(|(name, _)| *name == field) {
            *old = value;
        } else if self.first.is_none() {
            self.first = Some((field, value));
        } else {
            self.more.get_or_insert_default().push((field, value));
        }
    }

    /// Returns the new value of a field, if it has one.
    #[inline]
    pub fn get(&self, field: &str) -> Option<&Value> {
        let found = self.changes().find(|(name, _)| name == field);
        found.map(|(_, value)| value)
    }

    /// Returns the fields and their new values, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.changes().map(|(name, value)| (&**name, value))
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.first
            .iter()
            .chain(self.more.iter().flat_map(|more| more.iter()))
    }

    #[inline]
    fn into_changes(self) -> impl Iterator<Item = Change> {
        let more = self.more.into_iter().flat_map(|more| *more);
        self.first.into_iter().chain(more)
    }

    pub(crate) fn len(&self) -> usize {
        let more = self.more.as_ref().map_or(0, |more| more.len());
        usize::from(self.first.is_some()) + more
    }

    /// Returns `true` if there are no changes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds later changes to these.
    pub(crate) fn extend(&mut self, later: Changes) {
        for change in later.into_changes() {
            self.replace(change);
        }
    }

    /// Applies the changes to the data.
    #[inline]
    pub(crate) fn apply(self, data: &mut Map) {
        if let Some(first) = self.first {
            put(data, first);
        }
        if let Some(more) = self.more {
            more.into_iter().for_each(|change| put(data, change));
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))] // event_modify/4
fn put(data: &mut Map, (field, value): Change) {
    match lookup::get_mut(data, &field) {
        Some(old) => *old = value,
        None => {
            data.insert(field.into_owned(), value);
        }
    }
}

impl From<Map> for Changes {
    fn from(map: Map) -> Self {
        let mut fields = map
            .into_iter()
            .map(|(name, value)| (Cow::Owned(name), value));
        let first = fields.next();
        let more: Vec<_> = fields.collect();
        Changes {
            first,
            more: (!more.is_empty()).then(|| Box::new(more)),
        }
    }
}

impl From<Changes> for Map {
    fn from(changes: Changes) -> Self {
        let mut map = Map::new();
        changes.apply(&mut map);
        map
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
