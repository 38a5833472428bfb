//! Remembered approvals: their list, and the state of an approval in the record of its decision.

use std::fs;

use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::daemon::{Daemon, Setup};
use crate::support::instant;

fn body(command: &str, cwd: &str) -> Value {
    json!({ "command": command, "cwd": cwd, "session_id": "s-1", "agent": "codex" })
}

#[track_caller]
fn list(daemon: &Daemon, query: &str) -> Vec<Value> {
    let body = daemon
        .get(&format!("/api/hooks/remembered?{query}limit=1000"))
        .ok();
    let all = body["remembered"].as_array().unwrap().clone();
    assert_eq!(body["total"], all.len());
    all
}

#[track_caller]
fn revoke(daemon: &Daemon, id: &Value) -> Answer {
    let target = format!("/api/hooks/remembered/{id}");
    daemon.as_operator("DELETE", &target)
}

/// Returns the record as the operator sees it.
#[track_caller]
fn approval(daemon: &Daemon, id: &Value) -> Value {
    let target = format!("/api/hooks/decisions/{id}");
    daemon.as_operator("GET", &target).ok()["approval"].clone()
}

#[test]
fn revoked_approvals_are_listed_on_request() {
    let daemon = Daemon::plain();
    let first = daemon.approve(&body("mkdir one", "/srv/a"), "always");
    let second = daemon.approve(&body("rm -r two", "/srv/a"), "session");
    let active = list(&daemon, "");
    assert_eq!(active.len(), 2);
    assert_eq!(active, list(&daemon, "all=true&"));
    assert_eq!(active[0]["decision_id"], first);
    assert_eq!(active[0]["classification"], "CREATE");
    assert_eq!(active[0].get("revoked_at"), None);
    assert_eq!(active[1]["decision_id"], second);
    assert_eq!(active[1]["classification"], "DELETE");

    let revoked = revoke(&daemon, &active[0]["id"]).ok();
    assert_eq!(revoked["decision_id"], first);
    assert_eq!(revoked["revoked_by"], "operator");
    let at = instant(&revoked["revoked_at"]);
    assert!(at >= instant(&active[0]["created_at"]));
    assert_eq!(list(&daemon, ""), active[1..]);
    assert_eq!(list(&daemon, "all=false&"), active[1..]);
    assert_eq!(list(&daemon, "all=true&"), [revoked, active[1].clone()]);
    let wrong = daemon.get("/api/hooks/remembered?all=yes");
    wrong.error(400, "INVALID_FILTER");
}

#[test]
fn always_for_a_deletion_needs_a_confirmation() {
    let daemon = Daemon::plain();
    let deletion = body("rm -r build", "/srv/a");
    let id = &daemon.post(&deletion).ok()["id"];
    let mut answer = json!({ "id": id, "response": "APPROVED", "remember": "always" });
    for confirmed in [None, Some(false)] {
        if let Some(confirmed) = confirmed {
            answer["confirm_deletion"] = confirmed.into();
        }
        let error = daemon
            .respond_with(&answer)
            .error(409, "DELETION_NOT_CONFIRMED");
        let text = error["error"].as_str().unwrap();
        assert!(text.contains("\"confirm_deletion\": true"), "{text}");
        assert_eq!(daemon.record(id)["user_response"], Value::Null);
    }
    answer["confirm_deletion"] = json!("yes");
    daemon.respond_with(&answer).error(400, "INVALID_JSON");
    assert!(list(&daemon, "all=true&").is_empty());
    answer["confirm_deletion"] = true.into();
    daemon.respond_with(&answer).ok();
    assert_eq!(list(&daemon, "").len(), 1);
    let again = daemon.post(&deletion).ok();
    assert_eq!(again["decision"], "AUTO_ALLOWED");
    // Later answers get the conflict, not the question for a confirmation.
    answer["confirm_deletion"] = false.into();
    daemon.respond_with(&answer).error(409, "ALREADY_ANSWERED");

    // Other answers need no confirmation.
    for (command, response, remember) in [
        ("rm -r one", "APPROVED", "once"),
        ("rm -r two", "APPROVED", "session"),
        ("rm -r three", "DENIED", "always"),
        ("mkdir four", "APPROVED", "always"),
    ] {
        let id = &daemon.post(&body(command, "/srv/a")).ok()["id"];
        let answer = json!({ "id": id, "response": response, "remember": remember });
        daemon.respond_with(&answer).ok();
    }
}

#[test]
fn record_has_the_state_of_its_approval() {
    let daemon = Setup::new().config("approval_ttl_seconds = 4\n").start();
    let asked = daemon.post(&body("mkdir denied", "/srv/a")).ok();
    assert_eq!(approval(&daemon, &asked["id"]), Value::Null);
    daemon.respond(&asked["id"], "DENIED").ok();
    assert_eq!(approval(&daemon, &asked["id"]), Value::Null);

    let unused = daemon.approve(&body("mkdir unused", "/srv/a"), "once");
    let once = |state: &str| json!({ "remember": "once", "state": state });
    assert_eq!(approval(&daemon, &unused), once("unused"));
    let used = daemon.approve(&body("mkdir used", "/srv/a"), "once");
    daemon.post(&body("mkdir used", "/srv/a")).ok();
    assert_eq!(approval(&daemon, &used), once("used"));

    for remember in ["session", "always"] {
        let id = daemon.approve(&body(&format!("mkdir {remember}"), "/srv/a"), remember);
        let remembered = list(&daemon, "").pop().unwrap();
        let expected = json!({
            "remember": remember, "state": "active", "remembered_id": remembered["id"],
        });
        assert_eq!(approval(&daemon, &id), expected);
        assert_eq!(daemon.record(&id)["approval"], expected);
        revoke(&daemon, &remembered["id"]).ok();
        let revoked = approval(&daemon, &id);
        assert_eq!(revoked["state"], "revoked");
        assert_eq!(revoked["revoked_by"], "operator");
        instant(&revoked["revoked_at"]);
    }
    // A request that was allowed by an approval has none of its own.
    let asked = daemon.approve(&body("mkdir again", "/srv/a"), "always");
    let allowed = daemon.post(&body("mkdir again", "/srv/a")).ok();
    assert_eq!(allowed["decision"], "AUTO_ALLOWED");
    assert_eq!(approval(&daemon, &allowed["id"]), Value::Null);
    assert_eq!(approval(&daemon, &asked)["state"], "active");

    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(approval(&daemon, &unused), once("expired"));
    assert_eq!(approval(&daemon, &used), once("used"));
}

#[test]
fn record_tells_why_an_approval_does_not_apply() {
    let daemon = Daemon::plain();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("deploy.sh");
    fs::write(&script, "echo one\n").unwrap();
    let request = body("bash deploy.sh", folder.path().to_str().unwrap());
    let id = daemon.approve(&request, "always");
    assert_eq!(approval(&daemon, &id)["state"], "active");
    fs::write(&script, "echo two\n").unwrap();
    let changed = approval(&daemon, &id);
    assert_eq!(changed["state"], "changed");
    assert_eq!(changed["reason"], "`deploy.sh` has changed");
    // The service reads files only for the operator.
    assert_eq!(daemon.record(&id)["approval"]["state"], "active");
    fs::write(&script, "echo one\n").unwrap();
    assert_eq!(approval(&daemon, &id)["state"], "active");
}
