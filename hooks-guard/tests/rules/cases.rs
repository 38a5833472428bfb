//! Tests the cases in `cases/`: rules files, and the expected effects of requests.

use std::path::Path;

use hooks_guard::rules::{RuleEffect, Rules};
use serde::Deserialize;

use super::{command, decide, file, network, places, project, user};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    set: Vec<Set>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    user: Option<String>,
    project: Option<String>,
    #[serde(default)]
    trusted: bool,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    command: Option<String>,
    tool: Option<String>,
    path: Option<String>,
    host: Option<String>,
    agent: Option<String>,
    cwd: Option<String>,
    expect: RuleEffect,
    /// Text that the place of the deciding rule contains.
    by: Option<String>,
    remember: Option<bool>,
}

#[test]
fn rules_decide_every_case_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/cases");
    let mut count = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the cases are there") {
        let path = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("the cases can be read");
        let cases: Cases =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for set in &cases.set {
            let mut rules = Rules::built_in(&places());
            if let Some(text) = &set.user {
                rules = rules.and(&user(text));
            }
            if let Some(text) = &set.project {
                rules = rules.and(&project(text, set.trusted));
            }
            for case in &set.case {
                count += 1;
                wrong.extend(check(&rules, case).map(|what| format!("{}: {what}", path.display())));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count >= 150, "there are only {count} cases");
}

/// Returns the problem of a case, if it fails.
fn check(rules: &Rules, case: &Case) -> Option<String> {
    let mut request = match (&case.command, &case.tool, &case.path, &case.host) {
        (Some(text), None, None, None) => command(text),
        (None, Some(tool), Some(path), None) => file(tool, path),
        (None, None, None, Some(target)) => network(target),
        _ => panic!("a case is a command, a tool and a path, or a host"),
    };
    if let Some(agent) = &case.agent {
        request.agent = Some(agent.clone()).filter(|agent| !agent.is_empty());
    }
    if let Some(cwd) = &case.cwd {
        request.cwd = Some(cwd.into()).filter(|_| !cwd.is_empty());
    }
    let (effect, rule_decision) = decide(rules, &request);
    let by = rule_decision
        .as_ref()
        .map_or("", |rule_decision| rule_decision.rule.as_str());
    let remember = rule_decision
        .as_ref()
        .is_none_or(|rule_decision| rule_decision.remember);
    let right = effect == case.expect
        && case.by.as_deref().is_none_or(|wanted| by.contains(wanted))
        && case.remember.is_none_or(|wanted| wanted == remember);
    (!right).then(|| {
        format!(
            "`{}` is {effect} (by {by:?}, remember {remember}), not {} (by {:?}, remember {:?})",
            request.command, case.expect, case.by, case.remember
        )
    })
}
