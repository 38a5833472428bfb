//! Ids that can be compared and not be read.

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::sandbox::hex;
use crate::scope::Scope;

/// The fewest bytes of a key.
const SHORTEST: usize = 16;

/// The bytes that are kept of a hash.
const KEPT: usize = 16;

/// Ids shorter than this are not looked for in texts, which have them by chance.
const LOOKED_FOR: usize = 4;

/// HMAC-SHA256 key that hashes ids. With the key, ids can be recovered by trying candidates;
/// without it they cannot.
#[derive(Clone)]
pub struct AnonymizerKey(Hmac<Sha256>);

/// Error returned when a key is too short to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key has {bytes} bytes; give it at least {SHORTEST}, by chance")]
pub struct KeyTooShort {
    /// What it has.
    pub bytes: usize,
}

impl AnonymizerKey {
    /// A key of at least 16 bytes.
    ///
    /// # Errors
    ///
    /// If it is shorter.
    pub fn new(key: &[u8]) -> Result<Self, KeyTooShort> {
        match Hmac::new_from_slice(key) {
            Ok(mac) if key.len() >= SHORTEST => Ok(AnonymizerKey(mac)),
            _ => Err(KeyTooShort { bytes: key.len() }),
        }
    }

    /// What stands in the place of an id. A user and a guild of one id have different ones.
    pub fn hash(&self, kind: &str, id: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(id.as_bytes());
        format!("anon-{}", hex(&mac.finalize().into_bytes()[..KEPT]))
    }

    /// Replaces the ids, and says which by which, for texts that name them.
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
                if id.chars().count() >= LOOKED_FOR {
                    replaced.push((id, hash));
                }
            }
        }
        // Of two ids one of which begins with the other, the longer one first.
        replaced.sort_by_key(|(id, _)| std::cmp::Reverse(id.len()));
        replaced
    }
}

/// Without the key.
impl fmt::Debug for AnonymizerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnonymizerKey").finish_non_exhaustive()
    }
}
