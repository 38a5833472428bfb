//! Keyed hashes of ids: comparable, but not readable.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::sandbox::hex;
use crate::scope::Scope;

/// Minimum length of a key in bytes.
const MIN_KEY_BYTES: usize = 16;

/// Number of bytes kept of a hash.
const HASH_BYTES: usize = 16;

/// Minimum length of ids that are replaced in texts. Shorter ids occur by chance.
const MIN_ID_CHARS: usize = 4;

/// HMAC-SHA256 key that hashes ids. With the key, ids can be recovered by trying candidates;
/// without it they cannot.
#[derive(Clone)]
pub struct AnonymizerKey(Hmac<Sha256>);

/// Error returned when a key is too short to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key has {bytes} bytes; use at least {MIN_KEY_BYTES} random bytes")]
pub struct KeyTooShort {
    /// Length of the key.
    pub bytes: usize,
}

impl AnonymizerKey {
    /// Creates a key of at least 16 bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the key is shorter.
    pub fn new(key: &[u8]) -> Result<Self, KeyTooShort> {
        match Hmac::new_from_slice(key) {
            Ok(mac) if key.len() >= MIN_KEY_BYTES => Ok(AnonymizerKey(mac)),
            _ => Err(KeyTooShort { bytes: key.len() }),
        }
    }

    /// Returns the hash of an id. A user and a guild with equal ids have different hashes.
    pub fn hash(&self, kind: &str, id: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(id.as_bytes());
        format!("anon-{}", hex(&mac.finalize().into_bytes()[..HASH_BYTES]))
    }

    /// Replaces the ids in a scope. Returns pairs of id and hash, for replacement in texts.
    pub(super) fn replace(&self, scope: &mut Scope) -> Vec<(String, String)> {
        let Scope {
            user,
            guild,
            channel,
        } = scope;
        let mut replaced = Vec::new();
        for (kind, id) in [("user", user), ("guild", guild), ("channel", channel)] {
            if let Some(id) = id {
                let hash = self.hash(kind, id);
                let id = std::mem::replace(id, hash.clone());
                if id.chars().count() >= MIN_ID_CHARS {
                    replaced.push((id, hash));
                }
            }
        }
        // If one id is a prefix of another, replace the longer one first.
        replaced.sort_by_key(|(id, _)| std::cmp::Reverse(id.len()));
        replaced
    }
}

/// Omits the key.
impl fmt::Debug for AnonymizerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnonymizerKey").finish_non_exhaustive()
    }
}
