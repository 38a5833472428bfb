//! Runs the tests of rules and finds likely mistakes. In: a set of rules with their tests. Out: the
//! result of each test, and warnings.

use std::fmt;

use super::rule::{McpPattern, Rule, RuleTest, TestInput};
use super::set::{Rules, RulesInner};
use super::verdict::{Origin, RuleEffect};
use crate::classify::{Classifier, Crud, Decision};
use crate::protocol::own_tools;
use crate::request::{AgentTool, FileAccess, McpCall, NetworkAccess, PermissionRequest};

/// Result of a rule's test.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TestOutcome {
    /// Place of the rule.
    pub rule: String,
    /// Line of the test in its file, starting at 1.
    pub line: usize,
    /// The command, tool call or host of the test.
    pub command: String,
    /// The expected effect.
    pub expected: RuleEffect,
    /// The actual effect.
    pub got: RuleEffect,
    /// The rule that decided; `None` if the classifier did.
    pub decided_by: Option<String>,
    /// Reason of the actual effect.
    pub why: String,
}

impl TestOutcome {
    /// Returns `true` if the actual effect is the expected one.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.expected == self.got
    }
}

/// Warning about a likely mistake in a rules file. The file still works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Place of the rule.
    pub rule: String,
    /// The likely mistake.
    pub what: String,
    /// How to correct it.
    pub remedy: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.rule, self.what, self.remedy)
    }
}

impl Rules {
    /// Runs the tests of the rules against the whole set. A project's file is treated as trusted,
    /// because a test describes the meaning of a rule.
    #[must_use]
    pub fn test(&self) -> Vec<TestOutcome> {
        let trusted = self.trusted();
        let classifier = Classifier::new();
        let rules = &self.inner.rules;
        rules
            .iter()
            .flat_map(|rule| rule.tests.iter().map(move |test| (rule, test)))
            .map(|(rule, test)| trusted.run_test(&classifier, rule, test))
            .collect()
    }

    /// Returns warnings about likely mistakes: rules without a test, rules that decide none of
    /// their tests, and rules that can never decide.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let outcomes = self.test();
        let mut warnings = Vec::new();
        for rule in &self.inner.rules {
            let mut warn = |what: String, remedy: &str| {
                warnings.push(Warning {
                    rule: rule.place.clone(),
                    what,
                    remedy: remedy.to_owned(),
                });
            };
            if !rule.counts() {
                warn(
                    "rule allows nothing: its file is not trusted".to_owned(),
                    "review the file, then run `hooks-guard trust`",
                );
            }
            if let Some(stricter) = self.inner.rules.iter().find(|other| shadows(other, rule)) {
                let what = format!(
                    "`{}` is stricter and always applies as well",
                    stricter.place
                );
                warn(what, "remove one of the rules, or narrow the stricter one");
            }
            if let Some(what) = impossible_condition(rule) {
                warn(what.to_owned(), "change its conditions, or remove it");
            }
            let by = |outcome: &&TestOutcome| {
                outcome
                    .decided_by
                    .as_deref()
                    .is_some_and(|by| by.split(", ").any(|place| place == rule.place))
            };
            let mut own = outcomes
                .iter()
                .filter(|outcome| outcome.rule == rule.place)
                .peekable();
            if own.peek().is_none() {
                warn("rule has no test".to_owned(), "add a `[[rule.test]]`");
            } else if !own.any(|outcome| by(&outcome)) {
                warn(
                    "rule decides none of its tests".to_owned(),
                    "add a `[[rule.test]]` that this rule decides",
                );
            }
        }
        warnings
    }

    /// Returns these rules with every file treated as trusted.
    fn trusted(&self) -> Self {
        let mut inner = RulesInner::clone(&self.inner);
        for rule in &mut inner.rules {
            if let Origin::Project { trusted } = &mut rule.origin {
                *trusted = true;
            }
        }
        Self {
            inner: std::sync::Arc::new(inner),
        }
    }

    fn run_test(&self, classifier: &Classifier, rule: &Rule, test: &RuleTest) -> TestOutcome {
        let cwd = rule
            .project
            .as_ref()
            .or(self.inner.project.as_ref())
            .and_then(|project| project.names.first())
            .map(std::path::PathBuf::from);
        let (request, found) = match &test.what {
            TestInput::Command(command) => {
                let request = PermissionRequest::new(command.clone());
                (request, classifier.analyze(command))
            }
            TestInput::Host(host) => {
                let network = NetworkAccess::from_target(host);
                let what = network.to_string();
                let found = network.analyze(&what);
                let request = PermissionRequest {
                    network: Some(network),
                    ..PermissionRequest::new(what)
                };
                (request, Ok(found))
            }
            TestInput::Mcp(tool) => {
                let call = McpCall {
                    tools: vec![tool.clone()],
                    runs_command: false,
                    input_hash: None,
                };
                let what = tool.description();
                let found = call.analyze(&what);
                let request = PermissionRequest {
                    mcp: Some(call),
                    ..PermissionRequest::new(what)
                };
                (request, Ok(found))
            }
            TestInput::Tool(name) => {
                let agent = test.agent.as_deref().and_then(|agent| agent.parse().ok());
                let tool = AgentTool {
                    name: name.clone(),
                    effect: own_tools::effect(name, agent),
                    input_hash: String::new(),
                };
                let found = tool.analyze(name, classifier);
                let request = PermissionRequest {
                    tool: Some(tool),
                    ..PermissionRequest::new(name.clone())
                };
                (request, Ok(found))
            }
            TestInput::File { tool, path } => {
                let reads = [
                    "read",
                    "view",
                    "glob",
                    "grep",
                    "ls",
                    "list",
                    "search",
                    "notebookread",
                ];
                let lower = tool.to_ascii_lowercase();
                let effect = match reads.iter().any(|name| lower.starts_with(name)) {
                    true => Crud::Read,
                    false if lower.starts_with("write") || lower.starts_with("create") => {
                        Crud::Create
                    }
                    false => Crud::Update,
                };
                let file = FileAccess {
                    tool: tool.clone(),
                    effect,
                    paths: vec![path.into()],
                    input_hash: None,
                };
                let what = format!("{tool} {path}");
                let found = file.analyze(&what);
                let request = PermissionRequest {
                    file: Some(file),
                    ..PermissionRequest::new(what)
                };
                (request, Ok(found))
            }
        };
        let request = PermissionRequest {
            cwd,
            agent: test.agent.clone(),
            ..request
        };
        let mut outcome = TestOutcome {
            rule: rule.place.clone(),
            line: test.line,
            command: request.command.clone(),
            expected: test.expect,
            got: RuleEffect::Ask,
            decided_by: None,
            why: String::new(),
        };
        match found {
            Err(error) => outcome.why = error.to_string(),
            Ok(found) => match self.decide(&request, &found) {
                Some(verdict) => {
                    outcome.got = verdict.effect;
                    outcome.decided_by = Some(verdict.rule);
                    outcome.why = verdict.reason;
                }
                None if found.classification.decision == Decision::AutoAllowed => {
                    outcome.got = RuleEffect::Allow;
                    outcome.why = found.classification.reasoning.clone();
                }
                None => {
                    let context = self.request_context(&request, &found);
                    let why = self.allowed(&context).err();
                    outcome.why = why.unwrap_or_else(|| found.classification.reasoning.clone());
                }
            },
        }
        outcome
    }
}

/// Returns `true` if one rule is stricter than another and applies whenever the other does.
fn shadows(one: &Rule, other: &Rule) -> bool {
    let (a, b) = (&one.conditions, &other.conditions);
    // Patterns of words and paths are not compared.
    let plain =
        a.arguments.is_none() && a.path.is_none() && a.within.is_none() && a.outside.is_none();
    one.effect > other.effect
        && plain
        && covers(&a.subcommand, &b.subcommand, PartialEq::eq)
        && covers(&a.class, &b.class, PartialEq::eq)
        && covers(&a.program, &b.program, PartialEq::eq)
        && covers(&a.tool, &b.tool, PartialEq::eq)
        && a.host == b.host
        && covers(&a.mcp, &b.mcp, McpPattern::covers)
        && covers(&a.agent, &b.agent, PartialEq::eq)
}

/// Returns `true` if the values of a rule's condition match all that the values of another rule's
/// condition match. A rule without the condition matches everything.
fn covers<T>(
    one: &Option<Vec<T>>,
    other: &Option<Vec<T>>,
    value_covers: fn(&T, &T) -> bool,
) -> bool {
    match (one, other) {
        (None, _) => true,
        (Some(one), Some(other)) => {
            let is_covered = |other: &T| one.iter().any(|one| value_covers(one, other));
            other.iter().all(is_covered)
        }
        (Some(_), None) => false,
    }
}

fn impossible_condition(rule: &Rule) -> Option<&'static str> {
    let conditions = &rule.conditions;
    let reads = conditions
        .class
        .as_ref()
        .is_some_and(|class| class == &[Crud::Read]);
    let own = |program: &String| super::context::base_name(program) == "hooks-guard";
    let guarded = conditions
        .program
        .as_ref()
        .is_some_and(|list| list.iter().all(own));
    match rule.effect {
        RuleEffect::Allow if guarded => Some("the guard's own commands always need confirmation"),
        RuleEffect::Allow if reads && conditions.tool.is_some() => {
            Some("reads need no `allow` rule")
        }
        _ => None,
    }
}
