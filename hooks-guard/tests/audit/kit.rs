//! Helpers of the tests.

use std::time::Duration;

use hooks_guard::approval::ApprovalScope;
use hooks_guard::audit::{AuditStore, NewAnswer, NewDecision, UserResponse};
use hooks_guard::classify::{Classifier, Crud, Decision, Method};
use hooks_guard::{PermissionDecision, PermissionRequest};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

pub(crate) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// Returns a minute of a day in 2025.
pub(crate) fn minute(minute: i64) -> Timestamp {
    time("2025-11-17T10:00:00Z") + jiff::SignedDuration::from_mins(minute)
}

/// Returns a decision about a command: allowed for a read, otherwise with a question.
pub(crate) fn decision(command: &str, class: Crud, at: Timestamp) -> NewDecision {
    NewDecision {
        request: PermissionRequest::new(command),
        permission: PermissionDecision {
            decision: match class {
                Crud::Read => Decision::AutoAllowed,
                _ => Decision::RequiresConfirmation,
            },
            classification: class,
            reasoning: "because".to_owned(),
            confidence: 0.96,
            explanation: "because of that".to_owned(),
            classification_method: Method::PatternMatch,
            timestamp: at,
            id: None,
            secret: None,
            approved: false,
            left_to_agent: false,
            names_tool: false,
            hidden_code: false,
            timed_out: false,
            denied: false,
            rule: None,
        },
        command_parts: None,
        response_time: Duration::from_micros(1500),
        parts: Vec::new(),
        deadline: None,
        answer: None,
        error: None,
        secret_hash: Some(hash("secret")),
        command_hash: hash(command),
        scope: None,
    }
}

/// Returns the current scope of an approval of a request.
pub(crate) fn scope(request: &PermissionRequest) -> ApprovalScope {
    let found = Classifier::new().analyze(&request.command);
    ApprovalScope::of(request, &found.expect("it is a command").parts)
}

pub(crate) fn new_answer(response: UserResponse, at: Timestamp) -> NewAnswer {
    NewAnswer {
        response,
        by: "console".to_owned(),
        note: Some("so be it".to_owned()),
        at,
    }
}

pub(crate) async fn assert_intact(trail: &AuditStore) {
    let found = trail.verify().await.expect("a walk");
    assert!(found.is_intact(), "{found:?}");
}

/// Runs a future in a new runtime.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test)
}
