//! A process that cannot decide or record: the answer is never an allow.

use super::service::Respond;
use super::{Gates, Setup, allowed, question, request};
use crate::decider::DecisionSource;
use crate::protocol::AgentDecision;
use crate::tool_call::without_decision;

#[tokio::test]
async fn without_a_gate_there_is_no_decision() {
    let why = Setup::new(Gates::Fail).decide("ls").await;
    let why = why.expect_err("the rules are invalid");
    assert_eq!(
        why,
        "hooks-guard cannot decide: invalid rules; correct them"
    );
}

#[tokio::test]
async fn without_a_trail_there_is_no_decision() {
    for command in ["ls", "rm -r src"] {
        let setup = Setup::new(Gates::Tables).with_broken_trail();
        let why = setup.decide(command).await;
        let why = why.expect_err("the trail is a folder");
        assert!(why.starts_with("hooks-guard cannot decide: "), "{why}");
    }
}

#[tokio::test]
async fn a_denial_counts_without_a_trail() {
    let setup = Setup::new(Gates::Deny).with_broken_trail();
    let (permission, why) = setup.decide_locally("ls").await;
    assert!(permission.denied);
    assert_eq!(why, None);
}

#[tokio::test]
async fn a_failure_of_both_has_both_reasons() {
    let mut setup = Setup::new(Gates::Tables).with_broken_trail();
    let _service = setup.listen(Respond::refusal(500, "INTERNAL")).await;
    let why = setup.decide("ls").await.expect_err("neither decides");
    assert!(why.starts_with("hooks-guard cannot decide: "), "{why}");
    assert!(why.ends_with("; refused (INTERNAL)"), "{why}");
}

#[tokio::test]
async fn an_allow_of_the_service_does_not_count_if_this_process_cannot_decide() {
    let mut setup = Setup::new(Gates::Fail);
    let _service = setup.listen(Respond::decision(&allowed())).await;
    let why = setup.decide("ls").await.expect_err("the rules are invalid");
    assert!(why.contains("invalid rules"), "{why}");
}

#[tokio::test]
async fn a_passed_deadline_gives_no_decision() {
    let setup = Setup::new(Gates::Tables);
    let decider = setup.decider_for(std::time::Duration::ZERO);
    let decided = decider.decide(&request("ls"), "no service").await;
    let why = decided.expect_err("no time is left");
    assert!(
        why.contains("timeout while writing the audit trail"),
        "{why}"
    );
}

#[tokio::test]
async fn no_reading_has_no_decision_and_a_failed_gate_is_an_error() {
    let none = Setup::new(Gates::Fail).decider().strictest(vec![]).await;
    assert!(none.expect("nothing is evaluated").is_none());
    for gates in [Gates::Fail, Gates::Panic] {
        let setup = Setup::new(gates);
        let found = setup.decider().strictest(vec![request("ls")]).await;
        assert!(found.is_err(), "{gates:?}");
    }
}

#[tokio::test]
async fn the_strictest_reading_of_a_request_counts() {
    let setup = Setup::new(Gates::Tables);
    let readings = ["ls", "rm -r src", "mkdir a"].map(request).to_vec();
    let found = setup.decider().strictest(readings).await;
    let (reading, _) = found.expect("it decides").expect("a reading");
    assert_eq!(reading.command, "rm -r src");
}

#[test]
fn without_a_decision_the_user_is_asked_or_the_request_is_denied() {
    let answer = |is_attended| without_decision(&question("ls", is_attended), "late".to_owned());
    assert_eq!(answer(true), AgentDecision::Ask("late".to_owned()));
    assert_eq!(answer(false), AgentDecision::Deny("late".to_owned()));
}

#[tokio::test]
async fn a_long_lived_process_can_decide_again() {
    let setup = Setup::new(Gates::Tables);
    for _ in 0..2 {
        let decider = setup.decider().in_long_lived_process();
        let decided = decider.decide(&request("ls"), "no service").await;
        assert!(matches!(decided, Ok(DecisionSource::Local(_, None))));
    }
}
