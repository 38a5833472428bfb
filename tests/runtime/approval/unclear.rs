//! Labels that say neither yes nor no: an untrusted hook's are not offered, so that an offered yes
//! is a yes (E-133).

use hooks_runtime::approval::ApprovalEffect::{AllowAlways, AllowOnce, Deny};
use hooks_runtime::approval::{
    ApprovalDecision, ApprovalEffect, ApprovalQueue, ApprovalRequest, FixedAnswers,
};
use hooks_runtime::{ApprovalDefault, Coordinator, HookRegistry, HookResult, Map};
use proptest::prelude::*;
use serde_json::json;

use super::{
    Offline, Silent, approval_request, call, decide, only_pending, run_other_tasks, spawn_ask, with,
};
use crate::kit::{map, named, returning};

/// The list of the specification for a question about an existing file.
const OVERWRITE: [&str; 3] = ["Overwrite", "Create backup and overwrite", "Cancel"];

fn asked_by(is_trusted: bool, result: HookResult) -> HookRegistry {
    let hooks = HookRegistry::new();
    let options = named("gate").trusted(is_trusted);
    hooks.register("tool:pre", returning(result), options);
    hooks
}

fn offering(labels: &[&str]) -> HookResult {
    HookResult {
        approval_options: Some(labels.iter().map(|&label| label.to_owned()).collect()),
        ..HookResult::ask_user("Run it?").approval_default(ApprovalDefault::Allow)
    }
}

async fn request_for(is_trusted: bool, labels: &[&str]) -> ApprovalRequest {
    let hooks = asked_by(is_trusted, offering(labels));
    approval_request(&Coordinator::new(), &hooks, "tool:pre", call()).await
}

fn offered(request: &ApprovalRequest) -> Vec<(&str, ApprovalEffect)> {
    let options = request.options.iter();
    options
        .map(|option| (&*option.label, option.effect))
        .collect()
}

#[tokio::test]
async fn e_133_an_untrusted_hook_offers_no_label_that_would_only_look_like_a_yes() {
    type Case = (
        &'static [&'static str],
        &'static [(&'static str, ApprovalEffect)],
        &'static [&'static str],
    );
    let cases: [Case; 12] = [
        (
            &OVERWRITE,
            &[("Allow", AllowOnce), ("Cancel", Deny)],
            &["Overwrite", "Create backup and overwrite"],
        ),
        (
            &["CANCEL", "overwrite"],
            &[("CANCEL", Deny), ("Allow", AllowOnce)],
            &["overwrite"],
        ),
        // Only unclear labels, also in other languages.
        (
            &["Overwrite", "Rename"],
            &[("Allow", AllowOnce), ("Deny", Deny)],
            &["Overwrite", "Rename"],
        ),
        (
            &["Überschreiben", "Abbrechen"],
            &[("Allow", AllowOnce), ("Deny", Deny)],
            &["Überschreiben", "Abbrechen"],
        ),
        (
            &["上書き", "キャンセル"],
            &[("Allow", AllowOnce), ("Deny", Deny)],
            &["上書き", "キャンセル"],
        ),
        (
            &["Back up and overwrite", "Back"],
            &[("Allow", AllowOnce), ("Back", Deny)],
            &["Back up and overwrite"],
        ),
        // A label whose first letter is Cyrillic.
        (
            &["Аllow", "Deny"],
            &[("Allow", AllowOnce), ("Deny", Deny)],
            &["Аllow"],
        ),
        // A clear yes or no stays, in its place.
        (
            &["Rename", "yes, do it", "Overwrite", "NO"],
            &[("yes, do it", AllowOnce), ("NO", Deny)],
            &["Rename", "Overwrite"],
        ),
        (
            &["Go back", "Proceed"],
            &[("Go back", Deny), ("Allow", AllowOnce)],
            &["Proceed"],
        ),
        // The user need not allow more than this call.
        (
            &["Allow always", "Overwrite"],
            &[
                ("Allow always", AllowAlways),
                ("Allow", AllowOnce),
                ("Deny", Deny),
            ],
            &["Overwrite"],
        ),
        (
            &["Do allow it", "Always allow"],
            &[("Allow", AllowOnce), ("Deny", Deny)],
            &["Do allow it", "Always allow"],
        ),
        // Without an unclear label, a list stays as it is.
        (&["No", "Later"], &[("No", Deny), ("Later", Deny)], &[]),
    ];
    for (labels, expected, unclear) in cases {
        let request = request_for(false, labels).await;
        assert_eq!(offered(&request), expected, "{labels:?}");
        assert_eq!(request.unclear, unclear, "{labels:?}");
    }
}

#[tokio::test]
async fn e_131_a_trusted_hook_offers_its_labels_verbatim_and_in_order() {
    for labels in [
        &OVERWRITE[..],
        &["Overwrite", "Rename"],
        &["Überschreiben", "Abbrechen"],
    ] {
        let request = request_for(true, labels).await;
        assert_eq!(super::labels(&request), labels);
        let denies = |label: &&&str| {
            let option = request
                .options
                .iter()
                .find(|option| option.label == **label);
            option.unwrap().effect == Deny && **label != "Cancel"
        };
        let unclear: Vec<_> = labels.iter().filter(denies).copied().collect();
        assert_eq!(request.unclear, unclear);
    }
}

#[tokio::test]
async fn e_133_the_user_of_an_untrusted_hook_can_say_yes_and_no() {
    for labels in [
        &OVERWRITE[..],
        &["Overwrite", "Rename"],
        &["ÜBERSCHREIBEN", "abbrechen"],
        &["Rename", "Yes", "Cancel"],
    ] {
        let hooks = asked_by(false, offering(labels));
        for (user, is_denied) in [(FixedAnswers::allow(), false), (FixedAnswers::deny(), true)] {
            let applied = decide(&with(user.clone()), &hooks, "tool:pre", call()).await;
            assert_eq!(applied.is_denied(), is_denied, "{labels:?}");
            let shown = user.asked()[0].prompt.clone();
            let denial = is_denied.then(|| format!("user denied: {shown}"));
            assert_eq!(applied.denial(), denial.as_deref());
        }
    }
}

#[tokio::test]
async fn e_133_a_denial_by_an_unclear_label_says_what_happened() {
    let untrusted = "denied, because the option `Overwrite` of an untrusted hook says neither yes \
                     nor no and was not offered; trust the hook, or use labels such as `Allow` and \
                     `Deny`: Run it?";
    let trusted = "denied, because the chosen option `Overwrite` says neither yes nor no; set its \
                   effect, or offer an option that denies beside it: Run it?";
    for (is_trusted, labels, expected) in [
        (false, &OVERWRITE[..], Some(untrusted)),
        (false, &["Overwrite", "Rename"], Some(untrusted)),
        (true, &["Overwrite", "Rename"], Some(trusted)),
        (true, &OVERWRITE, None),
    ] {
        let hooks = asked_by(is_trusted, offering(labels));
        let coordinator = with(FixedAnswers::labels(["Overwrite"]));
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert_eq!(applied.denial(), expected, "{is_trusted} {labels:?}");
        // The same, if the question was stored and answered elsewhere.
        let request = request_for(is_trusted, labels).await;
        let stored = serde_json::to_string(&request).unwrap();
        let request: ApprovalRequest = serde_json::from_str(&stored).unwrap();
        let approval = Coordinator::new().resolve(request, "Overwrite");
        assert_eq!(approval.denial().as_deref(), expected);
    }
}

#[tokio::test]
async fn e_133_a_request_that_was_stored_without_unclear_labels_can_be_resolved() {
    let request = request_for(false, &["Yes", "No"]).await;
    let mut stored = serde_json::to_value(&request).unwrap();
    stored.as_object_mut().unwrap().remove("unclear");
    stored.as_object_mut().unwrap().remove("is_default_refused");
    let request: ApprovalRequest = serde_json::from_value(stored).unwrap();
    assert!(Coordinator::new().resolve(request, "Yes").is_allowed());
}

#[tokio::test(start_paused = true)]
async fn e_134_a_refused_default_of_an_untrusted_hook_is_named_in_the_denial() {
    let refused = ", and the default `allow` of an untrusted hook has no effect: Run it?";
    for is_trusted in [true, false] {
        let hooks = asked_by(is_trusted, offering(&OVERWRITE).approval_timeout(1.0));
        let late = decide(&with(Silent), &hooks, "tool:pre", call()).await;
        let offline = decide(&with(Offline), &hooks, "tool:pre", call()).await;
        for applied in [late, offline] {
            let denial = applied.denial();
            assert_eq!(denial.is_some(), !is_trusted);
            assert!(
                denial.is_none_or(|denial| denial.ends_with(refused)),
                "{denial:?}"
            );
        }
        // A default that denies is no surprise.
        let denies = offering(&OVERWRITE).approval_default(ApprovalDefault::Deny);
        let hooks = asked_by(is_trusted, denies.approval_timeout(1.0));
        let applied = decide(&with(Silent), &hooks, "tool:pre", call()).await;
        assert!(!applied.denial().unwrap().contains("untrusted"));
    }
}

#[tokio::test]
async fn e_140_questions_with_other_unclear_labels_are_asked_apart() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let mut open = Vec::new();
    for labels in [["Overwrite", "Cancel"], ["Rename", "Cancel"]] {
        let request = request_for(false, &labels).await;
        open.push(spawn_ask(&coordinator, &request).await);
    }
    assert_eq!(queue.len(), 2);
    let request = request_for(false, &["Overwrite", "Cancel"]).await;
    let _equal = spawn_ask(&coordinator, &request).await;
    run_other_tasks().await;
    assert_eq!(queue.len(), 2);
}

/// A provider of a user interface: the queue has the offered options and the unclear labels.
#[tokio::test]
async fn e_133_a_user_interface_gets_the_unclear_labels_as_text() {
    let queue = ApprovalQueue::new();
    let coordinator = with(queue.clone());
    let request = request_for(false, &OVERWRITE).await;
    let open = spawn_ask(&coordinator, &request).await;
    let pending = only_pending(&queue);
    assert_eq!(super::labels(&pending), ["Allow", "Cancel"]);
    assert_eq!(
        pending.unclear,
        ["Overwrite", "Create backup and overwrite"]
    );
    queue.answer(&pending.id, "Allow").unwrap();
    let approval = open.await.unwrap();
    assert!(approval.is_allowed());
    let ApprovalDecision::Chosen(option) = approval.decision else {
        panic!("an option was chosen");
    };
    assert_eq!(option.effect, AllowOnce);
}

#[cfg(unix)]
#[tokio::test]
async fn e_133_a_program_with_the_labels_of_the_specification_can_be_allowed() {
    let printed = json!({
        "action": "ask_user",
        "approval_prompt": "Overwrite existing file?",
        "approval_options": OVERWRITE,
        "approval_default": "allow",
    });
    let hooks = HookRegistry::new();
    let program = hooks_runtime::CommandHook::new("sh").args(["-c", "cat >/dev/null; echo \"$0\""]);
    hooks.register(
        "tool:pre",
        program.arg(printed.to_string()),
        named("program"),
    );
    let data: Map = map(json!({"tool_name": "write", "tool_input": {"path": "a"}}));
    for (user, is_denied) in [
        (FixedAnswers::allow(), false),
        (FixedAnswers::labels(["Allow"]), false),
        (FixedAnswers::labels(["Cancel"]), true),
        (FixedAnswers::deny(), true),
    ] {
        let applied = decide(&with(user), &hooks, "tool:pre", data.clone()).await;
        assert_eq!(applied.is_denied(), is_denied);
    }
}

fn any_label() -> impl Strategy<Value = String> {
    let known = prop::sample::select(
        &[
            "Overwrite",
            "Cancel",
            "cancel",
            "YES",
            "Allow always",
            "Discard",
            "Ja",
            "Nein",
            "",
            " ",
            "Allow",
            "Deny",
            "Always deny",
            "proceed",
        ][..],
    );
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Of an untrusted hook's labels, the offered ones keep their text, order and effect; the
    /// others are listed; and if a label is not offered, the user can say yes and no.
    #[test]
    fn e_133_every_label_is_offered_with_its_effect_or_listed_as_unclear(
        labels in prop::collection::vec(any_label(), 1..6),
    ) {
        use hooks_runtime::approval::ApprovalOption;
        let texts: Vec<&str> = labels.iter().map(|label| &**label).collect();
        let request = futures::executor::block_on(request_for(false, &texts));
        let read = ApprovalOption::of_labels(&labels, false);
        let is_unclear = |option: &&ApprovalOption| request.unclear.contains(&option.label);
        let kept: Vec<_> = read.iter().filter(|option| !is_unclear(option)).cloned().collect();
        let is_added = |option: &&ApprovalOption| !labels.contains(&option.label);
        let own: Vec<_> = request.options.iter().filter(|option| !is_added(option)).cloned().collect();
        prop_assert_eq!(&own, &kept);
        prop_assert_eq!(kept.len() + request.unclear.len(), labels.len());
        let withheld = read.iter().filter(is_unclear);
        prop_assert!(withheld.clone().all(|option| option.effect == Deny));
        if !request.unclear.is_empty() {
            let has = |effect| request.options.iter().any(|option| option.effect == effect);
            prop_assert!(has(AllowOnce) && has(Deny));
        } else {
            prop_assert_eq!(&request.options, &read);
        }
    }
}
