//! A question to the service, while its answer is pending.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::service::Respond;
use super::{Gates, Setup};
use crate::client::{Address, Client};
use crate::decider::RemoteService;
use crate::tool_call::{QuestionAnswer, QuestionService, RedeemError};

const LIMIT: Duration = Duration::from_secs(5);

/// Returns the service of a setup, as a client with the key.
fn remote(setup: &Setup) -> RemoteService {
    let client = setup.decider().client().expect("a key").expect("a key");
    RemoteService::new(client)
}

async fn answer(respond: Respond) -> Result<Option<QuestionAnswer>, String> {
    let mut setup = Setup::new(Gates::Tables);
    let _service = setup.listen(respond).await;
    remote(&setup).wait_for_answer(1, 0, LIMIT).await
}

#[tokio::test]
async fn only_the_word_approved_is_an_approval() {
    let of = |response: &str| Respond::json(200, &json!({ "user_response": response }));
    let denied = QuestionAnswer::Denied { note: None };
    for (response, expected) in [
        ("APPROVED", QuestionAnswer::Approved),
        ("TIMEOUT", QuestionAnswer::Expired),
        ("DENIED", denied.clone()),
        ("approved", denied.clone()),
        ("", denied),
    ] {
        assert_eq!(answer(of(response)).await, Ok(Some(expected)), "{response}");
    }
    let noted = json!({ "user_response": "DENIED", "answer_note": "not now" });
    let note = Some("not now".to_owned());
    assert_eq!(
        answer(Respond::json(200, &noted)).await,
        Ok(Some(QuestionAnswer::Denied { note }))
    );
    for pending in [json!({}), json!({ "user_response": true }), json!([])] {
        assert_eq!(answer(Respond::json(200, &pending)).await, Ok(None));
    }
}

#[tokio::test]
async fn a_refusal_ends_the_wait_and_a_shutdown_does_not() {
    let refused = answer(Respond::refusal(404, "UNKNOWN")).await;
    assert_eq!(refused, Err("refused (UNKNOWN)".to_owned()));
    let restarting = answer(Respond::refusal(503, "SHUTTING_DOWN")).await;
    assert_eq!(restarting, Ok(None));
    let website = answer(Respond::Website).await;
    assert!(website.is_err());
}

#[tokio::test]
async fn a_late_answer_is_still_pending() {
    let mut setup = Setup::new(Gates::Tables);
    let _service = setup.listen(Respond::Never).await;
    let limit = Duration::from_millis(100);
    let answer = remote(&setup).wait_for_answer(1, 0, limit).await;
    assert_eq!(answer, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_service_may_restart_within_ten_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = Address::Unix(folder.path().join("no.sock"));
    let service = RemoteService::new(Client::new(socket));
    let began = Instant::now();
    let error = loop {
        match service.wait_for_answer(1, 0, LIMIT).await {
            Ok(answer) => assert_eq!(answer, None),
            Err(error) => break error,
        }
    };
    assert!(error.contains("no service listens there"), "{error}");
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn an_approval_is_used_only_with_the_consent_of_the_service() {
    for (respond, expected) in [
        (Respond::json(200, &json!({})), Ok(())),
        (
            Respond::refusal(409, "CHANGED"),
            Err(RedeemError::Changed("refused".to_owned())),
        ),
        (
            Respond::refusal(409, "ALREADY_REDEEMED"),
            Err(RedeemError::Failed("refused (ALREADY_REDEEMED)".to_owned())),
        ),
    ] {
        let mut setup = Setup::new(Gates::Tables);
        let _service = setup.listen(respond).await;
        assert_eq!(remote(&setup).redeem(1, "secret", LIMIT).await, expected);
    }
    let mut setup = Setup::new(Gates::Tables);
    let _website = setup.listen(Respond::Website).await;
    let used = remote(&setup).redeem(1, "secret", LIMIT).await;
    assert!(matches!(used, Err(RedeemError::Failed(_))));
}
