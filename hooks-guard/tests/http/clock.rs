//! A clock that is set back or forward: no question and no approval outlives its deadline.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::ShiftedClock;
use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup};

const DAY: i64 = 24 * 3_600;

/// Returns the final answer of a question, which it must have long before a day has passed.
#[track_caller]
fn outcome(daemon: &Daemon, id: &Value) -> Value {
    let begin = Instant::now();
    loop {
        let record = daemon.record(id);
        if !record["user_response"].is_null() {
            return record["user_response"].clone();
        }
        assert!(begin.elapsed() < Duration::from_secs(40), "{record}");
        thread::sleep(Duration::from_millis(100));
    }
}

fn redeem(daemon: &Daemon, permission: &Value) -> u16 {
    let target = format!("/api/hooks/decisions/{}/redeem", permission["id"]);
    let body = json!({ "secret": permission["secret"] });
    daemon
        .send(&Request::new("POST", &target).json(&body))
        .status
}

#[test]
fn a_question_times_out_although_the_clock_is_set_back() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    // By more and by less than clocks may differ.
    for seconds in [DAY, 3_600, 30, 4] {
        clock.shift(0);
        let setup = Setup::new().config("approval_ttl_seconds = 3");
        let daemon = clock.on(setup).start();
        let id = daemon.ask("mkdir out")["id"].clone();
        thread::sleep(Duration::from_secs(2));
        clock.shift(-seconds);
        assert_eq!(outcome(&daemon, &id), "TIMEOUT", "{seconds}");
        assert_eq!(daemon.pending(), Vec::<Value>::new());
        daemon
            .respond(&id, "APPROVED")
            .error(409, "ALREADY_ANSWERED");
        // New questions wait for their full time.
        let id = daemon.ask("mkdir out")["id"].clone();
        assert_eq!(daemon.pending().len(), 1);
        daemon.respond(&id, "APPROVED").ok();
    }
}

#[test]
fn setting_the_clock_back_does_not_reopen_a_question() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let setup = Setup::new().config("approval_ttl_seconds = 300");
    let daemon = clock.on(setup).start();
    let id = daemon.ask("mkdir out")["id"].clone();
    clock.shift(-DAY);
    // Immediately, before the search for expired questions.
    let answer = daemon.respond(&id, "APPROVED");
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert_eq!(outcome(&daemon, &id), "TIMEOUT");
}

#[test]
fn a_question_times_out_after_a_restart_with_the_clock_set_back() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let setup = Setup::new().config("approval_ttl_seconds = 6");
    let daemon = clock.on(setup).start();
    let far = daemon.ask("mkdir far")["id"].clone();
    clock.shift(-DAY);
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(outcome(&daemon, &far), "TIMEOUT");
    let near = daemon.ask("mkdir near")["id"].clone();
    clock.shift(-DAY - 30);
    let begin = Instant::now();
    let daemon = daemon.restart(|setup| setup);
    assert_eq!(outcome(&daemon, &near), "TIMEOUT");
    assert!(
        begin.elapsed() < Duration::from_secs(25),
        "the wait is not longer than for a new question"
    );
}

#[test]
fn an_approval_expires_although_the_clock_is_set_back() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    for seconds in [DAY, 30] {
        clock.shift(0);
        let setup = Setup::new().config("approval_ttl_seconds = 3");
        let daemon = clock.on(setup).start();
        let permission = daemon.ask("mkdir out");
        daemon.respond(&permission["id"], "APPROVED").ok();
        clock.shift(-seconds);
        thread::sleep(Duration::from_secs(4));
        assert_eq!(redeem(&daemon, &permission), 409, "{seconds}");
        let again = daemon.ask("mkdir out");
        assert_eq!(again["decision"], "REQUIRES_CONFIRMATION", "{seconds}");
        // Also after a restart, as far as the recorded time allows.
        if seconds == DAY {
            let daemon = daemon.restart(|setup| setup);
            assert_eq!(redeem(&daemon, &permission), 409);
            let again = daemon.ask("mkdir out");
            assert_eq!(again["decision"], "REQUIRES_CONFIRMATION");
        }
    }
}

#[test]
fn questions_and_approvals_expire_if_the_clock_is_set_forward_and_back() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let setup = Setup::new().config("approval_ttl_seconds = 300");
    let daemon = clock.on(setup).start();
    clock.shift(DAY);
    let open = daemon.ask("mkdir open");
    let approved = daemon.ask("mkdir approved");
    daemon.respond(&approved["id"], "APPROVED").ok();
    clock.shift(0);
    assert_eq!(outcome(&daemon, &open["id"]), "TIMEOUT");
    assert_eq!(redeem(&daemon, &approved), 409);
    let again = daemon.ask("mkdir approved");
    assert_eq!(again["decision"], "REQUIRES_CONFIRMATION");
    assert!(!daemon.stderr().contains("panicked"));
}
