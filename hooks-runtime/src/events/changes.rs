//! Changes of single fields.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::Map;

/// New values for single fields of an event; the other fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes(Vec<(Cow<'static, str>, Value)>);

impl Changes {
    /// No changes.
    pub const fn new() -> Self {
        Changes(Vec::new())
    }

    /// Gives a field a value; the latest counts.
    pub fn set(&mut self, field: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let (field, value) = (field.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == field) {
            Some((_, old)) => *old = value,
            None => self.0.push((field, value)),
        }
    }

    /// The new value of a field, if it has one.
    #[inline]
    pub fn get(&self, field: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(name, _)| name == field);
        found.map(|(_, value)| value)
    }

    /// The fields and their new values, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts the values where they belong.
    pub(crate) fn apply(self, data: &mut Map) {
        for (field, value) in self.0 {
            match data.get_mut(&*field) {
                Some(old) => *old = value,
                None => {
                    data.insert(field.into_owned(), value);
                }
            }
        }
    }
}

impl From<Map> for Changes {
    fn from(map: Map) -> Self {
        let fields = map.into_iter();
        Changes(
            fields
                .map(|(name, value)| (Cow::Owned(name), value))
                .collect(),
        )
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
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
