//! Audit trail: it has every decision, approval and run, its chain is valid, and it remains after
//! the session.

use std::fs;
use std::path::Path;

use hooks_guard::audit::{AuditRecord, AuditStore, Filter, Page, UserResponse};
use hooks_guard::classify::Crud;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::support::{Run, bash, example, finish, folder, run, session};

/// Returns the records of a trail, oldest first, after verifying its chain.
fn records(path: &Path) -> Vec<AuditRecord> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let url = format!("sqlite:{}", path.display());
        let trail = AuditStore::open(&url).await.expect("a trail");
        let found = trail.verify().await.expect("a walk");
        assert!(found.is_intact(), "{found:?}");
        let all = Page {
            limit: 1000,
            offset: 0,
        };
        let listing = trail.decisions(&Filter::default(), all).await;
        let mut records = listing.expect("found").records;
        records.sort_by_key(|record| record.id);
        trail.close().await;
        records
    })
}

fn path(run: &Run) -> String {
    let report = run.report();
    report["audit_trail"].as_str().expect("a path").to_owned()
}

/// Asserts that a trail matches the calls of a report.
#[track_caller]
fn assert_matches_calls(records: &[AuditRecord], calls: &[Value]) {
    assert_eq!(records.len(), calls.len());
    for (record, call) in records.iter().zip(calls) {
        let number = call["number"].to_string();
        assert_eq!(record.call_id.as_deref(), Some(&*number));
        assert_eq!(record.rule.as_deref(), call["by"].as_str(), "{call}");
        let refused = call["decision"] == "refused";
        let denied = record.user_response == Some(UserResponse::Denied);
        assert_eq!(denied, refused, "{call}");
        let ran = call["status"] != "not_run";
        assert_eq!(record.execution_happened, ran, "{call}");
        let status = record.exit_status.map(i64::from);
        assert_eq!(status, call["exit_code"].as_i64(), "{call}");
        let why = call["why"].as_str().expect("why");
        let why = why.split("; ").next().expect("a part");
        assert!(
            record.reasoning.contains(why),
            "{}: {why}",
            record.reasoning
        );
    }
}

#[test]
fn the_bundled_session_records_each_call_in_the_audit_trail() {
    let place = folder();
    let mut command = example();
    command
        .args(["--json", "--no-sandbox"])
        .env("TMPDIR", place.path());
    let run = finish(&mut command, b"");
    assert_eq!(run.status, Some(0), "{run:?}");
    let path = path(&run);
    let path = Path::new(&path);
    assert!(path.starts_with(place.path().canonicalize().expect("a path")));
    assert_matches_calls(&records(path), &run.calls());

    // The rest of the scratch copy is removed.
    let scratch = path.ancestors().nth(2).expect("a folder");
    let left = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(left(scratch), ["audit"]);
    assert_eq!(left(&scratch.join("audit")), ["audit.db", "audit.db-queue"]);
}

#[test]
fn the_trail_contains_approvals_classes_and_exit_statuses() {
    let place = folder();
    let name = place.path().join("records").display().to_string();
    let secret = "ghp_0123456789abcdefghijklmnop";
    let calls = [
        bash("ls /workspace/tally"),
        bash("touch made"),
        bash("rm made"),
        bash("cat /etc/passwd"),
        json!({"tool": "write", "path": "a", "text": "one\n"}),
        json!({"tool": "edit", "path": "a", "old": "one", "new": "two"}),
        bash(&format!("echo {secret}; exit 3")),
    ];
    let run_with_answer = |answer| {
        let arguments = [
            "--json",
            "--no-sandbox",
            "--approve",
            answer,
            "--records",
            &name,
        ];
        let run = run(session(&calls), &arguments);
        assert_eq!(run.status, Some(0), "{run:?}");
        run
    };
    let approved = run_with_answer("always");
    let path = path(&approved);
    assert_eq!(Path::new(&path), Path::new(&name).join("audit.db"));
    let first = records(Path::new(&path));
    assert_matches_calls(&first, &approved.calls());
    let class: Vec<_> = first.iter().map(|record| record.classification).collect();
    let expected = [
        Crud::Read,
        Crud::Create,
        Crud::Delete,
        Crud::Read,
        Crud::Create,
        Crud::Update,
        Crud::Read,
    ];
    assert_eq!(class, expected);
    let rm = &first[2];
    assert_eq!(rm.user_response, Some(UserResponse::Approved));
    assert!(rm.decision_requires_confirmation && rm.execution_happened && !rm.denied);
    assert_eq!(rm.answered_by.as_deref(), Some("--approve"));
    assert!(
        !first[1].decision_requires_confirmation,
        "a new file in the scratch copy needs no confirmation"
    );
    assert!(first[3].denied && !first[3].execution_happened);
    assert_eq!(first[6].exit_status, Some(3));
    let bytes = fs::read(&path).expect("the file");
    let found = bytes
        .windows(secret.len())
        .any(|part| part == secret.as_bytes());
    assert!(!found, "a secret is in the trail");

    // A second session appends to the trail; its user refuses.
    let refused = run_with_answer("never");
    let both = records(Path::new(&path));
    assert_eq!(both.len(), 2 * calls.len());
    assert_eq!(both[..calls.len()], first[..]);
    let rm = &both[calls.len() + 2];
    assert_eq!(rm.user_response, Some(UserResponse::Denied));
    assert!(
        !rm.execution_happened && !rm.denied,
        "the call needed confirmation and was not denied"
    );
    assert_eq!(refused.calls()[2]["decision"], "refused");
}

#[test]
fn no_call_runs_if_the_audit_trail_cannot_be_opened() {
    let place = folder();
    let records = place.path().join("records");
    fs::create_dir_all(records.join("audit.db")).expect("a folder in its place");
    let name = records.display().to_string();
    let arguments = ["--json", "--no-sandbox", "--records", &name];
    let run = run(session(&[bash("ls")]), &arguments);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
    assert!(
        run.stderr.contains("cannot open the audit trail: "),
        "{run:?}"
    );
}
