//! A question as a value: serialised, stored, and answered later by another task (E-132 to
//! E-138 hold for it too).

use hooks_runtime::approval::{Approval, ApprovalDecision, ApprovalRequest, FixedAnswers};
use hooks_runtime::{ApprovalDefault, Coordinator, HookResult};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{approval_request, call, decide, gate, with};

fn offers_allow_always() -> HookResult {
    HookResult {
        approval_options: Some(
            ["Allow once", "Allow always", "Overwrite", "Deny"]
                .map(str::to_owned)
                .to_vec(),
        ),
        ..HookResult::ask_user("Run it?").reason("it writes")
    }
}

async fn request_for(result: HookResult) -> ApprovalRequest {
    approval_request(&Coordinator::new(), &gate(result), "tool:pre", call()).await
}

fn through_json(request: &ApprovalRequest) -> ApprovalRequest {
    let text = serde_json::to_string(request).expect("it can be stored");
    serde_json::from_str(&text).expect("it can be read back")
}

/// Returns the question as if it had been asked ten minutes ago.
fn ten_minutes_old(request: &ApprovalRequest) -> ApprovalRequest {
    let mut old = request.clone();
    let second = old.asked_at.as_second() - 600;
    let mut value = serde_json::to_value(&old).unwrap();
    let at = format_time(second);
    value["asked_at"] = Value::String(at);
    old = serde_json::from_value(value).expect("a time of the form that it is stored in");
    assert!(old.asked_at < request.asked_at);
    old
}

/// Seconds since 1970, as RFC 3339 in UTC.
fn format_time(second: i64) -> String {
    let (day, rest) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    let (mut year, mut day) = (1970, day);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if day < length {
            break;
        }
        day -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        day + 1
    )
}

#[tokio::test]
async fn e_138_a_request_round_trips_through_json() {
    for result in [
        offers_allow_always(),
        offers_allow_always().approval_key("k"),
        HookResult::ask_user(""),
        HookResult::ask_user("Ünïcödé \u{0} \u{202e}?").approval_timeout(0.125),
        HookResult::ask_user("Run it?").approval_timeout(1e300),
    ] {
        let request = request_for(result).await;
        assert_eq!(through_json(&request), request);
        assert_eq!(through_json(&through_json(&request)), request);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_138_arbitrary_timeouts_and_texts_round_trip_through_json(
        timeout in prop_oneof![0.000_001..1000.0_f64, 1000.0..1e6_f64, Just(f64::MAX)],
        prompt in any::<String>(),
        label in any::<String>(),
    ) {
        let result = HookResult {
            approval_options: Some(vec![label.clone(), "No".to_owned()]),
            ..HookResult::ask_user(prompt).approval_timeout(timeout)
        };
        let request = futures::executor::block_on(request_for(result));
        let read = through_json(&request);
        prop_assert_eq!(&read, &request);
        let coordinator = Coordinator::new();
        let (read, kept) = (coordinator.resolve(read, &*label), coordinator.resolve(request, &*label));
        prop_assert_eq!(read.decision, kept.decision);
    }
}

#[tokio::test]
async fn e_91_the_timeout_is_serialized_in_seconds() {
    let value = serde_json::to_value(request_for(offers_allow_always()).await).unwrap();
    assert_eq!(value["timeout"].as_f64(), Some(300.0));
    assert_eq!(value["prompt"], "Run it?");
    assert_eq!(value["data"], Value::Object(call()));
}

#[tokio::test]
async fn e_133_another_task_and_coordinator_can_resolve_a_stored_request() {
    let text = serde_json::to_string(&request_for(offers_allow_always()).await).unwrap();
    for (answer, is_allowed) in [
        ("Allow once", true),
        ("Allow always", true),
        ("Overwrite", true),
        ("Deny", false),
        ("allow once", false),
        ("", false),
    ] {
        let text = text.clone();
        let approval = tokio::spawn(async move {
            let request: ApprovalRequest = serde_json::from_str(&text).unwrap();
            Coordinator::new().resolve(request, answer)
        })
        .await
        .unwrap();
        assert_eq!(approval.is_allowed(), is_allowed, "{answer:?}");
        assert_eq!(approval.denial().is_some(), !is_allowed, "{answer:?}");
        assert_eq!(approval.covers(&call()), is_allowed, "{answer:?}");
        let stored = serde_json::to_string(&approval).unwrap();
        assert_eq!(serde_json::from_str::<Approval>(&stored).unwrap(), approval);
    }
}

#[tokio::test]
async fn e_137_a_resolved_denial_contains_prompt_and_reason() {
    let request = through_json(&request_for(offers_allow_always()).await);
    let denial = Coordinator::new()
        .resolve(request, "Deny")
        .denial()
        .unwrap();
    assert!(
        denial.contains("Run it?") && denial.contains("it writes"),
        "{denial}"
    );
}

#[tokio::test]
async fn e_134_an_allowing_answer_after_the_deadline_is_a_timeout() {
    for (default, is_allowed) in [
        (ApprovalDefault::Allow, true),
        (ApprovalDefault::Deny, false),
    ] {
        let request = request_for(offers_allow_always().approval_default(default)).await;
        let late = ten_minutes_old(&request);
        let coordinator = Coordinator::new();
        for answer in ["Allow once", "Allow always", "Deny", "perhaps"] {
            let approval = coordinator.resolve(late.clone(), answer);
            if ["Deny", "perhaps"].contains(&answer) {
                assert!(
                    !approval.is_allowed(),
                    "{answer}: a denial is accepted after the deadline"
                );
                continue;
            }
            assert_eq!(approval.decision, ApprovalDecision::TimedOut, "{answer}");
            assert_eq!(approval.is_allowed(), is_allowed, "{answer}");
        }
        let in_time = coordinator.resolve(request, "Deny");
        assert!(
            !in_time.is_allowed(),
            "the late `Allow always` is not remembered"
        );
    }
}

#[tokio::test]
async fn e_134_a_stored_request_can_be_resolved_before_its_deadline() {
    let request =
        ten_minutes_old(&request_for(offers_allow_always().approval_timeout(3600.0)).await);
    let coordinator = Coordinator::new();
    assert!(coordinator.resolve(request, "Allow once").is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_134_a_stored_request_is_not_asked_after_its_deadline() {
    let provider = FixedAnswers::allow();
    let request = ten_minutes_old(&request_for(offers_allow_always()).await);
    let approval = with(provider.clone()).ask(request).await;
    assert_eq!(approval.decision, ApprovalDecision::TimedOut);
    assert!(!approval.is_allowed());
    assert!(provider.asked().is_empty());
}

#[tokio::test]
async fn e_138_allow_always_on_a_stored_request_is_remembered() {
    let provider = FixedAnswers::deny();
    let (coordinator, hooks) = (with(provider.clone()), gate(offers_allow_always()));
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let approval = coordinator.resolve(through_json(&request), "Allow always");
    assert!(approval.is_allowed());
    let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
    assert!(!applied.is_denied() && provider.asked().is_empty());
}

#[tokio::test]
async fn e_138_allow_always_on_a_stored_request_without_prompt_is_not_remembered() {
    let provider = FixedAnswers::deny();
    let hooks = gate(HookResult {
        approval_prompt: None,
        ..offers_allow_always()
    });
    let coordinator = with(provider.clone());
    let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
    let _ = coordinator.resolve(through_json(&request), "Allow always");
    assert!(
        decide(&coordinator, &hooks, "tool:pre", call())
            .await
            .is_denied()
    );
    assert_eq!(provider.asked().len(), 1);
}

#[tokio::test]
async fn e_136_an_approval_covers_only_the_data_of_the_stored_request() {
    let mut value = serde_json::to_value(request_for(offers_allow_always()).await).unwrap();
    value["data"] = json!({"tool_name": "shell", "tool_input": {"command": "echo harmless"}});
    // The changed value is invalid, or a question about its displayed data.
    if let Ok(request) = serde_json::from_value::<ApprovalRequest>(value) {
        let approval = Coordinator::new().resolve(request, "Allow once");
        assert!(!approval.covers(&call()), "these data were not shown");
    }
}

#[tokio::test]
async fn e_133_a_request_with_missing_or_invalid_fields_is_not_deserialized() {
    let whole = serde_json::to_value(request_for(offers_allow_always()).await).unwrap();
    for field in [
        "id", "session", "event", "hook", "prompt", "options", "data", "timeout",
    ] {
        let mut value = whole.clone();
        value.as_object_mut().unwrap().remove(field);
        assert!(
            serde_json::from_value::<ApprovalRequest>(value).is_err(),
            "{field}"
        );
    }
    let mut value = whole.clone();
    value["options"][0]["effect"] = "allow_for_ever".into();
    assert!(serde_json::from_value::<ApprovalRequest>(value).is_err());
    for time in [json!(-1), json!("soon"), json!({})] {
        let mut value = whole.clone();
        value["timeout"] = time.clone();
        assert!(
            serde_json::from_value::<ApprovalRequest>(value).is_err(),
            "{time}"
        );
    }
}

#[tokio::test]
async fn e_130_request_ids_are_unique() {
    let (first, second) = (
        request_for(offers_allow_always()).await,
        request_for(offers_allow_always()).await,
    );
    assert_ne!(first.id, second.id);
}
