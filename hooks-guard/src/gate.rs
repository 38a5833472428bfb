//! The permission gate. In: a request. Out: the decision, derived from the outputs of classifiers,
//! rules and hooks.
//!
//! A decision has up to three *steps*, which [`GateDecision::steps`] reports:
//!
//! 1. `classify`: a hook returns the [`Classification`] of the request. Its *class* ([`Crud`]) is
//!    the strongest of its *findings*, one for each effect. [`StagedClassifier`] takes the effects from
//!    the *tables*, the descriptions of programs and their options in [`hooks_classify`].
//! 2. `restrict`: a hook may return a [`Restriction`], which requires approval or denies. This step
//!    runs only if such a hook is registered.
//! 3. `rules`: the rules and the built-in protections may require approval or deny. Rules may allow.

mod hook;
mod hooks;
mod modes;
mod policy;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{Entry, Failure, Report};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::classify::{
    CLASSIFY_BUDGET, Classification, CommandAnalysis, Crud, Decision, Finding, Method, Parts,
    StagedClassifier,
};
use crate::dispatches::{Step, StepRun};
use crate::mask::Masked;
use crate::request::{CommandPart, PermissionDecision, PermissionRequest};
use crate::rules::{ChangeScope, RuleBook, RuleDecision, RuleEffect, change_scope};

pub use self::hook::{Classify, Restrict, Restriction};
#[cfg(feature = "script")]
pub(crate) use self::hooks::CountScriptRuns;
pub use self::hooks::{GateHooks, HookDescription, SlotDescription};
pub use self::modes::{Confirm, Modes};

/// Start of the reason of a decision that is left to the agent because of its permission mode.
pub(crate) const LEFT_TO_AGENT: &str = "left to the agent's mode ";

/// How the gate derives a decision from a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// See [`Config::auto_allow_read`](crate::config::Config::auto_allow_read).
    pub auto_allow_read: bool,
    /// See [`Config::require_confirmation_cud`](crate::config::Config::require_confirmation_cud);
    /// `cud` means create, update and delete.
    pub require_confirmation_cud: bool,
    /// See [`Config::dangerously_skip_confirmations`](crate::config::Config::dangerously_skip_confirmations).
    pub dangerously_skip_confirmations: bool,
    /// See [`Config::modes`](crate::config::Config::modes).
    pub modes: Modes,
    /// See [`Config::mcp`](crate::config::Config::mcp).
    pub unknown_mcp_tools: UnknownMcpTools,
    /// See [`Config::tools`](crate::config::Config::tools).
    pub unknown_tools: UnknownTools,
}

/// What happens to a call of a tool of the agent itself that the guard does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownTools {
    /// The call needs approval, except in a mode with [`Confirm::Nothing`].
    #[default]
    Approval,
    /// The agent decides, by its own rules and its prompt.
    Agent,
    /// The call is denied.
    Deny,
}

/// What happens to a call of a tool of an MCP server that no rule names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownMcpTools {
    /// The agent decides, by its own rules and its prompt.
    #[default]
    Agent,
    /// The call needs approval.
    Approval,
    /// The call is denied.
    Deny,
}

impl Default for Policy {
    /// Reads are allowed; changes need approval.
    fn default() -> Self {
        Self {
            auto_allow_read: true,
            require_confirmation_cud: true,
            dangerously_skip_confirmations: false,
            modes: Modes::default(),
            unknown_mcp_tools: UnknownMcpTools::default(),
            unknown_tools: UnknownTools::default(),
        }
    }
}

/// Decides requests: runs the classifiers, applies the rules and derives the decision. It keeps no
/// record of them.
#[derive(Clone, Debug)]
pub struct Gate {
    hooks: GateHooks,
    policy: Policy,
    rules: Option<Arc<RuleBook>>,
    /// The classifier of [`new`](Self::new). It sends commands to a language model only if it has a
    /// second stage ([`StagedClassifier::with_semantic`]); by default, it has none.
    classifier: Option<StagedClassifier>,
}

/// The gate's result for a request.
#[derive(Clone, Debug)]
pub struct GateDecision {
    /// The decision, without an id. It has one of four outcomes:
    ///
    /// | Outcome | `decision` | `denied` | `left_to_agent` |
    /// |---|---|---|---|
    /// | allowed | `AutoAllowed` | `false` | `false` |
    /// | needs approval | `RequiresConfirmation` | `false` | `false` |
    /// | denied by a rule, a hook or `mcp.unknown` | `RequiresConfirmation` | `true` | `false` |
    /// | left to the agent, because of its permission mode or as an MCP tool that no rule names | `RequiresConfirmation` | `false` | `true` |
    pub permission: PermissionDecision,
    /// Duration of the decision.
    pub response_time: Duration,
    /// The parts of the command, at most 32. If several findings have the same position, they are
    /// one part, with the strongest of their effects.
    pub parts: Vec<CommandPart>,
    /// The steps: `classify`, `restrict` if a hook can restrict, and `rules`.
    pub steps: Vec<Step>,
    /// `true` if an approval may be remembered.
    pub may_be_remembered: bool,
    /// The parsed parts of the command, by which an approval is bound to files.
    pub command_parts: Parts,
    /// `true` if the request is a call of a tool of an MCP server that no rule names, and is left to
    /// the agent as without the guard. Such a request is not recorded.
    pub unknown_tool: bool,
    /// The failure of a hook or of the rules. [`Gate::decide`] describes its effect on the decision.
    pub error: Option<String>,
}

/// Result of the step `classify`.
struct ClassifyStep {
    /// The classification, or the fallback: CREATE with confidence 0.
    found: CommandAnalysis,
    run: StepRun,
    /// The failure of a hook, also if another hook has classified the request.
    error: Option<String>,
    report: Report,
}

impl Gate {
    /// Creates a gate with this classifier and without rules.
    #[must_use]
    pub fn new(classifier: impl Into<StagedClassifier>, policy: Policy) -> Self {
        let classifier = classifier.into();
        // The name in reports and in the API.
        let entry = Entry::new(classifier.clone()).name("Classifier");
        let hooks = GateHooks::new().with_classify_entry(entry);
        Self {
            classifier: Some(classifier),
            ..Self::with_hooks(hooks, policy)
        }
    }

    /// Creates a gate with these hooks, possibly none, and without rules.
    #[must_use]
    pub fn with_hooks(hooks: GateHooks, policy: Policy) -> Self {
        Self {
            hooks,
            policy,
            rules: None,
            classifier: None,
        }
    }

    /// Creates a gate with the classifier of the tables, the default policy and no rules.
    #[must_use]
    pub fn tables_only() -> Self {
        Self::new(StagedClassifier::new(), Policy::default())
    }

    /// Applies these rules to requests.
    #[must_use]
    pub fn with_rules(mut self, rules: RuleBook) -> Self {
        self.rules = Some(Arc::new(rules));
        self
    }

    /// Returns the rules of [`with_rules`](Self::with_rules).
    #[cfg(feature = "http")]
    pub(crate) fn rules(&self) -> Option<&Arc<RuleBook>> {
        self.rules.as_ref()
    }

    /// Replaces the hooks by the result of `change`.
    #[cfg(feature = "script")]
    #[must_use]
    pub(crate) fn map_hooks(mut self, change: impl FnOnce(GateHooks) -> GateHooks) -> Self {
        self.hooks = change(self.hooks);
        self
    }

    /// Returns `true` if the classifier of [`new`](Self::new) has a language model that has
    /// responded at least once.
    #[must_use]
    pub fn model_answered(&self) -> bool {
        let classifier = self.classifier.as_ref();
        classifier.is_some_and(StagedClassifier::model_answered)
    }

    /// Returns whether a classifier is registered.
    #[must_use]
    pub fn has_classifier(&self) -> bool {
        self.hooks.can_classify()
    }

    /// Returns the registered hooks.
    #[must_use]
    pub fn hooks(&self) -> &GateHooks {
        &self.hooks
    }

    /// Decides a request.
    ///
    /// A failure never allows a request:
    ///
    /// - If no hook classifies the request, or a classifying hook fails, the class is CREATE with
    ///   confidence 0, and the request needs approval. A rule can still allow the files or the host
    ///   of the request, but no rule allows a command that is not classified.
    ///   `dangerously_skip_confirmations` still allows the request, unless the gate has rules and
    ///   the request is a command: the built-in protections ask about a command that is not
    ///   classified.
    /// - If a restricting hook fails or the rules cannot be read, the request needs approval, and no
    ///   rule or setting allows it.
    /// - After a failure, no permission mode leaves the request to the agent.
    ///
    /// The failure of a hook with [`FailurePolicy::Isolate`](hooks_runtime::FailurePolicy::Isolate)
    /// is reported in [`error`](GateDecision::error) and ignored: the other hooks decide, and may
    /// allow the request.
    ///
    /// Dropping the future drops the running hooks.
    pub async fn decide(&self, request: &PermissionRequest) -> GateDecision {
        let began = Instant::now();
        let ClassifyStep {
            found,
            run,
            error,
            report,
        } = self.run_classifiers(request, began).await;
        let classified = began.elapsed();
        let detail = match run {
            StepRun::Failed => error.clone(),
            _ => report.stopped_by().map(|hook| hook.name.to_string()),
        };
        let step = Step::new("classify", run, classified).detail(detail);
        let mut steps = vec![step.hooks(report, request)];
        let restrictions = match self.hooks.can_restrict() {
            true => Some(self.run_restrictions(request, &found.classification).await),
            false => None,
        };
        let (restricted, failure, step) = restrictions.unwrap_or_default();
        steps.extend(step);
        let rules_began = Instant::now();
        let mut unreadable = None;
        let verdict =
            self.rules
                .as_ref()
                .and_then(|book| match book.rules_in(request.cwd.as_deref()) {
                    Ok(rules) => rules.decide(request, &found),
                    Err(why) => {
                        let why = unreadable.insert(why.to_string());
                        let asks = RuleDecision::unreadable(why);
                        // The readable files may deny the request.
                        let rest = book.readable_in(request.cwd.as_deref());
                        Some(match rest.decide(request, &found) {
                            Some(verdict) => asks.stricter(verdict),
                            None => asks,
                        })
                    }
                });
        let verdict = match verdict {
            Some(RuleDecision {
                effect: RuleEffect::Allow,
                ..
            }) if !self.allows_command_of_network_access(request).await => None,
            verdict => verdict,
        };
        let run = match (&self.rules, &verdict) {
            (None, _) => StepRun::Skipped,
            (Some(_), None) => StepRun::Ran,
            (Some(_), Some(_)) if unreadable.is_some() => StepRun::Failed,
            (Some(_), Some(_)) => StepRun::Decided,
        };
        let rule = verdict.as_ref().map(|verdict| verdict.rule.clone());
        let step = Step::new("rules", run, rules_began.elapsed());
        let verdict = match (verdict, restricted) {
            (Some(verdict), Some(restricted)) => Some(verdict.stricter(restricted)),
            (verdict, restricted) => verdict.or(restricted),
        };
        let counts = rule == verdict.as_ref().map(|verdict| verdict.rule.clone());
        steps.push(match run {
            // A hook's output is stricter.
            StepRun::Decided if !counts => step.became(StepRun::Ran),
            _ => step.detail(rule),
        });
        let may_be_remembered = verdict.as_ref().is_none_or(|verdict| verdict.remember);
        let error = error.or(failure).or(unreadable);
        let parts = parts(&found.classification);
        let (permission, command_parts, unknown_tool) =
            self.derive_decision(found, verdict, request, error.is_some());
        let permission = with_hidden_code(permission, request, &command_parts);
        GateDecision {
            parts,
            may_be_remembered: may_be_remembered && !permission.hidden_code,
            permission,
            response_time: began.elapsed(),
            steps,
            command_parts,
            unknown_tool,
            error,
        }
    }

    /// Returns `true` if the command that needs the requested network access would be allowed on its
    /// own. Also returns `true` if the request names no such command.
    async fn allows_command_of_network_access(&self, request: &PermissionRequest) -> bool {
        let needs = request.network.as_ref();
        let Some(command) = needs.and_then(|network| network.command.clone()) else {
            return true;
        };
        let request = PermissionRequest {
            command,
            network: None,
            ..request.clone()
        };
        let decided = Box::pin(self.decide(&request)).await;
        decided.permission.decision == Decision::AutoAllowed
    }

    /// Returns the strictest restriction of the hooks, the last failure of a hook, and the step
    /// `restrict`, which is always present.
    async fn run_restrictions(
        &self,
        request: &PermissionRequest,
        found: &Classification,
    ) -> (Option<RuleDecision>, Option<String>, Option<Step>) {
        let began = Instant::now();
        let until = began + RESTRICT_TIMEOUT;
        let (output, report) = self.hooks.restricted(request, found, until).await;
        let failure = masked_failure(request, "hook", output.failure.as_ref());
        let run = match &output.verdict {
            _ if failure.is_some() => StepRun::Failed,
            Some(_) => StepRun::Decided,
            None => StepRun::Ran,
        };
        let rule = output.verdict.as_ref().map(|verdict| verdict.rule.clone());
        let step = Step::new("restrict", run, began.elapsed())
            .detail(failure.clone().or(rule))
            .hooks(report, request);
        (output.verdict, failure, Some(step))
    }

    /// Returns the classification of the first hook that returns one, with the failure of an isolated
    /// hook. If there is none, returns the fallback, with the reason.
    async fn run_classifiers(&self, request: &PermissionRequest, began: Instant) -> ClassifyStep {
        // The tables' classifier enforces its own deadline and returns what it found by then.
        let until = began + CLASSIFY_BUDGET + Duration::from_millis(50);
        let (found, report) = self.hooks.classified(request, until).await;
        let mut error = masked_failure(request, "classifier", found.failure.as_ref());
        let failure = found.failure.filter(|_| found.failed);
        let (run, found) = match (found.judgement, failure) {
            (Some(analysis), _) => (StepRun::Decided, analysis),
            (None, Some((_, Failure::Timeout(_)))) => {
                (StepRun::Failed, Classification::timed_out().into())
            }
            (None, Some(_)) => {
                let why = "a classifier panicked";
                (StepRun::Failed, Classification::fallback(why).into())
            }
            (None, None) => {
                let why = "no classifier recognizes the request";
                error.get_or_insert_with(|| why.to_owned());
                (StepRun::Failed, Classification::fallback(why).into())
            }
        };
        ClassifyStep {
            found,
            run,
            error,
            report,
        }
    }

    /// Derives the decision from the classification, the settings and `verdict`, the strictest
    /// result of rules and restricting hooks. If `failed`, no mode leaves the request to the agent,
    /// because the failure may hide a denial.
    ///
    /// Also returns the parts of the command, and [`GateDecision::unknown_tool`].
    fn derive_decision(
        &self,
        analysis: CommandAnalysis,
        verdict: Option<RuleDecision>,
        request: &PermissionRequest,
        failed: bool,
    ) -> (PermissionDecision, Parts, bool) {
        let Policy {
            auto_allow_read,
            require_confirmation_cud,
            dangerously_skip_confirmations,
            modes,
            unknown_mcp_tools,
            unknown_tools,
        } = self.policy;
        // A tool of the agent that the guard does not know, and that no hook asks about.
        let is_unknown =
            verdict.is_none() && (request.tool.as_ref()).is_some_and(|tool| tool.effect.is_none());
        let denies_unknown = is_unknown && unknown_tools == UnknownTools::Deny;
        let found = &analysis.classification;
        let is_asked_about_as_a_read =
            |finding: &Finding| finding.ask && finding.effect == Crud::Read;
        // A part needs approval for another reason than a change.
        let sensitive = found.confidence < MIN_CONFIDENCE
            || !found.understood()
            || found.findings.iter().any(is_asked_about_as_a_read)
            || request.can_type_into(found);
        let names_tool = verdict.as_ref().is_some_and(|verdict| verdict.names_tool);
        // No rule asks about the call, denies it, or allows its tool.
        let unknown_tool = match &verdict {
            Some(verdict) if verdict.effect != RuleEffect::Allow || names_tool => None,
            _ => request.mcp.as_ref(),
        };
        let is_restricted = unknown_tool.is_some() && unknown_mcp_tools != UnknownMcpTools::Agent;
        let denies_tool = is_restricted && unknown_mcp_tools == UnknownMcpTools::Deny;
        let (allowed, because) = match (&verdict, found.decision) {
            _ if denies_unknown => (false, Some("`tools.unknown` is `deny`".to_owned())),
            _ if is_unknown => (false, None),
            _ if is_restricted => {
                let value = match denies_tool {
                    true => "deny",
                    false => "approval",
                };
                let why = format!("no rule names this MCP tool, and `mcp.unknown` is `{value}`");
                (false, Some(why))
            }
            (Some(verdict), _) => (
                verdict.effect == RuleEffect::Allow,
                Some(format!("{} ({})", verdict.reason, verdict.rule)),
            ),
            (None, Decision::AutoAllowed) if !auto_allow_read => {
                (false, Some("`auto_allow_read` is off".to_owned()))
            }
            (None, Decision::AutoAllowed) if request.confirm => (
                false,
                Some("the tables hardly cover its language".to_owned()),
            ),
            (None, Decision::AutoAllowed) if request.can_type_into(found) => {
                let why = "the program accepts commands from its terminal, and the agent can type \
                           there without a check";
                (false, Some(why.to_owned()))
            }
            (None, Decision::AutoAllowed) => (true, None),
            (None, Decision::RequiresConfirmation) if dangerously_skip_confirmations => (
                true,
                Some("`dangerously_skip_confirmations` is on".to_owned()),
            ),
            (None, Decision::RequiresConfirmation) => {
                let allowed = !require_confirmation_cud && !sensitive;
                let because = "`require_confirmation_cud` is off";
                (allowed, allowed.then(|| because.to_owned()))
            }
        };
        let denied = denies_tool
            || denies_unknown
            || (verdict.as_ref()).is_some_and(|verdict| verdict.effect == RuleEffect::Deny);
        let mode = request.permission_mode.as_deref();
        let confirm = modes.confirm(mode, request.agent.as_deref());
        let may_be_left = !allowed && !denied && !failed;
        let is_plain_change = may_be_left
            && verdict.is_none()
            && !is_restricted
            && !sensitive
            && matches!(found.crud, Crud::Create | Crud::Update);
        let scope = match confirm {
            Confirm::Edits | Confirm::Deletions if is_plain_change => {
                let home = self
                    .rules
                    .as_ref()
                    .map_or(Path::new(NO_HOME), |book| book.home());
                change_scope(request, &analysis, home)
            }
            _ => ChangeScope::Other,
        };
        let is_of_agent = unknown_tool.is_some_and(|call| !call.runs_command) && !is_restricted
            || is_unknown && unknown_tools == UnknownTools::Agent;
        let left_to_agent = match confirm {
            _ if is_of_agent => !failed,
            Confirm::Changes => false,
            Confirm::Edits => is_plain_change && scope == ChangeScope::ProjectEdit,
            Confirm::Deletions => is_plain_change && !matches!(scope, ChangeScope::Outside(_)),
            Confirm::Nothing => {
                may_be_left
                    && verdict
                        .as_ref()
                        .is_none_or(|verdict| !verdict.is_protection())
            }
        };
        let because = match (because, mode, scope) {
            (..) if is_of_agent && left_to_agent => {
                let why = match is_unknown {
                    true => "left to the agent: `tools.unknown` is `agent`",
                    false => "left to the agent: no rule names this MCP tool",
                };
                Some(why.to_owned())
            }
            (because, Some(mode), _) if left_to_agent => {
                let left = format!("{LEFT_TO_AGENT}`{mode}`");
                Some(because.map_or(left.clone(), |because| format!("{left}; {because}")))
            }
            (None, Some(_), ChangeScope::Outside(why)) => Some(why),
            (because, ..) => because,
        };
        let CommandAnalysis {
            classification: found,
            parts,
            ..
        } = analysis;
        let has_failed = found.has_failed();
        let decision = match allowed && !is_of_agent {
            true => Decision::AutoAllowed,
            false => Decision::RequiresConfirmation,
        };
        // The classifier's statement about approval holds only if its decision does.
        let explanation = match decision == found.decision && !denied && !left_to_agent {
            true => found.explanation,
            false => found.explanation_of_effects(),
        };
        let permission = PermissionDecision {
            decision,
            classification: found.crud,
            reasoning: match because {
                // Why it could not be analysed is also why its effects are unknown.
                Some(because) if has_failed => format!("{}; {because}", found.reasoning),
                Some(because) => format!("{because}; {}", found.reasoning),
                None => found.reasoning,
            },
            confidence: found.confidence,
            explanation,
            classification_method: found.method,
            timestamp: Timestamp::now(),
            id: None,
            secret: None,
            approved: false,
            denied,
            left_to_agent,
            names_tool: allowed && names_tool,
            hidden_code: false,
            timed_out: found.timed_out,
            rule: verdict.map(|verdict| verdict.rule),
        };
        (permission, parts, is_of_agent && left_to_agent)
    }
}

/// Sets `hidden_code` if the request needs approval and the command executes text that the trail
/// masks as a secret: the operator would not see the code that runs.
fn with_hidden_code(
    permission: PermissionDecision,
    request: &PermissionRequest,
    parts: &Parts,
) -> PermissionDecision {
    let asks = permission.decision == Decision::RequiresConfirmation
        && !permission.denied
        && !permission.left_to_agent;
    let hides_code = || Masked::with_parts(&request.command, Some(parts)).hides_code();
    if !(request.is_command() && asks && hides_code()) {
        return permission;
    }
    PermissionDecision {
        hidden_code: true,
        reasoning: format!(
            "the command executes text that is hidden as a secret and cannot be reviewed; {}",
            permission.reasoning
        ),
        rule: Some(RuleDecision::hiding_code(permission.rule.as_deref())),
        ..permission
    }
}

/// Placeholder for the user's home directory in a gate without rules.
const NO_HOME: &str = "/\u{F0003}";

/// Timeout of all restricting hooks together. `hooks-guard hook` waits three seconds for a decision
/// of the service: [`CLASSIFY_BUDGET`] (two seconds), this timeout, and the write of the record.
const RESTRICT_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the description of a hook's failure, with the request's secrets masked.
fn masked_failure(
    request: &PermissionRequest,
    what: &str,
    failure: Option<&(Arc<str>, Failure)>,
) -> Option<String> {
    let (hook, fault) = failure?;
    let masked = Masked::for_storage(&request.command);
    Some(masked.other(&format!("{what} `{hook}` {fault}")))
}

/// Maximum number of reported parts of a command.
const MAX_PARTS: usize = 32;

/// Returns the parts of a command, at most one for each position. If a language model decided, or no
/// classifier, no part is marked as decisive.
fn parts(found: &Classification) -> Vec<CommandPart> {
    let mut parts: Vec<CommandPart> = Vec::new();
    for (at, finding) in found.findings.iter().enumerate() {
        let character = |character: usize| u32::try_from(character).unwrap_or(u32::MAX);
        let part = CommandPart {
            start: character(finding.start_character),
            end: character(finding.end_character),
            effect: finding.effect,
            decided: at == 0 && found.method != Method::Semantic,
        };
        let place = |had: &CommandPart| (had.start, had.end) == (part.start, part.end);
        match parts.iter().position(place) {
            Some(same) => parts[same].effect = parts[same].effect.max(part.effect),
            None if part.start < part.end && parts.len() < MAX_PARTS => parts.push(part),
            None => {}
        }
    }
    parts
}

/// Minimum confidence of a class that counts as understood.
const MIN_CONFIDENCE: f64 = 0.8;
