//! Sample decisions for a trail.

use std::ops::Range;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use hooks_guard::audit::{AuditStore, NewAnswer, NewDecision, UserResponse};
use hooks_guard::classify::{Crud, Decision, Method};
use hooks_guard::{PermissionDecision, PermissionRequest};
use jiff::Timestamp;

/// Number of decisions recorded concurrently.
const TOGETHER: usize = 1024;

/// Returns a typical decision: mostly reads, some answered, over ninety days.
pub(crate) fn decision(n: i64, rows: i64) -> NewDecision {
    let (class, command) = match n % 20 {
        0..12 => (Crud::Read, format!("git status --short src/module_{n}")),
        12..15 => (Crud::Create, format!("mkdir -p build/output/{n}")),
        15..19 => (Crud::Update, format!("git commit -am 'change number {n}'")),
        _ => (Crud::Delete, format!("rm -r target/debug/incremental/{n}")),
    };
    let mut request = PermissionRequest::new(command);
    request.agent = Some(["claude-code", "codex", "gemini"][(n % 3) as usize].to_owned());
    request.session_id = Some(format!("session-{}", n / 200));
    request.cwd = Some("/srv/ada/projects/app".into());
    let seconds = 90 * 24 * 3600 * (n - rows) / rows.max(1);
    NewDecision {
        request,
        permission: PermissionDecision {
            decision: match class {
                Crud::Read => Decision::AutoAllowed,
                _ => Decision::RequiresConfirmation,
            },
            classification: class,
            reasoning: "`git status` shows what is there".to_owned(),
            confidence: 0.98,
            explanation: "`git status --short`: shows what is there. Nothing changes; no \
                          confirmation needed."
                .to_owned(),
            classification_method: Method::PatternMatch,
            timestamp: Timestamp::now() + jiff::SignedDuration::from_secs(seconds),
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
        response_time: Duration::from_micros((n * 7919 % 40_000).unsigned_abs()),
        parts: Vec::new(),
        deadline: None,
        answer: None,
        error: None,
        secret_hash: Some([7; 32]),
        command_hash: [9; 32],
        scope: None,
    }
}

/// Records the decisions with these numbers out of `rows`, some with an answer.
pub(crate) async fn record(trail: &AuditStore, numbers: Range<i64>, rows: i64) {
    stream::iter(numbers)
        .for_each_concurrent(TOGETHER, |n| async move {
            let id = trail.record(decision(n, rows)).await.expect("recorded");
            if n % 20 >= 12 && n % 4 != 0 {
                let answer = NewAnswer {
                    response: match n % 5 {
                        0 => UserResponse::Denied,
                        _ => UserResponse::Approved,
                    },
                    by: "console".to_owned(),
                    note: None,
                    at: Timestamp::now(),
                };
                trail.answer(id, answer).await.expect("answered");
            }
        })
        .await;
}
