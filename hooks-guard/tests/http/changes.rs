//! The changes of a file tool are shown with its pending question.

use serde_json::{Value, json};

use super::events::Listener;
use crate::support::client::{Answer, Request};
use crate::support::daemon::Daemon;

fn edit(changes: &Value) -> Value {
    json!({
        "command": "Edit src/main.rs", "agent": "codex", "session_id": "s", "cwd": "/srv/x",
        "file": {"tool": "Edit", "effect": "UPDATE", "paths": ["src/main.rs"]},
        "changes": changes,
    })
}

fn one(diff: &str) -> Value {
    json!({"files": [{"path": "src/main.rs", "kind": "edit", "diff": diff}]})
}

fn target(id: &Value) -> String {
    format!("/api/hooks/decisions/{id}/changes")
}

#[track_caller]
fn read(daemon: &Daemon, id: &Value) -> Answer {
    daemon.as_operator("GET", &target(id))
}

fn attach(daemon: &Daemon, permission: &Value, changes: &Value) -> Answer {
    let body = json!({"secret": permission["secret"], "changes": changes});
    daemon.send(&Request::new("POST", &target(&permission["id"])).json(&body))
}

#[test]
fn a_question_shows_its_changes_until_it_is_answered() {
    let daemon = Daemon::plain();
    let diff = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n";
    let permission = daemon.post(&edit(&one(diff))).ok();
    let id = &permission["id"];
    let totals = json!({"files": 1, "added": 2, "removed": 1});
    assert_eq!(daemon.pending()[0]["changes"], totals);
    assert_eq!(daemon.record(id)["changes"], totals);
    let listed = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(listed["decisions"][0]["changes"], totals);
    let changes = read(&daemon, id).ok();
    assert_eq!(
        changes,
        json!({"files": [{
            "path": "src/main.rs", "kind": "edit", "added": 2, "removed": 1, "diff": diff,
        }]})
    );
    // The lines are for the operator only.
    let unsigned = Request::new("GET", &target(id));
    daemon.send(&unsigned).error(401, "OPERATOR_TOKEN_REQUIRED");
    daemon.respond(id, "DENIED").ok();
    read(&daemon, id).error(404, "NOT_FOUND");
    assert_eq!(daemon.record(id)["changes"], Value::Null);
}

#[test]
fn changes_are_attached_once_with_the_secret() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    let permission = daemon.post(&edit(&Value::Null)).ok();
    let id = &permission["id"];
    assert_eq!(listener.expect("asked").data["changes"], Value::Null);
    assert_eq!(daemon.pending()[0]["changes"], Value::Null);
    read(&daemon, id).error(404, "NOT_FOUND");
    let wrong = json!({"id": id, "secret": "guessed"});
    attach(&daemon, &wrong, &one("+a\n")).error(403, "WRONG_SECRET");
    let totals = json!({"files": 1, "added": 1, "removed": 0});
    assert_eq!(attach(&daemon, &permission, &one("+a\n")).ok(), totals);
    let event = listener.expect("changes");
    assert_eq!(event.data, json!({"id": id, "changes": totals}));
    assert_eq!(event.id, None);
    attach(&daemon, &permission, &one("+b\n")).error(409, "ALREADY_KNOWN");
    assert_eq!(read(&daemon, id).ok()["files"][0]["diff"], "+a\n");
    // Neither an answered question, nor a command, nor an unknown decision has changes.
    let answered = daemon.post(&edit(&Value::Null)).ok();
    daemon.respond(&answered["id"], "DENIED").ok();
    daemon.record(&answered["id"]);
    attach(&daemon, &answered, &one("+a\n")).error(404, "NOT_FOUND");
    let command = daemon.ask("mkdir out");
    attach(&daemon, &command, &one("+a\n")).error(404, "NOT_FOUND");
    let unknown = json!({"id": 4711, "secret": "x"});
    attach(&daemon, &unknown, &one("+a\n")).error(404, "NOT_FOUND");
}

#[test]
fn changes_in_the_request_are_in_its_event_or_announced_after_it() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    for _ in 0..20 {
        let id = daemon.post(&edit(&one("+a\n"))).ok()["id"].clone();
        let first = listener.next().expect("an event");
        let second = listener.next().expect("an event");
        let known = [&first, &second].map(|event| (event.kind.as_str(), &event.data["id"]));
        assert!(
            known.contains(&("asked", &id)) && known.contains(&("changes", &id)),
            "{known:?}"
        );
        // A client that sees the question last sees its changes with it.
        if second.kind == "asked" {
            assert_eq!(second.data["changes"]["added"], 1);
        }
        daemon.respond(&id, "DENIED").ok();
        listener.expect("answered");
    }
}

#[test]
fn secrets_in_changes_are_masked() {
    let daemon = Daemon::plain();
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let diff = format!(
        "@@ -1,5 +1,5 @@\n-API_KEY=abcdefghijklmnop\n+API_KEY=qrstuvwxyzabcdef\n \
         -----BEGIN PRIVATE KEY-----\n {key}\n {key}\n -----END PRIVATE KEY-----\n z\n"
    );
    let mut changes = one(&diff);
    changes["files"][0]["notes"] = json!(["token ghp_abcdefghijklmnopqrstuvwxyz0123456789"]);
    let permission = daemon.post(&edit(&changes)).ok();
    let changes = read(&daemon, &permission["id"]).ok();
    let shown = changes.to_string();
    for secret in ["abcdefghijklmnop", "qrstuvwxyz", "MIIEv", "ghp_"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    let file = &changes["files"][0];
    assert_eq!(file["masked"], true);
    let shown = file["diff"].as_str().unwrap();
    assert_eq!(shown.lines().count(), diff.lines().count());
    assert!(
        shown.contains("\n-API_KEY=[secret]\n+API_KEY=[secret]\n"),
        "{shown}"
    );
    assert!(shown.ends_with("\n z\n"), "{shown}");
}

#[test]
fn changes_beyond_the_limits_are_refused() {
    let daemon = Daemon::plain();
    let file = || json!({"path": "a", "kind": "edit"});
    for (changes, field) in [
        (json!({"files": []}), "changes.files"),
        (json!({"files": vec![file(); 51]}), "changes.files"),
        (one(&"+a\n".repeat(401)), "changes"),
        (one(&format!("+{}", "x".repeat(65_536))), "changes"),
        (one("+a\nb\n"), "changes.files[0].diff"),
        (
            json!({"files": [{"path": "a", "kind": "rename"}]}),
            "changes.files[0].kind",
        ),
        (json!({"files": [{"path": "a"}]}), "changes.files[0]"),
        (
            json!({"files": [{"path": "", "kind": "edit"}]}),
            "changes.files[0].path",
        ),
        (
            json!({"files": [{"path": "a", "kind": "edit", "added": -1}]}),
            "changes.files[0].added",
        ),
        (json!([]), "changes"),
    ] {
        let error = daemon.post(&edit(&changes)).error(400, "INVALID_JSON");
        let details = error["details"].as_str().unwrap();
        assert!(
            details.contains(&format!("`{field}`")),
            "{field}: {details}"
        );
    }
    let long = json!({"files": [{"path": "x".repeat(4097), "kind": "edit"}]});
    daemon.post(&edit(&long)).error(400, "FIELD_TOO_LONG");
    let mut without_file = edit(&one("+a\n"));
    without_file["file"] = Value::Null;
    daemon.post(&without_file).error(400, "MISSING_FIELD");
    assert_eq!(daemon.pending().len(), 0);
    // The same checks apply later.
    let permission = daemon.post(&edit(&Value::Null)).ok();
    attach(&daemon, &permission, &one("b\n")).error(400, "INVALID_JSON");
    attach(&daemon, &permission, &Value::Null).error(400, "MISSING_FIELD");
    attach(&daemon, &permission, &one(&"+a\n".repeat(400))).ok();
}

#[test]
fn the_trail_contains_no_changes() {
    let daemon = Daemon::plain();
    let permission = daemon.post(&edit(&one("+a conspicuous line\n"))).ok();
    assert!(
        read(&daemon, &permission["id"])
            .text()
            .contains("a conspicuous line")
    );
    daemon.respond(&permission["id"], "APPROVED").ok();
    let folder = daemon.setup().folder().join("data");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let found = bytes.windows(18).any(|some| some == b"a conspicuous line");
        assert!(!found, "{}", path.display());
        files += usize::from(!bytes.is_empty());
    }
    assert!(files > 0);
    let exported = daemon.get("/api/hooks/export?format=jsonl").text();
    assert!(exported.contains("Edit src/main.rs") && !exported.contains("conspicuous"));
}
