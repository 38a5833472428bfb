//! Descriptions of registered transforms.

use std::ops::Deref;

use hooks_core::{EntryDescription, EntryMeta, FailurePolicy};
use serde::Serialize;

use super::run::policy;

/// One hook of a [`TransformRegistry`](super::TransformRegistry).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TransformDescriptor {
    /// Id of the hook.
    pub id: String,
    /// Failure policy.
    pub on_failure: FailurePolicy,
    /// Failures since the last success, if a number of them disables the hook; else 0.
    pub failures: u32,
    /// Description of the entry, whose key is the id.
    #[serde(flatten)]
    pub entry: EntryDescription,
}

impl TransformDescriptor {
    pub(super) fn new(entry: &EntryMeta, failures: u32) -> Self {
        TransformDescriptor {
            id: entry.key().unwrap_or_default().to_owned(),
            on_failure: policy(entry.on_failure()),
            failures,
            entry: entry.into(),
        }
    }
}

impl Deref for TransformDescriptor {
    type Target = EntryDescription;

    fn deref(&self) -> &EntryDescription {
        &self.entry
    }
}
