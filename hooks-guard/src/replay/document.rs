//! Transcripts that are one JSON object. In: a stream of bytes. Out: its entries, read one after another, also
//! those before an error.

use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::formats::JsonObject;

/// Calls `read` with each entry of a list in the object, or of the list that the document is, and with each id beside
/// the list as an object of its own. Returns `false` if there is no such list.
///
/// # Errors
/// If the document is broken. The entries before the error have been read.
pub(super) fn read_document(
    input: impl Read,
    list: Option<&str>,
    read: &mut dyn FnMut(&JsonObject),
) -> serde_json::Result<bool> {
    let mut parser = serde_json::Deserializer::from_reader(input);
    match list {
        None => EntryVisitor(read).deserialize(&mut parser).map(|()| true),
        Some(list) => (DocumentVisitor { list, read }).deserialize(&mut parser),
    }
}

/// Reads the object. Returns `true` if it has the list.
struct DocumentVisitor<'a> {
    list: &'a str,
    read: &'a mut dyn FnMut(&JsonObject),
}

impl<'de> DeserializeSeed<'de> for DocumentVisitor<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<bool, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentVisitor<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", self.list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.list {
                found = true;
                map.next_value_seed(EntryVisitor(self.read))?;
            } else if key.ends_with("Id") {
                let value: Value = map.next_value()?;
                (self.read)(&JsonObject::from_iter([(key, value)]));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct EntryVisitor<'a>(&'a mut dyn FnMut(&JsonObject));

impl<'de> DeserializeSeed<'de> for EntryVisitor<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EntryVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Value>()? {
            if let Value::Object(entry) = entry {
                (self.0)(&entry);
            }
        }
        Ok(())
    }
}
