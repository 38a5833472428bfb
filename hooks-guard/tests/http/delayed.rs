//! Answers with a delay: they can be withdrawn until they take effect.

use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::events::Listener;
use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN};
use crate::support::instant;

/// A delay that no test waits for.
const LONG_MS: u64 = 10_000;

#[track_caller]
fn answer(daemon: &Daemon, id: &Value, response: &str, delay_ms: u64) -> Answer {
    daemon.respond_with(&json!({ "id": id, "response": response, "delay_ms": delay_ms }))
}

/// Returns the body of an accepted response.
#[track_caller]
fn accepted(answer: &Answer) -> Value {
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()
}

#[track_caller]
fn withdraw(daemon: &Daemon, id: &Value) -> Answer {
    let target = format!("/api/hooks/permission-response/{id}");
    daemon.as_operator("DELETE", &target)
}

/// Returns the open questions as the operator sees them.
#[track_caller]
fn pending_of_operator(daemon: &Daemon) -> Vec<Value> {
    let body = daemon.as_operator("GET", "/api/hooks/pending");
    body.ok()["pending"].as_array().unwrap().clone()
}

fn operator_listener(daemon: &Daemon) -> Listener {
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    Listener::connect(daemon, "/api/hooks/events", &token).0
}

#[test]
fn delayed_answer_takes_effect_after_its_delay() {
    let daemon = Daemon::plain();
    for expected in ["APPROVED", "DENIED"] {
        let id = &daemon.ask(&format!("mkdir {expected}"))["id"];
        let (port, target) = (daemon.port, format!("/api/hooks/decisions/{id}?wait=50"));
        let agent = thread::spawn(move || {
            let record = Request::new("GET", &target).send(port).ok();
            (record, Timestamp::now())
        });
        let began = Instant::now();
        let body = accepted(&answer(&daemon, id, expected, 1500));
        assert_eq!(body["id"], *id);
        assert_eq!(body["user_response"], Value::Null);
        let answering = &body["answering"];
        assert_eq!(answering["id"], *id);
        assert_eq!(answering["response"], expected);
        assert_eq!(answering["remember"], "once");
        assert_eq!(answering["by"], "operator");
        assert_eq!(pending_of_operator(&daemon)[0]["answering"], *answering);
        assert_eq!(daemon.record(id)["user_response"], Value::Null);
        if began.elapsed() < Duration::from_millis(1400) {
            assert!(!agent.is_finished(), "the agent got the answer early");
        }
        let (record, received) = agent.join().unwrap();
        assert!(received >= instant(&answering["effective_at"]));
        assert_eq!(record["user_response"], expected);
        assert_eq!(record["answered_by"], "operator");
        assert!(instant(&record["answered_at"]) >= instant(&answering["effective_at"]));
        assert!(pending_of_operator(&daemon).is_empty());
        withdraw(&daemon, id).error(409, "ALREADY_ANSWERED");
        assert_eq!(daemon.record(id)["user_response"], expected);
    }
}

#[test]
fn withdrawn_answer_never_takes_effect() {
    let daemon = Daemon::plain();
    for withdrawn in ["APPROVED", "DENIED"] {
        let id = &daemon.ask(&format!("mkdir {withdrawn}"))["id"];
        let answer = json!({
            "id": id, "response": withdrawn, "remember": "always", "note": "n", "delay_ms": 700,
        });
        accepted(&daemon.respond_with(&answer));
        let record = withdraw(&daemon, id).ok();
        assert_eq!(record["id"], *id);
        assert_eq!(record["user_response"], Value::Null);
        assert_eq!(pending_of_operator(&daemon)[0].get("answering"), None);
        withdraw(&daemon, id).error(404, "NOT_FOUND");
        thread::sleep(Duration::from_millis(1000));
        let record = daemon.record(id);
        assert_eq!(record["user_response"], Value::Null, "{record}");
        assert_eq!(record["answer_note"], Value::Null);
        let all = daemon.get("/api/hooks/remembered?all=true").ok();
        assert_eq!(all["total"], 0, "{all}");
        // The question is open again.
        daemon.respond(id, "DENIED").ok();
        assert_eq!(daemon.record(id)["user_response"], "DENIED");
    }
    let metrics = daemon.get("/metrics").text();
    assert!(
        metrics.contains("hooks_guard_withdrawn_answers_total 2"),
        "{metrics}"
    );
}

#[test]
fn later_answer_to_the_question_of_a_withdrawn_answer_has_its_own_delay() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("mkdir out")["id"];
    accepted(&answer(&daemon, id, "APPROVED", 500));
    withdraw(&daemon, id).ok();
    accepted(&answer(&daemon, id, "DENIED", LONG_MS));
    thread::sleep(Duration::from_millis(900));
    assert_eq!(daemon.record(id)["user_response"], Value::Null);
    withdraw(&daemon, id).ok();
}

#[test]
fn delayed_answer_conflicts_with_a_second_answer() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("mkdir out")["id"];
    accepted(&answer(&daemon, id, "APPROVED", LONG_MS));
    for delay_ms in [0, 500] {
        let error = answer(&daemon, id, "DENIED", delay_ms).error(409, "ALREADY_ANSWERED");
        let text = error["error"].as_str().unwrap();
        assert!(text.contains("APPROVED"), "{text}");
        let remedy = format!("DELETE /api/hooks/permission-response/{id}");
        assert!(text.contains(&remedy), "{text}");
    }
    withdraw(&daemon, id).ok();
    daemon.respond(id, "DENIED").ok();
    let again = answer(&daemon, id, "APPROVED", 500);
    again.error(409, "ALREADY_ANSWERED");
}

#[test]
fn denial_of_all_questions_precedes_a_delayed_approval() {
    let daemon = Daemon::plain();
    let mut listener = operator_listener(&daemon);
    let id = &daemon.ask("mkdir out")["id"];
    listener.expect("asked");
    accepted(&answer(&daemon, id, "APPROVED", 800));
    let deny = Request::new("POST", "/api/hooks/pending/deny").bearer(TOKEN);
    let denied = daemon.send(&deny.json(&json!({ "all": true }))).ok();
    assert_eq!(denied["denied"], 1);
    listener.expect("answering");
    assert_eq!(listener.expect("answered").data["user_response"], "DENIED");
    let withdrawn = listener.expect("withdrawn").data;
    assert_eq!(withdrawn["id"], *id);
    assert_eq!(withdrawn["by"], Value::Null);
    let reason = withdrawn["reason"].as_str().unwrap();
    assert!(reason.contains("DENIED"), "{reason}");
    assert_eq!(daemon.record(id)["user_response"], "DENIED");
}

#[test]
fn only_listeners_of_the_operator_receive_delayed_answers() {
    let daemon = Daemon::plain();
    let mut operator = operator_listener(&daemon);
    let mut viewer = Listener::new(&daemon);
    let id = &daemon.ask("mkdir out")["id"];
    operator.expect("asked");
    let body = accepted(&answer(&daemon, id, "APPROVED", LONG_MS));
    let event = operator.expect("answering");
    assert_eq!(event.data, body["answering"]);
    assert_eq!(event.id, None);
    // A listener that connects later learns it, too.
    assert_eq!(
        operator_listener(&daemon).expect("answering").data,
        body["answering"]
    );
    assert_eq!(daemon.pending()[0].get("answering"), None);
    assert_eq!(daemon.record(id).get("answering"), None);
    withdraw(&daemon, id).ok();
    let event = operator.expect("withdrawn");
    assert_eq!(
        event.data,
        json!({ "id": id, "by": "operator", "reason": null })
    );
    daemon.respond(id, "DENIED").ok();
    viewer.expect("asked");
    viewer.expect("answered");
    let mut later = operator_listener(&daemon);
    daemon.ask("ls");
    later.expect("asked");
}

#[test]
fn delaying_and_withdrawing_need_the_operator() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("mkdir out")["id"];
    let path = "/api/hooks/permission-response";
    let body = json!({ "id": id, "response": "APPROVED", "delay_ms": LONG_MS });
    let unauthorized = daemon.send(&Request::new("POST", path).json(&body));
    unauthorized.error(401, "OPERATOR_TOKEN_REQUIRED");
    accepted(&answer(&daemon, id, "DENIED", LONG_MS));
    let target = format!("{path}/{id}");
    for token in [None, Some("not-the-operators-token"), Some("")] {
        let request = Request::new("DELETE", &target);
        let request = match token {
            Some(token) => request.bearer(token),
            None => request,
        };
        daemon.send(&request).error(401, "OPERATOR_TOKEN_REQUIRED");
    }
    assert_eq!(
        pending_of_operator(&daemon)[0]["answering"]["response"],
        "DENIED"
    );
    for unknown in [json!(4711), json!(-1)] {
        withdraw(&daemon, &unknown).error(404, "NOT_FOUND");
    }
    let id = &daemon.ask("mkdir other")["id"];
    withdraw(&daemon, id).error(404, "NOT_FOUND");
}

#[test]
fn impossible_answers_are_refused_without_a_delay() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("mkdir out")["id"];
    for wrong in [json!(-1), json!(10_001), json!("3000"), json!(1.5)] {
        let body = json!({ "id": id, "response": "APPROVED", "delay_ms": wrong });
        let error = daemon.respond_with(&body).error(400, "INVALID_JSON");
        let details = error["details"].as_str().unwrap();
        assert!(details.contains("from 0 to 10000"), "{details}");
    }
    let refused = |body: Value, status, code| {
        let mut body = body;
        body["delay_ms"] = LONG_MS.into();
        daemon.respond_with(&body).error(status, code);
    };
    let unknown = json!({ "id": 4711, "response": "APPROVED" });
    refused(unknown, 404, "NOT_FOUND");
    let session = json!({ "id": id, "response": "APPROVED", "remember": "session" });
    refused(session, 409, "CANNOT_BE_REMEMBERED");
    let allowed = daemon.ask("ls");
    let allowed = json!({ "id": allowed["id"], "response": "DENIED" });
    refused(allowed, 409, "CANNOT_BE_ANSWERED");
    let deletion = daemon.ask("rm -r build");
    let deletion = json!({ "id": deletion["id"], "response": "APPROVED", "remember": "always" });
    refused(deletion, 409, "DELETION_NOT_CONFIRMED");
    assert!(
        pending_of_operator(&daemon)
            .iter()
            .all(|question| question.get("answering").is_none())
    );
}

#[test]
fn question_stays_open_if_the_service_stops_during_the_delay() {
    let mut daemon = Daemon::plain();
    let ids: Vec<_> = ["TERM", "KILL"]
        .iter()
        .map(|name| daemon.ask(&format!("mkdir {name}"))["id"].clone())
        .collect();
    for (id, signal) in ids.iter().zip(["TERM", "KILL"]) {
        accepted(&answer(&daemon, id, "APPROVED", 1500));
        daemon.signal(signal);
        daemon.end();
        thread::sleep(Duration::from_millis(1700));
        daemon = daemon.restart(|setup| setup);
        assert_eq!(daemon.record(id)["user_response"], Value::Null, "{signal}");
        assert_eq!(daemon.pending().len(), 2, "{signal}");
    }
    daemon.respond(&ids[0], "DENIED").ok();
}

/// A request in progress must not extend the delay over the start of the shutdown.
#[test]
fn delay_does_not_end_during_a_shutdown() {
    let mut daemon = Daemon::plain();
    let id = daemon.ask("mkdir out")["id"].clone();
    let (port, target) = (daemon.port, format!("/api/hooks/decisions/{id}?wait=50"));
    let agent = thread::spawn(move || Request::new("GET", &target).send(port));
    accepted(&answer(&daemon, &id, "APPROVED", 400));
    daemon.signal("TERM");
    agent.join().unwrap().error(503, "SHUTTING_DOWN");
    daemon.end();
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(daemon.record(&id)["user_response"], Value::Null);
}

#[test]
fn delay_ends_before_the_question_expires() {
    let daemon = Setup::new().config("approval_ttl_seconds = 3\n").start();
    let asked = daemon.ask("mkdir out");
    let id = &asked["id"];
    let deadline = instant(&daemon.record(id)["deadline"]);
    let body = accepted(&answer(&daemon, id, "APPROVED", LONG_MS));
    let effective = instant(&body["answering"]["effective_at"]);
    assert!(effective < deadline, "{body}");
    assert_eq!(daemon.answered(id), "APPROVED");

    // Without time for a delay, the answer takes effect at once.
    let id = &daemon.ask("mkdir other")["id"];
    thread::sleep(Duration::from_millis(2100));
    let record = answer(&daemon, id, "DENIED", LONG_MS).ok();
    assert_eq!(record["user_response"], "DENIED");
    assert_eq!(record.get("answering"), None);

    // After the deadline, an answer is refused.
    let id = &daemon.ask("mkdir late")["id"];
    thread::sleep(Duration::from_millis(3100));
    let error = answer(&daemon, id, "APPROVED", LONG_MS).error(409, "ALREADY_ANSWERED");
    assert_eq!(error["error"], "already answered: TIMEOUT");
}

#[test]
fn withdrawal_or_effect_wins_and_never_both() {
    let daemon = Daemon::plain();
    let (mut withdrawn, mut effective) = (0, 0);
    for round in 0..300 {
        let id = daemon.ask(&format!("mkdir {round}"))["id"].clone();
        accepted(&answer(&daemon, &id, "APPROVED", 1 + round % 12));
        let withdrawals: Vec<_> = (0..2)
            .map(|number| {
                let (port, id) = (daemon.port, id.clone());
                thread::spawn(move || {
                    let target = format!("/api/hooks/permission-response/{id}");
                    thread::sleep(Duration::from_micros((round * 40) % 9000 + number));
                    Request::new("DELETE", &target).bearer(TOKEN).send(port)
                })
            })
            .collect();
        let answers = withdrawals.into_iter().map(|thread| thread.join().unwrap());
        let answers: Vec<_> = answers.collect();
        let done = answers.iter().filter(|answer| answer.status == 200).count();
        if done == 0 {
            for answer in &answers {
                answer.error(409, "ALREADY_ANSWERED");
            }
            assert_eq!(daemon.answered(&id), "APPROVED", "round {round}");
            effective += 1;
        } else {
            assert_eq!(done, 1, "two withdrawals of one answer");
            thread::sleep(Duration::from_millis(15));
            assert_eq!(daemon.record(&id)["user_response"], Value::Null);
            daemon.respond(&id, "DENIED").ok();
            withdrawn += 1;
        }
    }
    assert!(
        withdrawn > 0 && effective > 0,
        "no race: {withdrawn} withdrawn, {effective} effective"
    );
}
