//! Effects of plain labels (E-133).

use hooks_runtime::approval::ApprovalEffect::{self, AllowAlways, AllowOnce, Deny};
use hooks_runtime::approval::{ApprovalDecision, ApprovalOption, FixedAnswers};
use hooks_runtime::{HookRegistry, HookResult, RegisterOptions};
use proptest::prelude::*;

use super::{approval_request, call, decide, gate, with};
use crate::kit::{named, returning};

fn effects(labels: &[&str], is_trusted: bool) -> Vec<ApprovalEffect> {
    let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
    let options = ApprovalOption::of_labels(&labels, is_trusted);
    let shown: Vec<_> = options.iter().map(|option| option.label.clone()).collect();
    assert_eq!(shown, labels, "verbatim, and in order");
    options.into_iter().map(|option| option.effect).collect()
}

/// Returns the effect of a label of a trusted hook, next to a deny label and alone.
fn effect_next_to_deny(label: &str) -> ApprovalEffect {
    effects(&[label, "Cancel"], true)[0]
}

fn untrusted_gate(result: HookResult) -> HookRegistry {
    let hooks = HookRegistry::new();
    let options = named("gate").trusted(false);
    hooks.register("tool:pre", returning(result), options);
    hooks
}

#[test]
fn e_133_the_label_lists_of_the_seed_have_the_expected_effects() {
    let cases: [(&[&str], &[ApprovalEffect]); 6] = [
        (&["Allow", "Deny"], &[AllowOnce, Deny]),
        (
            &["Allow once", "Allow always", "Deny"],
            &[AllowOnce, AllowAlways, Deny],
        ),
        (&["Yes", "No"], &[AllowOnce, Deny]),
        (
            &["Allow once", "Allow always for nginx", "Deny"],
            &[AllowOnce, AllowAlways, Deny],
        ),
        (
            &["Overwrite", "Create backup and overwrite", "Cancel"],
            &[AllowOnce, AllowOnce, Deny],
        ),
        (&["allow", "deny"], &[AllowOnce, Deny]),
    ];
    for (labels, expected) in cases {
        assert_eq!(effects(labels, true), expected, "{labels:?}");
    }
}

#[test]
fn e_133_an_untrusted_hook_allows_only_with_explicit_allow_labels() {
    let labels = ["Overwrite", "Create backup and overwrite", "Cancel"];
    assert_eq!(effects(&labels, false), [Deny, Deny, Deny]);
    let labels = ["Allow once", "Allow always for nginx", "Deny"];
    assert_eq!(effects(&labels, false), [AllowOnce, AllowAlways, Deny]);
    assert_eq!(effects(&["Yes", "No"], false), [AllowOnce, Deny]);
}

#[test]
fn e_133_unknown_labels_deny_if_no_label_of_the_list_denies() {
    assert_eq!(effects(&["Overwrite"], true), [Deny]);
    assert_eq!(effects(&["Overwrite", "Rename"], true), [Deny, Deny]);
    assert_eq!(effects(&["Overwrite", "Yes"], true), [Deny, AllowOnce]);
    assert_eq!(
        effects(&["Allow always", "Overwrite"], true),
        [AllowAlways, Deny]
    );
}

#[test]
fn e_133_case_and_punctuation_of_labels_are_ignored() {
    for label in [
        "YES",
        "yes!",
        "Yes.",
        "  yes",
        "\tYes, please",
        "oK",
        "OK?",
        "Ok: go",
        "Approve it",
        "\"Yes\"",
        "(yes)",
        "ALLOW",
        "aLLoW oNcE",
        "Allow.",
    ] {
        assert_eq!(effects(&[label], false), [AllowOnce], "{label:?}");
    }
    for label in [
        "ALLOW ALWAYS",
        "allow  always",
        " Allow\talways.",
        "Allow always!",
    ] {
        assert_eq!(effects(&[label], false), [AllowAlways], "{label:?}");
    }
    for label in [
        "NO",
        "no!",
        "No, thanks",
        "  no",
        "(no)",
        "\"No\"",
        "- no",
        "DON'T",
        "Don't allow",
        "Don’t",
        "don’t ask again",
        "Not now",
        "NEVER",
        "Never allow",
        "Keep it",
        "Later.",
        "Skip",
        "Stop!",
        "Abort",
        "Block",
        "Reject all",
        "CANCEL…",
        "Deny always",
    ] {
        assert_eq!(effect_next_to_deny(label), Deny, "{label:?}");
        assert_eq!(effects(&[label], true), [Deny], "{label:?}");
    }
}

#[test]
fn e_133_only_whole_words_of_labels_match() {
    for label in [
        "Allowance",
        "Yesterday",
        "Okra",
        "Approved-not",
        "allowalways",
    ] {
        assert_eq!(effects(&[label], false), [Deny], "{label:?}");
    }
    for denial in [
        "Nothing",
        "Notify",
        "Noon",
        "Blocks",
        "Cancelled?",
        "Keeper",
        "stopwatch",
    ] {
        let found = effects(&["Overwrite", denial], true);
        assert_eq!(found[0], Deny, "{denial:?} is not a known denial");
    }
}

#[test]
fn e_133_only_the_first_words_of_a_label_decide_its_effect() {
    assert_eq!(effect_next_to_deny("No, allow always"), Deny);
    assert_eq!(effects(&["Do allow it"], true), [Deny]);
    assert_eq!(effects(&["Please say yes"], false), [Deny]);
    assert_eq!(effects(&["Always allow"], false), [Deny]);
    assert_eq!(effects(&["Allow it always"], false), [AllowOnce]);
    assert_eq!(effects(&["Yes always"], false), [AllowOnce]);
}

#[test]
fn e_133_a_deny_label_in_single_quotes_denies() {
    for label in ["'No'", "‘No’", "'Deny'", "'cancel' it"] {
        assert_eq!(effect_next_to_deny(label), Deny, "{label:?}");
    }
}

#[test]
fn e_133_labels_that_start_with_do_not_deny() {
    assert_eq!(effect_next_to_deny("Do not run it"), Deny);
    assert_eq!(effect_next_to_deny("DO NOT"), Deny);
}

#[test]
fn e_133_a_label_without_words_denies() {
    for label in ["", "   ", "\u{200b}", "\n", "…"] {
        assert_eq!(effect_next_to_deny(label), Deny, "{label:?}");
        assert_eq!(effects(&[label], false), [Deny], "{label:?}");
    }
}

#[test]
fn e_133_hostile_labels_of_an_untrusted_hook_deny() {
    for label in [
        "\u{410}llow",      // a Cyrillic letter
        "\u{200b}\u{200c}", // nothing that is seen
        "wolla\u{202e}",    // read from the right
        "no\u{0}",
        "d\u{200b}eny",
        "\u{1b}[8myes-ish",
        "D\u{435}ny",
        "continue",
        "proceed",
        "sure",
        "1",
        "y",
    ] {
        assert_eq!(effects(&[label, "Deny"], false)[0], Deny, "{label:?}");
    }
    let long = "x".repeat(1 << 20);
    assert_eq!(effects(&[&long, "Deny"], false), [Deny, Deny]);
}

#[test]
fn e_133_a_deny_label_after_invisible_characters_denies() {
    for label in [
        "\u{200b}Deny",
        "\u{feff}No",
        "\u{202e}Deny",
        "\u{2066}no\u{2069}",
        "\u{0}no",
    ] {
        assert_eq!(effect_next_to_deny(label), Deny, "{label:?}");
    }
}

#[test]
fn e_131_an_empty_label_list_becomes_allow_and_deny() {
    for is_trusted in [true, false] {
        let options = ApprovalOption::of_labels(&[], is_trusted);
        let expected = [
            ApprovalOption::allow_once("Allow"),
            ApprovalOption::deny("Deny"),
        ];
        assert_eq!(options, expected);
    }
}

#[test]
fn e_133_duplicate_labels_have_equal_effects() {
    assert_eq!(
        effects(&["Yes", "No", "Yes", "Go", "Go"], true),
        [AllowOnce, Deny, AllowOnce, AllowOnce, AllowOnce]
    );
}

#[tokio::test]
async fn e_133_a_label_with_two_effects_denies() {
    for options in [
        [ApprovalOption::allow_once("Go"), ApprovalOption::deny("Go")],
        [
            ApprovalOption::deny("Go"),
            ApprovalOption::allow_always("Go"),
        ],
    ] {
        let hooks = HookRegistry::new();
        let result = HookResult::ask_user("Run it?").approval_choices(options);
        hooks.register("tool:pre", returning(result), RegisterOptions::new());
        let coordinator = with(FixedAnswers::labels(["Go"]));
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert!(applied.is_denied());
    }
}

#[tokio::test]
async fn e_133_typed_effects_override_the_text_of_the_labels() {
    let options = [
        ApprovalOption::allow_once("Nein, doch: ja"),
        ApprovalOption::allow_always("Keep going"),
        ApprovalOption::deny("Yes to the dialogue, no to the act"),
        ApprovalOption::new("Mach", AllowOnce),
    ];
    let result = HookResult::ask_user("Run it?").approval_choices(options.clone());
    let wire = serde_json::to_string(&result).unwrap();
    for result in [result, serde_json::from_str(&wire).unwrap()] {
        for option in &options {
            let hooks = HookRegistry::new();
            hooks.register("tool:pre", returning(result.clone()), named("gate"));
            let coordinator = with(FixedAnswers::labels([&*option.label]));
            let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
            let decision = applied.approval.as_ref().unwrap().decision.clone();
            assert_eq!(decision, ApprovalDecision::Chosen(option.clone()));
            assert_eq!(applied.is_denied(), option.effect == Deny);
        }
    }
}

#[tokio::test]
async fn e_133_typed_effects_of_an_untrusted_hook_are_ignored() {
    let result = HookResult::ask_user("Run it?").approval_choices([
        ApprovalOption::allow_once("Overwrite"),
        ApprovalOption::allow_always("No"),
        ApprovalOption::deny("Cancel"),
    ]);
    let hooks = untrusted_gate(result);
    for label in ["Overwrite", "No", "Cancel"] {
        let coordinator = with(FixedAnswers::labels([label]));
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert!(applied.is_denied(), "{label}");
    }
}

#[tokio::test]
async fn e_133_the_trust_of_the_asking_hook_decides_the_effects() {
    let result = HookResult {
        approval_options: Some(vec!["Overwrite".to_owned(), "Cancel".to_owned()]),
        ..HookResult::ask_user("Run it?")
    };
    for is_trusted in [true, false] {
        let hooks = HookRegistry::new();
        let other = named("other").priority(-1).trusted(!is_trusted);
        hooks.register("tool:pre", returning(HookResult::proceed()), other);
        let options = named("gate").trusted(is_trusted);
        hooks.register("tool:pre", returning(result.clone()), options);
        let coordinator = with(FixedAnswers::labels(["Overwrite"]));
        let applied = decide(&coordinator, &hooks, "tool:pre", call()).await;
        assert_eq!(applied.is_denied(), !is_trusted);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn e_133_command_hooks_are_trusted_only_if_the_host_trusts_them() {
    let answer = r#"{"action": "ask_user", "approval_prompt": "Run it?",
        "approval_options": ["Overwrite", "Yes", "Cancel"]}"#;
    let line = answer.replace('\n', " ");
    for (options, expected) in [
        (named("program"), vec![("Yes", AllowOnce), ("Cancel", Deny)]),
        (
            named("program").trusted(true),
            vec![
                ("Overwrite", AllowOnce),
                ("Yes", AllowOnce),
                ("Cancel", Deny),
            ],
        ),
    ] {
        let hooks = HookRegistry::new();
        let program =
            hooks_runtime::CommandHook::new("sh").args(["-c", "cat >/dev/null; echo \"$0\""]);
        hooks.register("tool:pre", program.arg(&line), options);
        let request =
            approval_request(&with(FixedAnswers::allow()), &hooks, "tool:pre", call()).await;
        let options = request.options.iter();
        let found: Vec<_> = options
            .map(|option| (&*option.label, option.effect))
            .collect();
        assert_eq!(found, expected);
    }
}

const YES: [&str; 4] = ["allow", "yes", "approve", "ok"];
const NO: [&str; 13] = [
    "deny", "no", "not", "cancel", "reject", "block", "abort", "stop", "never", "don't", "skip",
    "keep", "later",
];
const OTHER: [&str; 7] = [
    "overwrite",
    "create",
    "always",
    "once",
    "for",
    "nginx",
    "okay",
];

/// A label as its words, and its text.
#[derive(Debug, Clone)]
struct WrittenLabel {
    words: Vec<String>,
    label: String,
}

fn labels_with_words() -> impl Strategy<Value = WrittenLabel> {
    let word = || {
        prop_oneof![
            prop::sample::select(&YES[..]),
            prop::sample::select(&NO[..]),
            prop::sample::select(&OTHER[..]),
            Just("always"),
        ]
    };
    let style = (
        prop::sample::select(&["", " ", "\t", "(", "\"", "• ", "- "][..]),
        prop::sample::select(&[" ", "  ", "\t", "\n"][..]),
        prop::sample::select(&["", "!", ".", "?", "…", ")", " :"][..]),
        any::<u64>(),
    );
    (prop::collection::vec(word(), 1..4), style).prop_map(|(words, (lead, gap, tail, upper))| {
        let mut count = 0;
        let joined = words.join(gap);
        let text = joined.chars().map(|letter| {
            count += 1;
            match upper >> (count % 64) & 1 {
                0 => letter,
                _ => letter.to_ascii_uppercase(),
            }
        });
        WrittenLabel {
            label: format!("{lead}{}{tail}", text.collect::<String>()),
            words: words.into_iter().map(str::to_owned).collect(),
        }
    })
}

/// Those of [`NO`] that deny at any place, if the first word has no meaning: this is stricter than
/// the requirements, by which `Always deny` would allow.
const NO_ANYWHERE: [&str; 8] = [
    "deny", "not", "cancel", "reject", "block", "abort", "never", "don't",
];

/// Returns the rule, word by word as in the requirements, except for [`NO_ANYWHERE`].
fn model(list: &[WrittenLabel], is_trusted: bool) -> Vec<ApprovalEffect> {
    let first = |label: &WrittenLabel| label.words[0].clone();
    let has_denial = list.iter().any(|label| NO.contains(&&*first(label)));
    let effect = |label: &WrittenLabel| {
        let first = first(label);
        let is_said_later = |word: &String| NO_ANYWHERE.contains(&&**word);
        let is_no = NO.contains(&&*first) || label.words.iter().any(is_said_later);
        if first == "allow" && label.words.get(1).is_some_and(|word| word == "always") {
            AllowAlways
        } else if YES.contains(&&*first) || (!is_no && has_denial && is_trusted) {
            AllowOnce
        } else {
            Deny
        }
    };
    list.iter().map(effect).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_133_label_effects_equal_those_of_the_reference_model(
        list in prop::collection::vec(labels_with_words(), 1..5),
        is_trusted in any::<bool>(),
    ) {
        let labels: Vec<&str> = list.iter().map(|label| label.label.as_str()).collect();
        prop_assert_eq!(effects(&labels, is_trusted), model(&list, is_trusted));
    }

    #[test]
    fn e_133_arbitrary_text_allows_only_if_its_first_word_allows(label in any::<String>()) {
        let lower = label.to_lowercase();
        let first = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        let may_be_yes = YES.iter().any(|yes| first.starts_with(yes));
        let effect = effects(&[&label], false)[0];
        prop_assert!(effect == Deny || may_be_yes);
    }
}

/// Effects belong to the labels with which they were set.
#[tokio::test]
async fn e_133_replaced_labels_do_not_keep_the_effects_of_earlier_labels() {
    let base = || {
        HookResult::ask_user("Overwrite?").approval_choices([
            ApprovalOption::allow_once("Overwrite"),
            ApprovalOption::deny("Cancel"),
        ])
    };
    let other = HookResult {
        approval_options: Some(vec!["No".to_owned(), "Yes".to_owned()]),
        ..base()
    };
    for result in [base().approval_options(["No", "Yes"]), other] {
        let (coordinator, hooks) = (with(FixedAnswers::labels(["No"])), gate(result));
        let request = approval_request(&coordinator, &hooks, "tool:pre", call()).await;
        let effects: Vec<_> = request.options.iter().map(|option| option.effect).collect();
        assert_eq!(effects, [ApprovalEffect::Deny, ApprovalEffect::AllowOnce]);
    }
}
