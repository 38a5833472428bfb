//! Displayed questions, answers, and defaults (E-130 to E-137, E-140).

use std::time::Duration;

use hooks_runtime::approval::{ApprovalDecision, ApprovalEffect, ApprovalOption, FixedAnswers};
use hooks_runtime::{
    ApprovalDefault, Conversation, Coordinator, HookRegistry, HookResult, UserMessage,
};
use serde_json::json;
use tokio::time::Instant;

use super::{
    Offline, Panics, PanicsBeforeFuture, RecordsRequests, Silent, approval_request, ask, call,
    decide, gate, labels, with,
};
use crate::kit::{Log, at, map, named, returning};

#[tokio::test]
async fn e_130_the_request_contains_the_prompt_of_the_hook() {
    let provider = FixedAnswers::allow();
    let _ = ask(
        provider.clone(),
        HookResult::ask_user("Deploy to production?"),
    )
    .await;
    assert_eq!(provider.asked()[0].prompt, "Deploy to production?");
}

#[tokio::test]
async fn e_130_a_missing_prompt_is_replaced_by_a_generic_prompt() {
    let bare = HookResult {
        approval_prompt: None,
        ..HookResult::ask_user("")
    };
    for result in [bare, HookResult::ask_user(""), HookResult::ask_user(" \n ")] {
        let provider = FixedAnswers::allow();
        let applied = ask(provider.clone(), result).await;
        assert!(!applied.is_denied());
        let prompt = &provider.asked()[0].prompt;
        assert!(!prompt.trim().is_empty(), "the prompt has a text");
    }
}

#[tokio::test]
async fn e_130_the_request_contains_event_hook_reason_tool_and_data() {
    let hooks = gate(HookResult::ask_user("Run it?").reason("it writes"));
    let request = approval_request(&Coordinator::new(), &hooks, "tool:pre", call()).await;
    assert_eq!((&*request.event, &*request.hook), ("tool:pre", "gate"));
    assert_eq!(request.reason.as_deref(), Some("it writes"));
    assert_eq!(request.tool.as_deref(), Some("shell"));
    assert_eq!(*request.data, call());
    assert!(!request.has_changed);
}

#[tokio::test]
async fn e_91_the_default_timeout_is_300_seconds_and_the_default_answer_deny() {
    let request = approval_request(
        &Coordinator::new(),
        &gate(HookResult::ask_user("Run it?")),
        "tool:pre",
        call(),
    )
    .await;
    assert_eq!(request.timeout, Duration::from_secs(300));
    assert_eq!(request.default, ApprovalDefault::Deny);
}

#[tokio::test]
async fn e_131_without_options_the_request_offers_allow_and_deny() {
    let none = HookResult::ask_user("Delete temporary files?");
    let empty = HookResult {
        approval_options: Some(Vec::new()),
        ..none.clone()
    };
    let no_choices = none.clone().approval_choices([]);
    for result in [none, empty, no_choices] {
        let request =
            approval_request(&Coordinator::new(), &gate(result), "tool:pre", call()).await;
        assert_eq!(labels(&request), ["Allow", "Deny"]);
        let effects: Vec<_> = request.options.iter().map(|o| o.effect).collect();
        assert_eq!(effects, [ApprovalEffect::AllowOnce, ApprovalEffect::Deny]);
    }
}

#[tokio::test]
async fn e_131_options_are_shown_verbatim_and_in_order() {
    let given = [" yes, But…", "NO", "Überschreiben", "NO", "\tlater\n", "y"];
    let result = HookResult {
        approval_options: Some(given.iter().map(|&label| label.to_owned()).collect()),
        ..HookResult::ask_user("Run it?")
    };
    let request = approval_request(&Coordinator::new(), &gate(result), "tool:pre", call()).await;
    assert_eq!(labels(&request), given);
}

#[tokio::test]
async fn e_132_an_answer_that_is_not_an_offered_label_denies() {
    for answer in [
        "Yes",
        "allow",
        "Allow ",
        " Allow",
        "ALLOW",
        "Allow once",
        "1",
        "",
    ] {
        let question = HookResult::ask_user("Run it?").approval_default(ApprovalDefault::Allow);
        let applied = ask(FixedAnswers::labels([answer]), question).await;
        assert!(applied.is_denied(), "{answer:?}");
        let approval = applied.approval.expect("it was asked");
        let expected = ApprovalDecision::NotOffered(answer.to_owned());
        assert_eq!(approval.decision, expected);
        assert_eq!(approval.label(), None);
    }
}

#[tokio::test]
async fn e_133_the_approval_contains_the_chosen_label() {
    let question = HookResult::ask_user("Overwrite existing file?").approval_choices([
        ApprovalOption::allow_once("Overwrite"),
        ApprovalOption::allow_once("Create backup and overwrite"),
        ApprovalOption::deny("Cancel"),
    ]);
    for (label, is_denied) in [
        ("Overwrite", false),
        ("Create backup and overwrite", false),
        ("Cancel", true),
    ] {
        let applied = ask(FixedAnswers::labels([label]), question.clone()).await;
        assert_eq!(applied.is_denied(), is_denied, "{label}");
        assert_eq!(applied.approval.unwrap().label(), Some(label));
    }
}

#[tokio::test(start_paused = true)]
async fn e_134_after_the_timeout_the_default_decides() {
    for (default, is_denied) in [
        (ApprovalDefault::Allow, false),
        (ApprovalDefault::Deny, true),
    ] {
        let start = Instant::now();
        let question = HookResult::ask_user("Run it?").approval_default(default);
        let applied = ask(Silent, question.approval_timeout(30.0)).await;
        assert_eq!(applied.is_denied(), is_denied);
        let approval = applied.approval.unwrap();
        assert_eq!(approval.decision, ApprovalDecision::TimedOut);
        assert_eq!(approval.is_allowed(), !is_denied);
        assert!(start.elapsed() >= Duration::from_secs(29), "it has waited");
        assert!(start.elapsed() < Duration::from_secs(32), "no longer");
    }
}

#[tokio::test(start_paused = true)]
async fn e_134_without_a_default_a_timeout_denies() {
    let applied = ask(Silent, HookResult::ask_user("Run it?")).await;
    assert!(applied.is_denied());
}

#[tokio::test(start_paused = true)]
async fn e_134_if_the_provider_fails_the_default_decides() {
    for (default, is_denied) in [
        (ApprovalDefault::Allow, false),
        (ApprovalDefault::Deny, true),
    ] {
        let question = HookResult::ask_user("Run it?").approval_default(default);
        let failed = [
            ask(Offline, question.clone()).await,
            ask(Panics, question.clone()).await,
            ask(PanicsBeforeFuture, question.clone()).await,
            ask(FixedAnswers::labels(Vec::<String>::new()), question).await,
        ];
        for applied in failed {
            assert_eq!(applied.is_denied(), is_denied, "{applied:?}");
            let approval = applied.approval.unwrap();
            assert!(
                matches!(approval.decision, ApprovalDecision::Failed(_)),
                "{approval:?}"
            );
        }
    }
}

#[tokio::test]
async fn e_134_a_coordinator_remains_usable_after_its_provider_panics() {
    let coordinator = with(Panics);
    let hooks = gate(HookResult::ask_user("Run it?"));
    for _ in 0..3 {
        assert!(
            decide(&coordinator, &hooks, "tool:pre", call())
                .await
                .is_denied()
        );
    }
}

#[tokio::test]
async fn e_135_without_a_provider_a_request_is_denied_despite_its_default() {
    for default in [ApprovalDefault::Allow, ApprovalDefault::Deny] {
        for timeout in [300.0, 0.0] {
            let question = HookResult::ask_user("Run it?")
                .approval_default(default)
                .approval_timeout(timeout);
            let applied = decide(&Coordinator::new(), &gate(question), "tool:pre", call()).await;
            assert!(applied.is_denied(), "{default:?}, {timeout} s");
            assert!(applied.denial().unwrap().contains("Run it?"));
            let approval = applied.approval.unwrap();
            assert_eq!(approval.decision, ApprovalDecision::NobodyToAsk);
        }
    }
}

#[tokio::test]
async fn e_136_an_approved_emission_keeps_data_injections_and_messages() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let modify = HookResult::modify(map(json!({"path": "/tmp/a"}))).user_message("moved");
    hooks.register("tool:pre", returning(modify), at(1));
    let inject = HookResult::inject_context("the disk is nearly full").user_message("told");
    hooks.register("tool:pre", returning(inject), at(2));
    let ask = HookResult::ask_user("Write it?").user_message("asks");
    hooks.register("tool:pre", returning(ask), at(3));
    let shown = log.clone();
    let coordinator = Coordinator::builder()
        .provider(FixedAnswers::allow())
        .display(move |message: &UserMessage| shown.add(&message.text))
        .build();
    let mut conversation = Conversation::new();
    let data = map(json!({"path": "a"}));
    let applied = coordinator
        .emit(&hooks, "tool:pre", data, &mut conversation)
        .await
        .unwrap();
    assert!(!applied.is_denied());
    assert_eq!(*applied.data, map(json!({"path": "/tmp/a"})));
    assert_eq!(conversation.history()[0].content, "the disk is nearly full");
    assert_eq!(log.lines(), ["moved", "told", "asks"]);
}

#[tokio::test]
async fn e_137_the_denial_contains_the_prompt_and_the_reason_of_the_hook() {
    let question = HookResult::ask_user("Restart nginx?").reason("needs elevated privileges");
    let applied = ask(FixedAnswers::deny(), question).await;
    let denial = applied.denial().expect("it is denied");
    assert!(denial.contains("Restart nginx?"), "{denial}");
    assert!(denial.contains("needs elevated privileges"), "{denial}");
    let approval = applied.approval.as_ref().unwrap();
    assert_eq!(approval.denial().as_deref(), Some(denial));
}

#[tokio::test(start_paused = true)]
async fn e_137_each_cause_of_a_denial_has_its_own_text() {
    let question = HookResult::ask_user("Restart nginx?").reason("needs privileges");
    let ways = [
        ask(Silent, question.clone()).await,
        ask(Offline, question.clone()).await,
        ask(FixedAnswers::labels(["perhaps"]), question.clone()).await,
        ask(FixedAnswers::deny(), question.clone()).await,
    ];
    let mut denials: Vec<String> = Vec::new();
    for applied in ways {
        let denial = applied.denial().expect("it is denied").to_owned();
        assert!(denial.contains("Restart nginx?"), "{denial}");
        assert!(denial.contains("needs privileges"), "{denial}");
        denials.push(denial);
    }
    denials.dedup();
    assert_eq!(denials.len(), 4, "each has its own reason: {denials:?}");
}

#[tokio::test]
async fn e_137_an_approved_emission_has_no_denial_text() {
    let applied = ask(FixedAnswers::allow(), HookResult::ask_user("Run it?")).await;
    assert_eq!((applied.is_denied(), applied.denial()), (false, None));
    assert_eq!(applied.approval.unwrap().denial(), None);
}

#[tokio::test]
async fn e_139_the_message_of_the_asking_hook_is_displayed_before_the_request() {
    let log = Log::new();
    let shown = log.clone();
    let coordinator = Coordinator::builder()
        .provider(RecordsRequests(log.clone()))
        .display(move |message: &UserMessage| shown.add(format!("shown: {}", message.text)))
        .build();
    let hooks = gate(HookResult::ask_user("Run it?").user_message("look out"));
    assert!(
        !decide(&coordinator, &hooks, "tool:pre", call())
            .await
            .is_denied()
    );
    assert_eq!(log.lines(), ["shown: look out", "asked: Run it?"]);
}

#[tokio::test(start_paused = true)]
async fn e_140_timeout_0_decides_with_the_default_without_waiting() {
    for (default, provider, is_denied) in [
        (ApprovalDefault::Allow, FixedAnswers::deny(), false),
        (ApprovalDefault::Deny, FixedAnswers::allow(), true),
    ] {
        let start = Instant::now();
        let question = HookResult::ask_user("Run it?").approval_default(default);
        let applied = ask(provider, question.approval_timeout(0.0)).await;
        assert_eq!(applied.is_denied(), is_denied);
        let decision = applied.approval.unwrap().decision;
        assert_eq!(decision, ApprovalDecision::TimedOut);
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn e_95_a_request_with_an_invalid_timeout_is_denied() {
    for timeout in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        let question = HookResult::ask_user("Run it?").approval_timeout(timeout);
        let applied = ask(FixedAnswers::deny(), question).await;
        assert!(applied.is_denied(), "{timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn e_134_a_very_long_timeout_still_accepts_an_answer() {
    let question = HookResult::ask_user("Run it?").approval_timeout(1e300);
    let applied = ask(FixedAnswers::allow(), question).await;
    assert!(!applied.is_denied());
}

#[tokio::test]
async fn e_24_a_denial_by_a_later_hook_suppresses_the_request() {
    let hooks = gate(HookResult::ask_user("Run it?"));
    hooks.register(
        "tool:pre",
        returning(HookResult::deny("never")),
        named("no").priority(1),
    );
    let provider = FixedAnswers::allow();
    let applied = decide(&with(provider.clone()), &hooks, "tool:pre", call()).await;
    assert!(applied.denial().unwrap().contains("never"));
    assert!(provider.asked().is_empty() && applied.approval.is_none());
}

#[tokio::test]
async fn e_32_only_the_request_of_the_first_asking_hook_is_asked() {
    let hooks = gate(HookResult::ask_user("First?"));
    hooks.register(
        "tool:pre",
        returning(HookResult::ask_user("Second?")),
        at(1),
    );
    let provider = FixedAnswers::allow();
    assert!(
        !decide(&with(provider.clone()), &hooks, "tool:pre", call())
            .await
            .is_denied()
    );
    let asked: Vec<_> = provider
        .asked()
        .into_iter()
        .map(|r| r.prompt.clone())
        .collect();
    assert_eq!(asked, ["First?"]);
}

#[tokio::test]
async fn e_94_a_prompt_with_another_action_is_not_asked() {
    let odd = HookResult {
        approval_prompt: Some("Run it?".to_owned()),
        ..HookResult::proceed()
    };
    let provider = FixedAnswers::deny();
    let applied = ask(provider.clone(), odd).await;
    assert!(!applied.is_denied() && provider.asked().is_empty());
}
