//! Scope of an approval: this command, this directory, this session, once; unless the operator
//! selects a wider scope, until it is revoked.

use serde_json::{Value, json};

use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, TOKEN};

fn body(command: &str, cwd: &str, session: &str) -> Value {
    json!({ "command": command, "cwd": cwd, "session_id": session, "agent": "claude-code" })
}

#[track_caller]
fn decision(daemon: &Daemon, command: &str, cwd: &str, session: &str) -> String {
    let permission = daemon.post(&body(command, cwd, session)).ok();
    permission["decision"].as_str().unwrap().to_owned()
}

/// Sends a request and approves it.
#[track_caller]
fn approve(daemon: &Daemon, body: &Value, remember: Option<&str>) -> Value {
    let permission = daemon.post(body).ok();
    assert_eq!(
        permission["decision"], "REQUIRES_CONFIRMATION",
        "{permission}"
    );
    let mut answer = json!({ "id": permission["id"], "response": "APPROVED" });
    if let Some(remember) = remember {
        answer["remember"] = json!(remember);
    }
    daemon.respond_with(&answer).ok();
    permission
}

#[track_caller]
fn remembered(daemon: &Daemon) -> Vec<Value> {
    let body = daemon.get("/api/hooks/remembered").ok();
    body["remembered"].as_array().unwrap().clone()
}

#[track_caller]
fn revoke(daemon: &Daemon, id: &Value, token: Option<&str>) -> Answer {
    let target = format!("/api/hooks/remembered/{}", id.to_string().trim_matches('"'));
    let request = Request::new("DELETE", &target);
    daemon.send(&match token {
        Some(token) => request.bearer(token),
        None => request,
    })
}

#[test]
fn approval_is_used_once() {
    let daemon = Daemon::plain();
    for remember in [None, Some("once")] {
        let body = body("mkdir out", "/srv/a", "s-1");
        approve(&daemon, &body, remember);
        assert_eq!(
            decision(&daemon, "mkdir out", "/srv/a", "s-1"),
            "AUTO_ALLOWED"
        );
        let again = daemon.post(&body).ok();
        assert_eq!(again["decision"], "REQUIRES_CONFIRMATION");
        daemon.respond(&again["id"], "DENIED").ok();
    }
    assert!(remembered(&daemon).is_empty());
}

#[test]
fn approval_is_used_once_by_concurrent_requests() {
    let daemon = Daemon::plain();
    let body = body("mkdir out", "/srv/a", "s-1");
    for _ in 0..10 {
        approve(&daemon, &body, None);
        let asking: Vec<_> = (0..8)
            .map(|_| {
                let (request, port) = (crate::support::daemon::ask(&body), daemon.port);
                std::thread::spawn(move || request.send(port))
            })
            .collect();
        let mut allowed = 0;
        for asking in asking {
            if asking.join().unwrap().ok()["decision"] == "AUTO_ALLOWED" {
                allowed += 1;
            }
        }
        assert_eq!(allowed, 1);
    }
}

#[test]
fn approval_with_a_reported_execution_is_used() {
    let daemon = Daemon::plain();
    let body = body("mkdir out", "/srv/a", "s-1");
    let permission = approve(&daemon, &body, None);
    daemon
        .executed(&permission["id"], &permission["secret"])
        .ok();
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );
}

#[test]
fn approval_is_bound_to_command_directory_and_session() {
    let daemon = Daemon::plain();
    approve(&daemon, &body("mkdir out", "/srv/a", "s-1"), None);
    for (command, cwd, session) in [
        ("mkdir out2", "/srv/a", "s-1"),
        ("mkdir  out", "/srv/a", "s-1"),
        ("mkdir out ", "/srv/a", "s-1"),
        ("mkdir out; ls", "/srv/a", "s-1"),
        ("mkdir out", "/srv/b", "s-1"),
        ("mkdir out", "/srv/a/b", "s-1"),
        ("mkdir out", "/srv", "s-1"),
        ("mkdir out", "/srv/a", "s-2"),
        ("mkdir out", "/srv/a", "S-1"),
        ("mkdir out", "/srv/b", "s-2"),
    ] {
        assert_eq!(
            decision(&daemon, command, cwd, session),
            "REQUIRES_CONFIRMATION",
            "{command:?} in {cwd}, {session}"
        );
    }
    for field in ["cwd", "session_id"] {
        let mut other = body("mkdir out", "/srv/a", "s-1");
        other.as_object_mut().unwrap().remove(field);
        let permission = daemon.post(&other).ok();
        assert_eq!(
            permission["decision"], "REQUIRES_CONFIRMATION",
            "without {field}"
        );
    }
    // The approval still applies to the original request.
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "AUTO_ALLOWED"
    );
}

#[test]
fn approval_without_a_session_does_not_apply_to_a_session() {
    let daemon = Daemon::plain();
    approve(&daemon, &json!({ "command": "mkdir out" }), None);
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );
}

/// `P-26`: without a session there is nothing to which the approval could apply.
#[test]
fn approval_for_a_session_is_refused_without_a_session() {
    let daemon = Daemon::plain();
    let permission = daemon.post(&json!({ "command": "mkdir out" })).ok();
    let answer = json!({ "id": permission["id"], "response": "APPROVED", "remember": "session" });
    daemon
        .respond_with(&answer)
        .error(409, "CANNOT_BE_REMEMBERED");
    assert!(remembered(&daemon).is_empty());
    let answer = json!({ "id": permission["id"], "response": "APPROVED" });
    daemon.respond_with(&answer).ok();
}

/// `P-26`: an answer that is remembered in one directory does not affect another.
#[test]
fn permanent_approval_does_not_affect_other_directories() {
    let daemon = Daemon::plain();
    approve(&daemon, &body("mkdir out", "/srv/a", "s-1"), None);
    approve(&daemon, &body("mkdir out", "/srv/b", "s-1"), Some("always"));
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "AUTO_ALLOWED"
    );
}

#[test]
fn approval_of_a_command_is_bound_to_its_masked_secret() {
    let daemon = Daemon::plain();
    let with = |letter: &str| {
        let token = format!("ghp_{}", letter.repeat(36));
        format!("curl -X POST -H 'Authorization: Bearer {token}' https://api.example/repos")
    };
    approve(&daemon, &body(&with("A"), "/srv/a", "s-1"), None);
    assert_eq!(
        decision(&daemon, &with("B"), "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );
    assert_eq!(
        decision(&daemon, &with("A"), "/srv/a", "s-1"),
        "AUTO_ALLOWED"
    );
}

#[test]
fn denial_is_never_used_as_an_approval() {
    let daemon = Daemon::plain();
    for remember in ["once", "session", "always"] {
        let request = body("mkdir out", "/srv/a", "s-1");
        let permission = daemon.post(&request).ok();
        let answer = json!({ "id": permission["id"], "response": "DENIED", "remember": remember });
        let answer = daemon.respond_with(&answer);
        if answer.status != 200 {
            assert!(matches!(answer.status, 400 | 409), "{}", answer.text());
        }
        assert_eq!(
            decision(&daemon, "mkdir out", "/srv/a", "s-1"),
            "REQUIRES_CONFIRMATION",
            "{remember}"
        );
    }
}

#[test]
fn approval_for_a_session_applies_there_until_it_is_revoked() {
    let daemon = Daemon::plain();
    approve(
        &daemon,
        &body("mkdir out", "/srv/a", "s-1"),
        Some("session"),
    );
    for _ in 0..5 {
        assert_eq!(
            decision(&daemon, "mkdir out", "/srv/a", "s-1"),
            "AUTO_ALLOWED"
        );
    }
    for (command, cwd, session) in [
        ("mkdir out2", "/srv/a", "s-1"),
        ("mkdir out; ls", "/srv/a", "s-1"),
        ("mkdir out", "/srv/a", "s-2"),
    ] {
        assert_eq!(
            decision(&daemon, command, cwd, session),
            "REQUIRES_CONFIRMATION",
            "{command:?} in {cwd}, {session}"
        );
    }
    let all = remembered(&daemon);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(revoke(&daemon, &all[0]["id"], Some(TOKEN)).status / 100, 2);
    assert!(remembered(&daemon).is_empty());
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );
}

#[test]
fn permanent_approval_applies_to_all_sessions_and_after_a_restart() {
    let daemon = Daemon::plain();
    approve(&daemon, &body("mkdir out", "/srv/a", "s-1"), Some("always"));
    for session in ["s-1", "s-2", "s-2"] {
        assert_eq!(
            decision(&daemon, "mkdir out", "/srv/a", session),
            "AUTO_ALLOWED"
        );
    }
    assert_eq!(
        decision(&daemon, "mkdir other", "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-3"),
        "AUTO_ALLOWED"
    );
    let all = remembered(&daemon);
    assert_eq!(all.len(), 1, "{all:?}");
    revoke(&daemon, &all[0]["id"], Some(TOKEN));
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-3"),
        "REQUIRES_CONFIRMATION"
    );
    let daemon = daemon.restart(|setup| setup);
    assert!(remembered(&daemon).is_empty());
}

#[test]
fn revoking_needs_the_operator() {
    let daemon = Daemon::plain();
    approve(&daemon, &body("mkdir out", "/srv/a", "s-1"), Some("always"));
    let id = remembered(&daemon)[0]["id"].clone();
    for token in [None, Some("not-the-operators-token"), Some("")] {
        let answer = revoke(&daemon, &id, token);
        answer.error(401, "OPERATOR_TOKEN_REQUIRED");
        assert_eq!(remembered(&daemon).len(), 1);
    }
    let gone = revoke(&daemon, &json!(987_654), Some(TOKEN));
    gone.error(404, "NOT_FOUND");
    assert_eq!(revoke(&daemon, &id, Some(TOKEN)).status / 100, 2);
    revoke(&daemon, &id, Some(TOKEN)).error(404, "NOT_FOUND");
}

/// Sends `POST /api/hooks/decisions/{id}/redeem`, by which a hook uses an approval.
#[track_caller]
fn redeem(daemon: &Daemon, id: &Value, secret: &Value) -> Answer {
    let target = format!("/api/hooks/decisions/{id}/redeem");
    daemon.send(&Request::new("POST", &target).json(&json!({ "secret": secret })))
}

#[test]
fn approval_is_redeemed_once_and_only_with_its_secret() {
    let daemon = Daemon::plain();
    let request = body("mkdir out", "/srv/a", "s-1");
    let waiting = daemon.post(&request).ok();
    redeem(&daemon, &waiting["id"], &waiting["secret"]).error(409, "NOT_APPROVED");
    daemon.respond(&waiting["id"], "APPROVED").ok();
    let other = daemon.ask("touch notes.txt");
    redeem(&daemon, &waiting["id"], &other["secret"]).error(403, "WRONG_SECRET");
    redeem(&daemon, &waiting["id"], &waiting["secret"]).ok();
    redeem(&daemon, &waiting["id"], &waiting["secret"]).error(409, "ALREADY_USED");
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "REQUIRES_CONFIRMATION"
    );

    daemon.respond(&other["id"], "DENIED").ok();
    redeem(&daemon, &other["id"], &other["secret"]).error(409, "NOT_APPROVED");
    redeem(&daemon, &json!(4711), &other["secret"]).error(404, "NOT_FOUND");
}

#[test]
fn approval_is_used_by_a_new_request_or_redeemed_but_not_both() {
    let daemon = Daemon::plain();
    let request = body("mkdir out", "/srv/a", "s-1");
    let permission = approve(&daemon, &request, None);
    assert_eq!(
        decision(&daemon, "mkdir out", "/srv/a", "s-1"),
        "AUTO_ALLOWED"
    );
    redeem(&daemon, &permission["id"], &permission["secret"]).error(409, "ALREADY_USED");

    for _ in 0..20 {
        let permission = approve(&daemon, &request, None);
        let (again, port) = (crate::support::daemon::ask(&request), daemon.port);
        let asking = std::thread::spawn(move || again.send(port));
        let redeemed = redeem(&daemon, &permission["id"], &permission["secret"]);
        if redeemed.status != 200 {
            redeemed.error(409, "ALREADY_USED");
        }
        let asked = asking.join().unwrap().ok()["decision"] == "AUTO_ALLOWED";
        assert_ne!(redeemed.status == 200, asked);
    }
}

#[test]
fn denial_is_not_changed_by_an_execution_report() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "DENIED").ok();
    daemon.executed(&permission["id"], &permission["secret"]);
    assert_eq!(daemon.record(&permission["id"])["user_response"], "DENIED");
}

#[test]
fn a_request_allowed_by_an_approval_is_recorded() {
    let daemon = Daemon::plain();
    let request = body("mkdir out", "/srv/a", "s-1");
    let first = approve(&daemon, &request, None);
    let second = daemon.post(&request).ok();
    assert_ne!(first["id"], second["id"]);
    let record = daemon.record(&second["id"]);
    assert_eq!(record["command"], "mkdir out");
    daemon.executed(&second["id"], &second["secret"]).ok();
    assert_eq!(daemon.record(&second["id"])["execution_happened"], true);
}
