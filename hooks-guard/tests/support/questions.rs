//! Writes many pending questions to a trail before a service opens it.

use std::path::Path;
use std::time::Duration;

use hooks_guard::audit::{AuditStore, NewDecision};
use hooks_guard::classify::{Crud, Decision, Method};
use hooks_guard::{PermissionDecision, PermissionRequest};
use jiff::Timestamp;

/// Returns a question of a session that stays pending for `wait`.
fn question(command: String, session: &str, wait: Duration) -> NewDecision {
    let now = Timestamp::now();
    NewDecision {
        request: PermissionRequest {
            agent: Some("codex".to_owned()),
            session_id: Some(session.to_owned()),
            ..PermissionRequest::new(command)
        },
        permission: PermissionDecision {
            decision: Decision::RequiresConfirmation,
            classification: Crud::Delete,
            reasoning: "because".to_owned(),
            confidence: 0.96,
            explanation: "because of that".to_owned(),
            classification_method: Method::PatternMatch,
            timestamp: now,
            id: None,
            secret: None,
            approved: false,
            left_to_agent: false,
            denied: false,
            names_tool: false,
            hidden_code: false,
            timed_out: false,
            rule: None,
        },
        command_parts: None,
        response_time: Duration::from_micros(1500),
        parts: Vec::new(),
        deadline: Some(now + wait),
        answer: None,
        error: None,
        secret_hash: None,
        command_hash: [7; 32],
        scope: None,
    }
}

/// Writes `count` questions of the session `flood`, and then one of the session `honest`, whose id
/// is returned.
pub(crate) fn flood(database: &Path, count: usize, length: usize, wait: Duration) -> i64 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let trail = AuditStore::open(&database.display().to_string())
            .await
            .unwrap();
        let mut written = 0;
        while written < count {
            let mut tasks = tokio::task::JoinSet::new();
            for number in written..count.min(written + 500) {
                let command = format!("rm -r flood-{number} {}", "x".repeat(length));
                let (trail, new) = (trail.clone(), question(command, "flood", wait));
                tasks.spawn(async move { trail.record(new).await.unwrap() });
            }
            written += tasks.join_all().await.len();
        }
        let honest = question("rm -r honest".to_owned(), "honest", wait);
        let id = trail.record(honest).await.unwrap();
        trail.close().await;
        id
    })
}
