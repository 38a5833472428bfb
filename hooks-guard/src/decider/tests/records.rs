//! Reports of executions: the service records them, or this process does.

use serde_json::json;

use super::service::Respond;
use super::{Gates, Setup, request};
use crate::client::ClientError;
use crate::decider::DecideError;
use crate::request::PermissionRequest;

/// Decides about a command in this process, and returns the id and the secret of the decision.
async fn decided(setup: &Setup) -> (i64, String) {
    let (permission, _) = setup.decide_locally("ls").await;
    permission.id.zip(permission.secret).expect("a record")
}

#[tokio::test]
async fn this_process_records_an_execution_that_the_service_does_not() {
    for respond in [
        None,
        Some(Respond::Website),
        Some(Respond::refusal(503, "SHUTTING_DOWN")),
    ] {
        let mut setup = Setup::new(Gates::Tables);
        let (id, secret) = decided(&setup).await;
        let _service = match &respond {
            Some(respond) => Some(setup.listen(respond.clone()).await),
            None => None,
        };
        let other = request("ls /etc");
        for ran in [&request("ls"), &other] {
            let reported = setup
                .decider()
                .report(id, &secret, Some(ran), Some(0))
                .await;
            let record = reported.expect("it is recorded");
            // The first report counts.
            assert!(record.is_none(), "{respond:?}");
        }
    }
}

#[tokio::test]
async fn another_command_than_the_decided_one_is_returned() {
    let setup = Setup::new(Gates::Tables);
    let (id, secret) = decided(&setup).await;
    let other = request("ls /etc");
    let decider = setup.decider();
    let reported = decider.report(id, &secret, Some(&other), None).await;
    let record = reported.expect("it is recorded");
    let record = record.expect("another command ran");
    assert_eq!(record.ran_command.as_deref(), Some("ls /etc"));
}

#[tokio::test]
async fn a_rejected_report_is_an_error_and_a_repeated_one_is_not() {
    let mut setup = Setup::new(Gates::Tables);
    let (id, secret) = decided(&setup).await;
    let service = setup.listen(Respond::refusal(403, "WRONG_SECRET")).await;
    let reported = setup.decider().report(id, &secret, None, None).await;
    assert!(matches!(
        reported,
        Err(DecideError::Client(ClientError::Refused {
            status: 403,
            ..
        }))
    ));
    drop(service);
    let _service = setup
        .listen(Respond::refusal(409, "ALREADY_EXECUTED"))
        .await;
    let reported = setup.decider().report(id, &secret, None, None).await;
    assert!(reported.expect("it is recorded").is_none());
}

#[tokio::test]
async fn a_report_about_a_decision_of_the_service_alone_is_an_error() {
    let setup = Setup::new(Gates::Tables);
    let (id, _) = decided(&setup).await;
    for (id, secret) in [(id, "wrong"), (id + 1, "unknown")] {
        let reported = setup.decider().report(id, secret, None, None).await;
        let error = reported.expect_err("the trail has another decision");
        assert!(matches!(error, DecideError::NoKey(_)), "{error}");
    }
}

#[tokio::test]
async fn a_report_that_nothing_records_has_both_reasons() {
    let setup = Setup::new(Gates::Tables).with_broken_trail();
    let reported = setup.decider().report(1, "secret", None, None).await;
    let error = reported.expect_err("no trail").to_string();
    assert!(error.contains("has not created a key yet; "), "{error}");
}

#[tokio::test]
async fn a_run_without_a_call_id_is_not_recorded_locally() {
    let setup = Setup::new(Gates::Tables).with_broken_trail();
    let decider = setup.decider();
    let unnamed = decider.record_locally(&request("ls"), None).await;
    assert!(unnamed.expect("nothing is recorded").is_none());
    let named = PermissionRequest {
        call_id: Some("1".to_owned()),
        ..request("ls")
    };
    assert!(decider.record_locally(&named, None).await.is_err());
}

#[tokio::test]
async fn a_denial_is_recorded_only_with_a_gate() {
    let denied = |gates| async move {
        let setup = Setup::new(gates);
        let request = PermissionRequest {
            call_id: Some("1".to_owned()),
            ..request("ls")
        };
        setup.decider().record_denial(request, "by the user").await
    };
    assert!(denied(Gates::Tables).await.is_ok());
    assert!(matches!(
        denied(Gates::Fail).await,
        Err(DecideError::Gate(_))
    ));
}

#[tokio::test]
async fn a_service_of_another_version_records_a_report_too() {
    let mut setup = Setup::new(Gates::Tables);
    let _service = setup.listen(Respond::json(200, &json!({ "new": 1 }))).await;
    let reported = setup.decider().report(1, "secret", None, None).await;
    assert!(reported.expect("it is recorded").is_none());
}
