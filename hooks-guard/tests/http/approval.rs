//! Requests, answers and reports: an agent waits for the operator (P-26).

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN};

#[test]
fn p_26_a_question_is_pending_until_it_is_answered() {
    let daemon = Daemon::plain();
    assert!(daemon.pending().is_empty());
    daemon.ask("ls");
    let permission = daemon.ask("mkdir out");
    let pending = daemon.pending();
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(pending[0]["id"], permission["id"]);
    assert_eq!(pending[0]["command"], "mkdir out");
    assert_eq!(pending[0]["user_response"], Value::Null);
    assert_eq!(pending[0]["decision_requires_confirmation"], true);

    let record = daemon.respond(&permission["id"], "APPROVED").ok();
    assert_eq!(record["user_response"], "APPROVED", "{record}");
    assert!(daemon.pending().is_empty());
    let record = daemon.record(&permission["id"]);
    assert_eq!(record["user_response"], "APPROVED");
    assert_eq!(record["execution_happened"], false);
}

#[test]
fn p_26_a_denial_is_recorded() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "DENIED").ok();
    assert_eq!(daemon.record(&permission["id"])["user_response"], "DENIED");
    assert!(daemon.pending().is_empty());
    assert_eq!(daemon.ask("mkdir out")["decision"], "REQUIRES_CONFIRMATION");
}

#[test]
fn p_26_the_pending_list_has_a_timestamp() {
    let daemon = Daemon::plain();
    let body = daemon.get("/api/hooks/pending").ok();
    crate::support::instant(&body["generated_at"]);
}

#[test]
fn p_26_an_answer_ends_a_long_poll() {
    let daemon = Daemon::plain();
    for response in ["APPROVED", "DENIED"] {
        let permission = daemon.ask(&format!("mkdir {response}"));
        let target = format!("/api/hooks/decisions/{}?wait=50", permission["id"]);
        let port = daemon.port;
        let start = Instant::now();
        let waiting = thread::spawn(move || Request::new("GET", &target).send(port));
        thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished(), "it did not wait");
        daemon.respond(&permission["id"], response).ok();
        let record = waiting.join().unwrap().ok();
        assert_eq!(record["user_response"], response);
        assert!(
            start.elapsed() < Duration::from_secs(40),
            "the long poll waited for its timeout"
        );
    }
}

#[test]
fn p_26_an_answer_ends_every_long_poll() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let target = format!("/api/hooks/decisions/{}?wait=50", permission["id"]);
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (target, port) = (target.clone(), daemon.port);
            thread::spawn(move || Request::new("GET", &target).send(port))
        })
        .collect();
    thread::sleep(Duration::from_millis(300));
    daemon.respond(&permission["id"], "DENIED").ok();
    for waiting in waiting {
        assert_eq!(waiting.join().unwrap().ok()["user_response"], "DENIED");
    }
}

#[test]
fn p_26_a_long_poll_ends_without_an_answer() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let target = format!("/api/hooks/decisions/{}?wait=1", permission["id"]);
    let start = Instant::now();
    let record = daemon.get(&target).ok();
    assert!(
        start.elapsed() >= Duration::from_millis(900),
        "it did not wait"
    );
    assert_eq!(record["user_response"], Value::Null);
    assert_eq!(record["id"], permission["id"]);
    for wrong in ["x", "-1", "1.5h"] {
        let target = format!("/api/hooks/decisions/{}?wait={wrong}", permission["id"]);
        daemon.get(&target).refusal(400);
    }
}

#[test]
fn p_26_a_long_poll_for_an_allowed_request_returns_immediately() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("ls");
    let start = Instant::now();
    let target = format!("/api/hooks/decisions/{}?wait=50", permission["id"]);
    assert_eq!(daemon.get(&target).ok()["user_response"], Value::Null);
    assert!(
        start.elapsed() < Duration::from_secs(40),
        "the long poll waited"
    );
}

#[test]
fn p_26_only_one_of_many_answers_takes_effect() {
    let daemon = Daemon::plain();
    for round in 0..10 {
        let permission = daemon.ask(&format!("mkdir {round}"));
        let answers: Vec<_> = (0..8)
            .map(|number| {
                let response = ["APPROVED", "DENIED"][number % 2];
                let body = json!({ "id": permission["id"], "response": response });
                let port = daemon.port;
                thread::spawn(move || {
                    let request = Request::new("POST", "/api/hooks/permission-response");
                    (response, request.bearer(TOKEN).json(&body).send(port))
                })
            })
            .collect();
        let mut counted = Vec::new();
        for answer in answers {
            let (response, answer) = answer.join().unwrap();
            if answer.status == 200 {
                counted.push(response);
            } else {
                answer.error(409, "ALREADY_ANSWERED");
            }
        }
        assert_eq!(counted.len(), 1, "{counted:?}");
        assert_eq!(
            daemon.record(&permission["id"])["user_response"],
            counted[0]
        );
    }
}

#[test]
fn p_26_an_answer_cannot_be_changed() {
    let daemon = Daemon::plain();
    for (first, second) in [
        ("APPROVED", "DENIED"),
        ("DENIED", "APPROVED"),
        ("DENIED", "DENIED"),
    ] {
        let permission = daemon.ask(&format!("mkdir {first} {second}"));
        daemon.respond(&permission["id"], first).ok();
        daemon
            .respond(&permission["id"], second)
            .error(409, "ALREADY_ANSWERED");
        assert_eq!(daemon.record(&permission["id"])["user_response"], first);
    }
}

#[test]
fn p_26_an_allowed_request_cannot_be_answered() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("ls");
    daemon
        .respond(&permission["id"], "DENIED")
        .error(409, "CANNOT_BE_ANSWERED");
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
}

#[test]
fn p_26_an_unknown_decision_cannot_be_answered() {
    let daemon = Daemon::plain();
    for id in [0, 4711, i64::MAX] {
        daemon
            .respond(&json!(id), "APPROVED")
            .error(404, "NOT_FOUND");
        daemon
            .get(&format!("/api/hooks/decisions/{id}"))
            .error(404, "NOT_FOUND");
        daemon
            .executed(&json!(id), &json!("no secret of any decision"))
            .error(404, "NOT_FOUND");
    }
    for id in ["x", "1x", "-1", "99999999999999999999"] {
        let answer = daemon.get(&format!("/api/hooks/decisions/{id}"));
        assert!(matches!(answer.status, 400 | 404), "{}", answer.text());
        answer.refusal(answer.status);
    }
}

#[test]
fn p_26_an_answer_must_be_approved_or_denied() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    for response in [
        json!("MAYBE"),
        json!("approved"),
        json!(""),
        json!("TIMEOUT"),
        json!(true),
        json!(null),
    ] {
        let body = json!({ "id": permission["id"], "response": response });
        daemon.respond_with(&body).refusal(400);
    }
    daemon
        .respond_with(&json!({ "response": "APPROVED" }))
        .error(400, "MISSING_FIELD");
    daemon
        .respond_with(&json!({ "id": permission["id"] }))
        .error(400, "MISSING_FIELD");
    let body = json!({ "id": permission["id"], "response": "APPROVED", "remember": "forever" });
    daemon.respond_with(&body).refusal(400);
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn p_26_an_answer_may_have_a_note() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let body = json!({ "id": permission["id"], "response": "DENIED", "note": "ask me tomorrow" });
    daemon.respond_with(&body).ok();
    assert_eq!(daemon.record(&permission["id"])["user_response"], "DENIED");
}

#[test]
fn p_26_a_timed_out_question_cannot_be_answered() {
    let daemon = Setup::new().config("approval_ttl_seconds = 1").start();
    let permission = daemon.ask("mkdir out");
    let target = format!("/api/hooks/decisions/{}?wait=30", permission["id"]);
    let record = daemon.get(&target).ok();
    assert_eq!(record["user_response"], "TIMEOUT", "{record}");
    assert!(daemon.pending().is_empty());
    // Unanswered, and too late for an answer.
    let answer = daemon.respond(&permission["id"], "APPROVED");
    let code = answer.refusal(409)["code"].as_str().unwrap().to_owned();
    assert!(
        ["ALREADY_ANSWERED", "CANNOT_BE_ANSWERED"].contains(&code.as_str()),
        "{code}"
    );
    assert_eq!(daemon.ask("mkdir out")["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(daemon.record(&permission["id"])["user_response"], "TIMEOUT");
}

#[test]
fn p_26_a_question_times_out_without_a_long_poll() {
    let daemon = Setup::new().config("approval_ttl_seconds = 1").start();
    let permission = daemon.ask("mkdir out");
    let other = daemon.ask("touch notes.txt");
    thread::sleep(Duration::from_millis(2_500));
    daemon.respond(&permission["id"], "APPROVED").refusal(409);
    assert!(daemon.pending().is_empty());
    assert_eq!(daemon.record(&other["id"])["user_response"], "TIMEOUT");
    let found = daemon.get("/api/hooks/decisions?response=TIMEOUT").ok();
    assert_eq!(found["pagination"]["total"], 2, "{found}");
}

#[test]
fn p_26_a_question_times_out_while_the_daemon_is_down() {
    let daemon = Setup::new().config("approval_ttl_seconds = 2").start();
    let permission = daemon.ask("mkdir out");
    let daemon = daemon.restart(|setup| {
        thread::sleep(Duration::from_secs(3));
        setup
    });
    daemon.respond(&permission["id"], "APPROVED").refusal(409);
    assert_eq!(daemon.record(&permission["id"])["user_response"], "TIMEOUT");
}

#[test]
fn p_26_an_execution_is_reported_once_and_with_the_secret() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    daemon.respond(&permission["id"], "APPROVED").ok();
    for wrong in ["", "wrong", "0123456789abcdef0123456789abcdef"] {
        let answer = daemon.executed(&permission["id"], &json!(wrong));
        if wrong.is_empty() && answer.status == 400 {
            answer.error(400, "MISSING_FIELD");
        } else {
            answer.error(403, "WRONG_SECRET");
        }
    }
    assert_eq!(
        daemon.record(&permission["id"])["execution_happened"],
        false
    );
    let record = daemon
        .executed(&permission["id"], &permission["secret"])
        .ok();
    assert_eq!(record["execution_happened"], true, "{record}");
    daemon
        .executed(&permission["id"], &permission["secret"])
        .error(409, "ALREADY_EXECUTED");
    // Without the secret, a client does not even learn that the command ran.
    daemon
        .executed(&permission["id"], &json!("wrong-wrong-wrong"))
        .error(403, "WRONG_SECRET");
    assert_eq!(daemon.record(&permission["id"])["execution_happened"], true);
}

#[test]
fn p_26_an_execution_report_without_a_secret_is_an_error() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("ls");
    let target = format!("/api/hooks/decisions/{}/executed", permission["id"]);
    daemon
        .send(&Request::new("POST", &target).json(&json!({})))
        .error(400, "MISSING_FIELD");
    let null = Request::new("POST", &target).json(&json!({ "secret": null }));
    daemon.send(&null).error(400, "MISSING_FIELD");
    let body = json!({ "secret": permission["secret"], "exit_status": 1 });
    let record = daemon.send(&Request::new("POST", &target).json(&body)).ok();
    assert_eq!(record["execution_happened"], true);
    assert_eq!(record.get("ran_command"), None);
}

#[test]
fn p_26_an_execution_report_compares_what_ran_with_what_was_decided() {
    let daemon = Daemon::plain();
    for (ran, recorded) in [("ls", None), ("rm -r build", Some(&json!("rm -r build")))] {
        let permission = daemon.ask("ls");
        let target = format!("/api/hooks/decisions/{}/executed", permission["id"]);
        let report = |ran: &Value| {
            let body = json!({ "secret": permission["secret"], "ran": ran });
            daemon.send(&Request::new("POST", &target).json(&body))
        };
        report(&json!("ls")).error(400, "INVALID_JSON");
        report(&json!({})).error(400, "MISSING_FIELD");
        let record = report(&json!({ "command": ran })).ok();
        assert_eq!(record.get("ran_command"), recorded, "{record}");
        assert_eq!(record["execution_happened"], true);
    }
}

#[test]
fn p_26_pending_decisions_survive_a_restart() {
    for polite in [true, false] {
        let mut daemon = Daemon::plain();
        let permission = daemon.ask("mkdir out");
        let denied = daemon.ask("touch notes.txt");
        if polite {
            assert!(daemon.terminate().success());
        }
        let daemon = daemon.restart(|setup| setup);
        let pending: Vec<_> = daemon.pending().iter().map(|it| it["id"].clone()).collect();
        assert_eq!(pending.len(), 2, "{pending:?}");
        daemon.respond(&permission["id"], "APPROVED").ok();
        daemon.respond(&denied["id"], "DENIED").ok();
        let record = daemon
            .executed(&permission["id"], &permission["secret"])
            .ok();
        assert_eq!(record["user_response"], "APPROVED");
        assert_eq!(record["execution_happened"], true);
        // Ids continue after a restart.
        assert!(daemon.ask("ls")["id"].as_i64() > denied["id"].as_i64());
    }
}
