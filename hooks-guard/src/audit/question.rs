//! Open questions. In: the columns of a question without an answer. Out: the reason to read it
//! before approving, and the key that equal questions share.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::approval::ApprovalScope;
use crate::classify::{Crud, Method};
use crate::random::random;
use crate::rules::RuleDecision;

/// Confidence below which a class is a guess.
const GUESS_BELOW: f64 = 0.7;

/// Secret part of the keys, so that a key reveals nothing about the files of a scope.
static KEY_SECRET: LazyLock<String> = LazyLock::new(random::<16>);

/// Columns of a question without an answer.
pub(super) struct OpenQuestion<'a> {
    pub(super) command: &'a str,
    /// `true` if `command` is the whole command.
    pub(super) is_whole: bool,
    pub(super) cwd: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) class: Crud,
    pub(super) method: Method,
    pub(super) confidence: f64,
    pub(super) rule: Option<&'a str>,
    pub(super) reasoning: &'a str,
    pub(super) scope: Option<&'a ApprovalScope>,
}

impl OpenQuestion<'_> {
    /// Returns why the operator should read the question before approving it.
    pub(super) fn caution(&self) -> Option<String> {
        let caution = if self.class == Crud::Delete {
            "it deletes"
        } else if self.rule.is_some_and(RuleDecision::hides_code) {
            "it runs text that is hidden as a secret"
        } else if let Some(caution) = self.scope.and_then(ApprovalScope::caution) {
            caution
        } else if self.method == Method::Fallback {
            "the analysis failed, so the class is assumed"
        } else if self.confidence < GUESS_BELOW {
            "the class is a guess"
        } else if !self.rule.is_none_or(RuleDecision::remembers) {
            "a built-in protection applies"
        } else {
            return None;
        };
        Some(caution.to_owned())
    }

    /// Returns the key of the question; `None` if equal questions cannot be recognised by what the
    /// trail shows.
    pub(super) fn key(&self) -> Option<String> {
        // Masked secrets may differ, and the contents that a file tool writes.
        let scope = self.scope.filter(|_| self.is_whole)?.hash();
        let fields = serde_json::json!([
            self.command,
            self.cwd,
            self.agent,
            self.class,
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
