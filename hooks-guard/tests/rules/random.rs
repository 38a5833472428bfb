//! Properties of any rules and any commands.

use std::sync::LazyLock;

use hooks_guard::classify::Classifier;
use hooks_guard::rules::{RuleEffect, Rules};
use proptest::prelude::*;

use super::holds::assert_holds;
use super::{command, decide, places, project, user};

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(Classifier::new);

const PROGRAMS: &[&str] = &[
    "cargo", "rm", "touch", "git", "make", "unknown", "sudo", "ls", "tee",
];
const COMMANDS: &[&str] = &[
    "cargo test",
    "rm -r target",
    "touch a b",
    "git commit -m x",
    "make",
    "unknown a",
    "sudo rm x",
    "ls",
    "ls | tee x",
    "cargo test && rm x",
    "echo x > target/y",
    "touch $X",
    "git push --force",
    "A=1 make",
    "make $(ls)",
    "bash -c 'rm x'",
    "cd /tmp && touch x",
    "cat secrets/a",
    "curl $URL",
    "hooks-guard approve 1",
    "touch ~/.bashrc",
    "f() { rm x; }; f",
    "ls \"",
    "rm *.o",
    "xargs rm",
];
const EFFECTS: &[&str] = &["allow", "ask", "deny"];

/// Generates a rule with one of these effects.
fn rule(effects: &'static [&'static str]) -> impl Strategy<Value = String> {
    let program = proptest::sample::subsequence(PROGRAMS.to_vec(), 1..4);
    let path = proptest::option::of(proptest::sample::select(vec![
        "target/**",
        "secrets/**",
        "/**",
        "**",
        "~/**",
    ]));
    let class = proptest::option::of(proptest::sample::select(vec![
        "READ", "CREATE", "UPDATE", "DELETE",
    ]));
    let effect = proptest::sample::select(effects.to_vec());
    let accepts = any::<bool>();
    (effect, program, path, class, accepts).prop_map(|(effect, program, path, class, accepts)| {
        let mut text = format!("[[rule]]\neffect = \"{effect}\"\nprogram = {program:?}\n");
        if let Some(path) = path {
            text += &format!("path = \"{path}\"\n");
        }
        if let Some(class) = class {
            text += &format!("class = \"{class}\"\n");
        }
        if accepts && effect == "allow" {
            text += "redirections = [\"**\", \"<<\", \"|\"]\nenvironment = \"*\"\nsubstitutions = true\n";
        }
        text
    })
}

fn rules(effects: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(rule(effects), 0..most)
}

fn rank(rules: &Rules, text: &str) -> RuleEffect {
    decide(rules, &command(text)).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_additional_restriction_never_allows_more(
        before in rules(EFFECTS, 5),
        more in rule(&["deny", "ask"]),
        text in proptest::sample::select(COMMANDS.to_vec()),
    ) {
        let less = user(&before.join("\n"));
        let both = less.and(&user(&more));
        prop_assert!(rank(&both, text) >= rank(&less, text));
    }

    #[test]
    fn an_untrusted_project_never_allows_more(
        own in rules(EFFECTS, 4),
        theirs in rules(EFFECTS, 4),
        text in proptest::sample::select(COMMANDS.to_vec()),
    ) {
        let own = user(&own.join("\n"));
        let both = own.and(&project(&theirs.join("\n"), false));
        prop_assert!(rank(&both, text) >= rank(&own, text));
    }

    #[test]
    fn the_strictest_rule_decides_in_any_order(
        (ordered, shuffled) in rules(EFFECTS, 6)
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        text in proptest::sample::select(COMMANDS.to_vec()),
    ) {
        let one = user(&ordered.join("\n"));
        prop_assert_eq!(rank(&one, text), rank(&user(&shuffled.join("\n")), text));
    }

    #[test]
    fn a_protected_file_requires_confirmation_despite_allow_rules(
        all in rules(EFFECTS, 6),
        text in proptest::sample::select(COMMANDS.to_vec()),
    ) {
        let request = command(text);
        let alone = decide(&Rules::built_in(&places()), &request).1;
        let (effect, rule_decision) = decide(&user(&all.join("\n")), &request);
        if alone.is_some() {
            prop_assert!(effect >= RuleEffect::Ask);
            prop_assert!(effect == RuleEffect::Deny || !rule_decision.expect("it is asked").remember);
        }
    }

    #[test]
    fn any_text_is_parsed_as_rules_or_mistakes(file in "\\PC{0,200}", text in "\\PC{1,60}") {
        assert_holds(&CLASSIFIER, &file, &text);
    }

    #[test]
    fn random_rules_keep_the_invariants(
        file in rules(EFFECTS, 4),
        text in "(cargo|rm|touch|sudo|ls|tee|make) [a-z~./$*<>|;&'\" -]{0,30}",
    ) {
        assert_holds(&CLASSIFIER, &file.join("\n"), &text);
    }

    /// Generates an allowed command with a feature that the rule does not name.
    #[test]
    fn an_allow_rule_never_covers_a_feature_that_it_does_not_name(
        words in proptest::collection::vec("[a-z]{1,6}", 0..4),
        at in 0..DECORATIONS.len(),
    ) {
        let rules = user("[[rule]]\neffect = \"allow\"\nprogram = \"unknown\"\n");
        let plain = format!("unknown {}", words.join(" "));
        prop_assert_eq!(rank(&rules, &plain), RuleEffect::Allow);
        let decorated = DECORATIONS[at].replace('@', &plain);
        prop_assert!(rank(&rules, &decorated) > RuleEffect::Allow, "{}", decorated);
    }
}

/// `@` is replaced by the command.
const DECORATIONS: &[&str] = &[
    "@ > file",
    "@ >> file",
    "@ &> file",
    "@ 2> file",
    "> file @",
    "@ < file",
    "@ <<< text",
    "@ << X\ntext\nX",
    "@ <> file",
    "{ @; } > file",
    "( @ ) >> file",
    "A=1 @",
    "A=1; @",
    "export A=1; @",
    "declare A=1 && @",
    "read A; @",
    "@ $A",
    "@ ${A:-b}",
    "@ $(ls)",
    "@ `ls`",
    "@ <(ls)",
    "@ \"$(date)\"",
    "@ *.c",
    "env A=1 @",
    "sudo @",
    "sh -c '@'",
    "eval @",
    "alias l=ls; @",
    "f() { ls; }; @",
    "unknown() { rm x; }; @",
    "set -- a; @ \"$@\"",
    "shopt -s expand_aliases; @",
    "exec > file; @",
    "for A in $(ls); do @; done",
    "while read A; do @; done",
    "@ | tee file",
    "@; rm file",
    "@ && other",
    "other | @ ; other",
    "@ \"",
    "$A @",
    "xargs @",
    "trap '@' EXIT; rm file",
];
