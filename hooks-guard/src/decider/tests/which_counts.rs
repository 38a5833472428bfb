//! The decision that counts if both can decide.

use serde_json::json;

use super::service::Respond;
use super::{Gates, Setup, allowed, asks, denied, left_to_agent, question, request};
use crate::classify::Decision;
use crate::client::ClientError;
use crate::decider::{DecisionSource, local_answer};
use crate::protocol::AgentDecision;
use crate::request::PermissionDecision;

/// Returns `true` if the service's decision counts, and the reason if it does not.
async fn service_counts(
    gates: Gates,
    command: &str,
    decision: &PermissionDecision,
) -> (bool, Option<String>) {
    let mut setup = Setup::new(gates);
    let _service = setup.listen(Respond::decision(decision)).await;
    match setup.decide(command).await {
        Ok(DecisionSource::Service(_, permission)) => {
            assert_eq!(permission.reasoning, "of the service");
            (true, None)
        }
        Ok(DecisionSource::Local(permission, why)) => {
            assert_ne!(permission.reasoning, "of the service");
            (false, why)
        }
        Err(why) => (false, Some(why)),
    }
}

#[tokio::test]
async fn a_question_and_a_denial_of_the_service_count_whatever_this_process_decides() {
    for decision in [asks(), denied()] {
        for gates in [Gates::Tables, Gates::Deny, Gates::Fail, Gates::Panic] {
            let (counts, why) = service_counts(gates, "ls", &decision).await;
            assert!(counts, "{gates:?}: {why:?}");
        }
    }
}

#[tokio::test]
async fn an_allow_of_the_service_counts_if_this_process_allows_too() {
    for decision in [allowed(), left_to_agent()] {
        let (counts, why) = service_counts(Gates::Tables, "ls", &decision).await;
        assert!(counts, "{why:?}");
    }
}

#[tokio::test]
async fn an_allow_of_the_service_does_not_count_if_this_process_is_stricter() {
    let stricter = [
        (
            Gates::Tables,
            "rm -r src",
            "the service allows this command",
        ),
        (Gates::Deny, "ls", "the service allows this command"),
        (Gates::Fail, "ls", "invalid rules"),
    ];
    for (gates, command, expected) in stricter {
        for decision in [allowed(), left_to_agent()] {
            let (counts, why) = service_counts(gates, command, &decision).await;
            assert!(!counts, "{gates:?}");
            assert!(why.is_some_and(|why| why.contains(expected)), "{gates:?}");
        }
    }
}

#[tokio::test]
async fn an_allow_of_the_service_does_not_count_if_the_own_evaluation_panics() {
    let mut setup = Setup::new(Gates::Panic);
    let _service = setup.listen(Respond::decision(&allowed())).await;
    let decided = setup.decider().decide_by_service(&request("ls")).await;
    let why = decided.expect_err("the own decision is missing");
    assert_eq!(why.as_deref(), Some("hooks-guard panicked"));
}

#[tokio::test]
async fn an_approval_of_the_operator_counts_although_this_process_asks() {
    let approved = PermissionDecision {
        approved: true,
        ..allowed()
    };
    let (counts, why) = service_counts(Gates::Tables, "rm -r src", &approved).await;
    assert!(counts, "{why:?}");
}

#[tokio::test]
async fn the_other_home_directory_is_evaluated_too() {
    let mut setup = Setup::new(Gates::AskForOtherHome);
    let (permission, _) = setup.decide_locally("ls").await;
    assert_eq!(permission.decision, Decision::AutoAllowed);

    setup.deciders.other_home = Some("/other".into());
    let (permission, _) = setup.decide_locally("ls").await;
    assert_eq!(permission.decision, Decision::RequiresConfirmation);

    let _service = setup.listen(Respond::decision(&allowed())).await;
    let decided = setup.decider().decide_by_service(&request("ls")).await;
    assert!(
        decided.is_err(),
        "the service allows more than this process"
    );
}

#[tokio::test]
async fn this_process_decides_without_a_reason_if_no_service_is_there() {
    let setup = Setup::new(Gates::Tables);
    for has_key in [false, true] {
        if has_key {
            setup.create_key();
        }
        let (permission, why) = setup.decide_locally("ls").await;
        assert_eq!((permission.decision, why), (Decision::AutoAllowed, None));
        let (permission, why) = setup.decide_locally("rm -r src").await;
        assert_eq!(permission.decision, Decision::RequiresConfirmation);
        assert_eq!(why, None);
    }
}

#[tokio::test]
async fn a_program_that_does_not_prove_the_key_gets_no_decision() {
    let mut setup = Setup::new(Gates::Tables);
    // Without a key, this process connects and sends nothing.
    let listener = setup.bind().await;
    let (_, why) = setup.decide_locally("ls").await;
    let unproved = ClientError::Unproved(setup.deciders.service.to_string()).to_string();
    assert_eq!(why.as_deref(), Some(unproved.as_str()));
    drop(listener);

    let _website = setup.listen(Respond::Website).await;
    let (permission, why) = setup.decide_locally("ls").await;
    let unproved = ClientError::Unproved(setup.deciders.service.to_string()).to_string();
    assert_eq!(why.as_deref(), Some(unproved.as_str()));
    assert_ne!(permission.reasoning, "of the service");
}

#[tokio::test]
async fn this_process_decides_with_the_reason_if_the_response_is_no_decision() {
    let unexpected = "not a hooks-guard server";
    for (respond, expected) in [
        (Respond::Body(200, "<html>".to_owned()), unexpected),
        (Respond::json(200, &json!({})), unexpected),
        (
            Respond::json(200, &json!({ "decision": "AUTO_ALLOWED" })),
            unexpected,
        ),
        (Respond::json(404, &json!({})), unexpected),
        (
            Respond::refusal(429, "RATE_LIMITED"),
            "refused (RATE_LIMITED)",
        ),
        (
            Respond::refusal(503, "SHUTTING_DOWN"),
            "refused (SHUTTING_DOWN)",
        ),
        (Respond::refusal(500, "INTERNAL"), "refused (INTERNAL)"),
    ] {
        let mut setup = Setup::new(Gates::Tables);
        let _service = setup.listen(respond.clone()).await;
        let (permission, why) = setup.decide_locally("rm -r src").await;
        assert_eq!(permission.decision, Decision::RequiresConfirmation);
        let why = why.expect("a service is there");
        assert!(why.contains(expected), "{respond:?}: {why}");
    }
}

#[tokio::test]
async fn this_process_decides_with_the_reason_if_the_handshake_is_late() {
    let mut setup = Setup::new(Gates::Tables);
    setup.create_key();
    let _silent = setup.bind().await;
    let (permission, why) = setup.decide_locally("rm -r src").await;
    assert_eq!(permission.decision, Decision::RequiresConfirmation);
    assert!(why.is_some_and(|why| why.contains("no response within 600 ms")));
}

#[tokio::test]
async fn this_process_decides_with_the_reason_if_the_decision_of_the_service_is_late() {
    let mut setup = Setup::new(Gates::Tables);
    // The trail exists, so that the remaining time is enough.
    setup.decide_locally("ls").await;
    let _service = setup.listen(Respond::Never).await;
    let decider = setup.decider_for(std::time::Duration::from_secs(6));
    let decided = decider.decide(&request("rm -r src"), "no service").await;
    let Ok(DecisionSource::Local(permission, Some(why))) = decided else {
        panic!("this process decides, but the result is {decided:?}");
    };
    assert_eq!(permission.decision, Decision::RequiresConfirmation);
    assert!(why.contains("no response within"), "{why}");
}

#[test]
fn an_answer_beside_a_failed_service_never_uses_an_earlier_approval() {
    let approved = PermissionDecision {
        approved: true,
        ..allowed()
    };
    let answer = |decision, failure| local_answer(&question("ls", true), decision, failure);
    assert!(matches!(answer(&approved, None), AgentDecision::Allow(_)));
    let asked = answer(&approved, Some("late"));
    assert_eq!(asked, AgentDecision::Ask("of the service; late".to_owned()));
    let denied = local_answer(&question("ls", false), &approved, Some("late"));
    assert_eq!(
        denied,
        AgentDecision::Deny("of the service; late".to_owned())
    );
}

#[test]
fn an_answer_beside_a_failed_service_has_the_reason_only_in_a_question() {
    let answer = |decision: PermissionDecision, is_attended| {
        local_answer(&question("ls", is_attended), &decision, Some("late"))
    };
    let AgentDecision::Ask(why) = answer(asks(), true) else {
        panic!("the agent's user is asked");
    };
    assert!(why.ends_with("; late"), "{why}");
    assert!(matches!(answer(asks(), false), AgentDecision::Deny(_)));
    assert!(matches!(answer(denied(), true), AgentDecision::Deny(_)));
    // The decision of this process counts.
    assert!(matches!(answer(allowed(), true), AgentDecision::Allow(_)));
    assert_eq!(answer(left_to_agent(), true), AgentDecision::Nothing);
}
