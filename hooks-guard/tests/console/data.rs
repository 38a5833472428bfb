//! A trail of one week of a team with agents.

use std::time::Duration;

use hooks_guard::PermissionRequest;
use hooks_guard::audit::{AuditStore, NewAnswer, NewDecision, UserResponse};
use hooks_guard::gate::Gate;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::support::daemon::Setup;

const COMMANDS: [&str; 16] = [
    "git status",
    "rg TODO src",
    "cargo check",
    "ls -la src",
    "cat Cargo.toml",
    "git diff",
    "git log --oneline -5",
    "find . -name '*.rs'",
    "wc -l src/main.rs",
    "mkdir -p out/logs",
    "git commit -m 'Fix the parser'",
    "npm ci",
    "touch notes.md",
    "chmod +x run.sh",
    "rm -r build",
    "git push origin main",
];
const AGENTS: [&str; 4] = ["claude-code", "codex", "cursor", "gemini-cli"];

/// Reproducible pseudorandom numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Writes `count` decisions of the last seven days into the database of a daemon that starts later.
pub(crate) fn week(setup: &Setup, count: usize) {
    write(setup, count, |share| {
        let before = 7.0 * 86_400_000.0 * (1.0 - share);
        Timestamp::now() - SignedDuration::from_millis(before as i64 + 60_000)
    });
}

/// Writes `count` decisions with one timestamp.
pub(crate) fn moment(setup: &Setup, count: usize) {
    let now = Timestamp::now();
    write(setup, count, |_| now);
}

/// Writes a few decisions of the day before yesterday.
pub(crate) fn old(setup: &Setup) {
    let time = Timestamp::now() - SignedDuration::from_hours(48);
    write(setup, 5, |_| time);
}

fn write(setup: &Setup, count: usize, time: impl Fn(f64) -> Timestamp) {
    let url = format!("sqlite:{}", setup.database_file().display());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let trail = AuditStore::open(&url).await.unwrap();
        let gate = Gate::tables_only();
        let mut dice = Dice(11);
        for at in 0..count {
            let time = time(at as f64 / count as f64);
            let command = COMMANDS[dice.roll(if at % 3 == 0 { 16 } else { 9 })];
            let mut request = PermissionRequest::new(command);
            request.agent = Some(AGENTS[dice.roll(2) * dice.roll(3)].to_owned());
            request.cwd = Some("/srv/ada/atlas".into());
            request.session_id = Some(format!("s{}", at / 40));
            let judged = gate.decide(&request).await;
            let mut permission = judged.permission;
            permission.timestamp = time;
            let asks = permission.decision == hooks_guard::classify::Decision::RequiresConfirmation;
            let id = trail
                .record(NewDecision {
                    scope: None,
                    command_hash: Sha256::digest(command).into(),
                    request,
                    permission,
                    parts: judged.parts,
                    command_parts: None,
                    response_time: Duration::from_micros(
                        400 + 37 * dice.roll(300) as u64 + 90_000 * u64::from(dice.roll(60) == 0),
                    ),
                    deadline: asks.then(|| time + SignedDuration::from_mins(5)),
                    answer: None,
                    error: None,
                    secret_hash: None,
                })
                .await
                .unwrap();
            if asks && dice.roll(12) > 0 {
                let answer = NewAnswer {
                    response: match dice.roll(4) {
                        0 => UserResponse::Denied,
                        _ => UserResponse::Approved,
                    },
                    by: "console".to_owned(),
                    note: None,
                    at: time + SignedDuration::from_secs(20),
                };
                trail.answer(id, answer).await.unwrap();
            }
        }
        trail.close().await;
    });
}
