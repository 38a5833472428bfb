//! Digests of JSON values, independent of the order of fields.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Map;

/// SHA-256; hexadecimal in JSON and in text.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Digest([u8; 32]);

/// Digest of several parts with unambiguous boundaries.
pub(crate) struct Parts(Sha256);

impl Parts {
    pub(crate) fn new(texts: &[&str]) -> Self {
        let mut parts = Parts(Sha256::new());
        parts.add(texts);
        parts
    }

    pub(crate) fn add(&mut self, texts: &[&str]) {
        for text in texts {
            self.bytes(text.as_bytes());
        }
    }

    pub(crate) fn digest(&mut self, digest: &Digest) {
        self.0.update(digest.0);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Returns the digest of these bytes alone, as other programs compute it.
#[cfg(feature = "engine")]
pub(crate) fn of_bytes(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// Digest of bytes that arrive in pieces.
#[cfg(feature = "engine")]
pub(crate) struct Stream(Sha256);

#[cfg(feature = "engine")]
impl Stream {
    pub(crate) fn new() -> Self {
        Stream(Sha256::new())
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(feature = "engine")]
impl std::io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the digest of an object.
pub(crate) fn of_map(map: &Map) -> Digest {
    of_fields(map.iter())
}

/// Returns the digest of an object of these fields.
pub(crate) fn of_fields<'m>(fields: impl Iterator<Item = (&'m String, &'m Value)>) -> Digest {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    let mut parts = Parts::new(&["object"]);
    for (name, value) in fields {
        parts.add(&[name]);
        parts.digest(&of_value(value));
    }
    parts.finish()
}

fn of_value(value: &Value) -> Digest {
    match value {
        Value::Object(map) => of_map(map),
        Value::Array(items) => {
            let mut parts = Parts::new(&["array"]);
            for item in items {
                parts.digest(&of_value(item));
            }
            parts.finish()
        }
        Value::String(text) => Parts::new(&["string", text]).finish(),
        // Numbers, `true`, `false` and `null` have one spelling each.
        plain => Parts::new(&["plain", &plain.to_string()]).finish(),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WRONG: &str = "a digest has 64 hexadecimal digits";
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.is_ascii() {
            return Err(WRONG);
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| WRONG)?;
        }
        Ok(Digest(bytes))
    }
}
