//! Open questions. In: the record of a question without an answer. Out: the reason to read it before
//! approving, and the key that equal questions share.

use std::path::Path;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use super::record::AuditRecord;
use crate::approval::ApprovalScope;
use crate::classify::Crud;
use crate::random::random;
use crate::rules::RuleDecision;

/// Confidence below which a class is a guess.
const GUESS_BELOW: f64 = 0.7;

/// Secret part of the keys, so that a key reveals nothing about the files of a scope.
static KEY_SECRET: LazyLock<String> = LazyLock::new(random::<16>);

impl AuditRecord {
    /// Returns why the operator should read the open question before approving it.
    pub(super) fn caution(&self) -> Option<String> {
        let caution = if self.classification == Crud::Delete {
            "it deletes"
        } else if self.rule.as_deref().is_some_and(RuleDecision::hides_code) {
            "it runs text that is hidden as a secret"
        } else if let Some(caution) = self.scope.as_ref().and_then(ApprovalScope::caution) {
            caution
        } else if self.has_failed_analysis() {
            "the analysis failed, so the class is assumed"
        } else if self.confidence < GUESS_BELOW {
            "the class is a guess"
        } else if !self.rule.as_deref().is_none_or(RuleDecision::remembers) {
            "a built-in protection applies"
        } else {
            return None;
        };
        Some(caution.to_owned())
    }

    /// Returns the key of the open question; `None` if equal questions cannot be recognised by what
    /// the trail shows.
    pub(super) fn key(&self) -> Option<String> {
        // Masked secrets may differ, and the contents that a file tool writes.
        let scope = self
            .scope
            .as_ref()
            .filter(|_| self.shows_whole_command())?
            .hash();
        let fields = serde_json::json!([
            self.command,
            self.cwd.as_deref().and_then(Path::to_str),
            self.agent,
            self.classification,
            self.rule,
            self.reasoning,
            scope,
        ]);
        let mut hash = Sha256::new();
        hash.update(KEY_SECRET.as_bytes());
        hash.update(fields.to_string());
        Some(hex::encode(&hash.finalize()[..12]))
    }
}
