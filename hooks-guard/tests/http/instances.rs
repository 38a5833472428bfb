//! Two processes on one PostgreSQL database, as behind a load balancer.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::operation::assert_intact;
use crate::cluster::Cluster;
use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};

/// Longer than any response, and shorter than the deadline of a question.
const WAIT: u64 = 60;

fn pair(cluster: &Cluster) -> (String, Daemon, Daemon) {
    let url = cluster.database();
    let start = || Setup::new().database(&url).start();
    (url.clone(), start(), start())
}

/// Waits for the answer to a question, at one of the processes.
fn long_poll(at: &Daemon, id: &Value) -> thread::JoinHandle<(Answer, Duration)> {
    let target = format!("/api/hooks/decisions/{id}?wait={WAIT}");
    let port = at.port;
    let handle = thread::spawn(move || {
        let began = Instant::now();
        let answer = Request::new("GET", &target).try_send(port).unwrap();
        (answer, began.elapsed())
    });
    // Let the wait begin before the answer is sent.
    thread::sleep(Duration::from_millis(300));
    handle
}

/// Checks that the waiting client was notified, instead of reading the answer after its timeout.
#[track_caller]
fn prompt_response((answer, elapsed): (Answer, Duration)) -> Value {
    assert!(
        elapsed < Duration::from_secs(WAIT / 2),
        "the answer did not end the long poll: {elapsed:?}"
    );
    answer.ok()
}

fn post(at: &Daemon, id: &Value, what: &str, body: &Value) -> Answer {
    let target = format!("/api/hooks/decisions/{id}/{what}");
    at.send(&Request::new("POST", &target).json(body))
}

#[test]
fn instances_share_questions_answers_approvals_and_one_chain() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (url, one, other) = pair(&cluster);
    let body = json!({"command": "mkdir out", "session_id": "s", "cwd": "/srv"});

    // Sent to one process, listed and answered at the other, delivered by the first.
    let permission = one.post(&body).ok();
    let (id, secret) = (&permission["id"], &permission["secret"]);
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    let pending = other.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!(&pending[0]["id"], id);
    let poll = long_poll(&one, id);
    other.respond(id, "APPROVED").ok();
    let record = prompt_response(poll.join().unwrap());
    assert_eq!(record["user_response"], "APPROVED");
    assert!(one.pending().is_empty());
    one.respond(id, "DENIED").error(409, "ALREADY_ANSWERED");

    // Redeemed once, at the other; its execution is reported at the first.
    let with_secret = json!({ "secret": secret });
    post(&other, id, "redeem", &json!({"secret": "another"})).error(403, "WRONG_SECRET");
    post(&other, id, "redeem", &with_secret).ok();
    post(&one, id, "redeem", &with_secret).error(409, "ALREADY_USED");
    let report = json!({"secret": secret, "exit_status": 0});
    post(&one, id, "executed", &report).ok();
    post(&other, id, "executed", &report).error(409, "ALREADY_EXECUTED");
    assert_eq!(other.record(id)["execution_happened"], true);

    // In the other direction, with a denial.
    let permission = other.post(&body).ok();
    assert_eq!(
        permission["decision"], "REQUIRES_CONFIRMATION",
        "the approval is used once"
    );
    let poll = long_poll(&other, &permission["id"]);
    one.respond(&permission["id"], "DENIED").ok();
    assert_eq!(
        prompt_response(poll.join().unwrap())["user_response"],
        "DENIED"
    );

    // An answer that is remembered at one process applies at the other until it is revoked.
    let permission = one.post(&body).ok();
    let answer = json!({"id": permission["id"], "response": "APPROVED", "remember": "session"});
    other.respond_with(&answer).ok();
    assert_eq!(one.post(&body).ok()["decision"], "AUTO_ALLOWED");
    let remembered = one.get("/api/hooks/remembered").ok();
    let number = &remembered["remembered"][0]["id"];
    let target = format!("/api/hooks/remembered/{number}");
    let approval = other.record(&permission["id"])["approval"].clone();
    let expected = json!({"remember": "session", "state": "active", "remembered_id": number});
    assert_eq!(approval, expected);
    one.as_operator("DELETE", &target).ok();
    let approval = other.record(&permission["id"])["approval"].clone();
    assert_eq!(approval["state"], "revoked");
    assert_eq!(other.get("/api/hooks/remembered").ok()["total"], 0);
    let all = other.get("/api/hooks/remembered?all=true").ok();
    assert_eq!(all["remembered"][0]["decision_id"], permission["id"]);
    assert_eq!(all["remembered"][0]["revoked_by"], "operator");

    drop((one, other));
    let summary = assert_intact(&url);
    assert!(summary.contains("intact: 4 decisions"), "{summary}");
}

/// A delayed answer is known to one process only; the answer that takes effect first counts.
#[test]
fn instances_record_the_first_effective_answer_to_a_question() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (url, one, other) = pair(&cluster);
    let id = &one.ask("mkdir out")["id"];
    let delayed = json!({"id": id, "response": "APPROVED", "remember": "always", "delay_ms": 1000});
    assert_eq!(one.respond_with(&delayed).status, 202);
    let target = format!("/api/hooks/permission-response/{id}");
    let withdraw = |at: &Daemon| at.as_operator("DELETE", &target);
    withdraw(&other).error(404, "NOT_FOUND");
    other.respond(id, "DENIED").ok();
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(one.record(id)["user_response"], "DENIED");
    let all = one.get("/api/hooks/remembered?all=true").ok();
    assert_eq!(all["total"], 0);
    withdraw(&one).error(409, "ALREADY_ANSWERED");
    drop((one, other));
    assert_intact(&url);
}

#[test]
fn instances_that_write_concurrently_keep_one_chain_and_one_answer() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (url, one, other) = pair(&cluster);
    let ports = [one.port, other.port];
    const EACH: usize = 25;
    let mut ids: Vec<i64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|writer: usize| {
                scope.spawn(move || {
                    let (here, there) = (ports[writer % 2], ports[(writer + 1) % 2]);
                    (0..EACH)
                        .map(|n| {
                            let body = json!({ "command": format!("mkdir {writer}-{n}") });
                            let id = ask(&body).send(here).ok()["id"].clone();
                            // Both answer at the same time; one answer takes effect.
                            let answered: Vec<u16> = thread::scope(|scope| {
                                let both = [(here, "APPROVED"), (there, "DENIED")];
                                let both = both.map(|(port, response)| {
                                    let body = json!({"id": id, "response": response});
                                    let path = "/api/hooks/permission-response";
                                    let request = Request::new("POST", path).bearer(TOKEN);
                                    scope.spawn(move || request.json(&body).send(port).status)
                                });
                                both.map(|it| it.join().unwrap()).into()
                            });
                            let mut answered = answered;
                            answered.sort_unstable();
                            assert_eq!(answered, [200, 409]);
                            id.as_i64().unwrap()
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        writers
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    ids.sort_unstable();
    let expected: Vec<i64> = (1..=6 * EACH as i64).collect();
    assert_eq!(ids, expected, "each number is given once");
    drop((one, other));
    assert_intact(&url);
}

#[test]
fn instances_survive_the_kill_of_another_instance() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (url, one, mut other) = pair(&cluster);
    let permission = one.ask("mkdir out");
    let poll = long_poll(&other, &permission["id"]);
    // Its connections are closed and its locks released.
    drop(one.into_setup());
    other.assert_healthy();
    other.respond(&permission["id"], "APPROVED").ok();
    assert_eq!(
        prompt_response(poll.join().unwrap())["user_response"],
        "APPROVED"
    );
    drop(other);
    assert_intact(&url);
}

#[test]
fn backup_of_postgresql_is_restored_with_its_own_tools() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (url, one, other) = pair(&cluster);
    let permission = one.ask("mkdir out");
    other.respond(&permission["id"], "APPROVED").ok();
    let dump = one.setup().folder().join("trail.dump");
    let name = one.setup().folder().join("copy.db").display().to_string();
    let refused = std::process::Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["audit", "backup", &name, "--database", &url])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("pg_dump"),
        "{refused:?}"
    );
    let copy = cluster.database();
    let dumped = cluster
        .tool("pg_dump")
        .args(["--format=custom", "--file"])
        .arg(&dump)
        .arg(&url)
        .output()
        .unwrap();
    assert!(dumped.status.success(), "{dumped:?}");
    let restored = cluster
        .tool("pg_restore")
        .args(["--no-owner", "--dbname", &copy])
        .arg(&dump)
        .output()
        .unwrap();
    assert!(restored.status.success(), "{restored:?}");
    assert_eq!(assert_intact(&copy), assert_intact(&url));
    let third = Setup::new().database(&copy).start();
    assert_eq!(third.record(&permission["id"])["user_response"], "APPROVED");
    third.ask("mkdir after");
    drop(third);
    assert_intact(&copy);
}
