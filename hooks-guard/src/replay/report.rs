//! The report of a replay. In: calls with their decisions. Out: counts, reasons, examples and suggested rules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::call::{CallResult, ClientPermission, TranscriptCall};
use super::decide::{ReplayDecision, ReplayedCall};
use super::transcript::TranscriptProblems;
use crate::classify::Crud;
use crate::protocol::Agent;
use crate::rules::{BookError, PastAnswer, RuleBook, SuggestedRule};

/// Maximum number of reasons with a count of their own.
const MAX_REASONS: usize = 2_000;
/// Reason of the calls beyond these.
const OTHER: &str = "other";
/// Number of suggested rules.
const MAX_RULES: usize = 3;
/// Minimum number of questions that a suggested rule would have saved.
const MIN_SAVED: usize = 2;

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Number of calls.
    pub calls: usize,
    /// Number of sessions with calls.
    pub sessions: usize,
    /// Time of the first call.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub first: Option<Timestamp>,
    /// Time of the last call.
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub last: Option<Timestamp>,
    /// The agents, by the number of their calls.
    pub agents: Vec<ReplayedAgent>,
    /// Calls by decision.
    pub decisions: DecisionCounts,
    /// Calls that need approval where the agent shows no prompt: an operator approves them, or they are denied.
    pub unattended: usize,
    /// Calls whose directory is gone.
    pub folders_gone: usize,
    /// Reasons of the questions, the most frequent first.
    pub asked: Vec<ReplayReason>,
    /// Reasons of the denials, the most frequent first.
    pub denied: Vec<ReplayReason>,
    /// Calls that ran, by decision.
    pub ran: DecisionCounts,
    /// Calls by decision, for each way in which the agent let them run or refused them.
    pub agent_decided: AgentDecisionCounts,
    /// The rules that would have saved the most questions.
    pub rules: Vec<SuggestedRule>,
    /// Number of questions that these rules would have saved.
    pub saved: usize,
    /// The files that were read, and what could not be read.
    pub transcripts: TranscriptCounts,
}

/// Calls of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReplayedAgent {
    /// Name of the agent on the command line.
    pub agent: &'static str,
    /// Name for display.
    #[serde(skip)]
    pub title: &'static str,
    /// Number of sessions with calls.
    pub sessions: usize,
    /// Number of calls.
    pub calls: usize,
}

/// Numbers of calls by decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecisionCounts {
    /// Calls that run without a question.
    pub allowed: usize,
    /// Calls that need approval.
    pub asked: usize,
    /// Calls that are denied.
    pub denied: usize,
    /// Calls that are left to the agent.
    pub left_to_agent: usize,
    /// Calls of tools that are not checked.
    pub not_checked: usize,
}

impl DecisionCounts {
    fn add(&mut self, decision: ReplayDecision) {
        *match decision {
            ReplayDecision::Allowed => &mut self.allowed,
            ReplayDecision::Asked => &mut self.asked,
            ReplayDecision::Denied => &mut self.denied,
            ReplayDecision::LeftToAgent => &mut self.left_to_agent,
            ReplayDecision::NotChecked => &mut self.not_checked,
        } += 1;
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn total(&self) -> usize {
        self.allowed + self.asked + self.denied + self.left_to_agent + self.not_checked
    }
}

/// Numbers of calls by what the agent did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentDecisionCounts {
    /// The agent asked, and its user approved.
    pub approved: DecisionCounts,
    /// The agent asked, and its user rejected.
    pub rejected: DecisionCounts,
    /// The agent did not ask.
    pub not_asked: DecisionCounts,
    /// The agent refused the call itself.
    pub refused: DecisionCounts,
    /// The transcript does not show it.
    pub unknown: DecisionCounts,
}

/// A reason, with the calls that have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReplayReason {
    /// The rule, the program with its subcommand, or the tool.
    pub subject: String,
    /// The strongest effect of the calls; `None` if the hook could not read them.
    pub class: Option<Crud>,
    /// Number of calls.
    pub calls: usize,
    /// Number of calls that ran.
    pub ran: usize,
    /// Reason of the first call, with secrets masked.
    pub reason: String,
    /// The first call, with secrets masked.
    pub example: String,
}

/// Numbers of transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TranscriptCounts {
    /// Files with a known format.
    pub read: usize,
    /// Files without a known format.
    pub unknown: usize,
    /// Files that could not be read to their end.
    pub unreadable: usize,
    /// Lines and rows that are no JSON.
    pub broken: usize,
    /// Lines that are too long.
    pub too_long: usize,
}

type ReasonKey = (ReplayDecision, Option<Crud>, String);

/// Returns the first clause of a reason, without the positions in the command, which differ for each call.
fn without_positions(reason: &str) -> String {
    let clause = reason.split("; ").next().unwrap_or_default();
    clause
        .split(" (characters ")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Collects the report.
#[derive(Debug, Default)]
pub struct ReplayCollector {
    report: ReplayReport,
    reasons: BTreeMap<ReasonKey, ReplayReason>,
    agents: BTreeMap<Agent, (BTreeSet<u64>, usize)>,
    answers: Vec<PastAnswer>,
    known: HashSet<u64>,
}

/// Returns the first bytes of a hash of texts.
fn hash(texts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(8)
        .fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

impl ReplayCollector {
    /// Returns `true` for a call that was not seen before. Agents copy calls when a session is continued in another
    /// file, and write a call again when its message grows.
    pub fn is_new(&mut self, call: &TranscriptCall) -> bool {
        let Some(id) = &call.id else {
            return true;
        };
        let at = call.at.map(|at| at.to_string()).unwrap_or_default();
        let arguments = call.arguments.to_string();
        let agent = call.agent.name();
        self.known
            .insert(hash(&[agent, id, &at, &call.tool, &arguments]))
    }

    /// Adds a call.
    pub fn add(&mut self, call: &TranscriptCall, decided: ReplayedCall) {
        let report = &mut self.report;
        report.calls += 1;
        if let Some(at) = call.at {
            report.first = Some(report.first.map_or(at, |first| first.min(at)));
            report.last = Some(report.last.map_or(at, |last| last.max(at)));
        }
        let (sessions, calls) = self.agents.entry(call.agent).or_default();
        sessions.insert(hash(&[&call.session]));
        *calls += 1;
        let decision = decided.decision;
        report.decisions.add(decision);
        let asks = decision == ReplayDecision::Asked;
        report.unattended += usize::from(asks && decided.is_unattended);
        report.folders_gone += usize::from(decided.is_folder_gone);
        if call.result.ran() {
            report.ran.add(decision);
        }
        let counts = &mut report.agent_decided;
        match call.permission {
            ClientPermission::Approved => counts.approved.add(decision),
            ClientPermission::Rejected => counts.rejected.add(decision),
            ClientPermission::NotAsked => counts.not_asked.add(decision),
            ClientPermission::Refused => counts.refused.add(decision),
            ClientPermission::Unknown => counts.unknown.add(decision),
        }
        if let Some(answer) = decided.approval.clone() {
            let is_rejected = call.permission == ClientPermission::Rejected;
            if is_rejected || (asks && call.result.ran()) {
                let approved = !is_rejected;
                self.answers.push(PastAnswer { approved, ..answer });
            }
        }
        if asks || decision == ReplayDecision::Denied {
            self.add_reason(call.result, decided);
        }
    }

    fn add_reason(&mut self, result: CallResult, decided: ReplayedCall) {
        let is_full = self.reasons.len() >= MAX_REASONS;
        let mut key = (decided.decision, decided.class, decided.subject);
        if is_full && !self.reasons.contains_key(&key) {
            key = (decided.decision, None, OTHER.to_owned());
        }
        let reason = self.reasons.entry(key.clone()).or_insert_with(|| {
            let (_, class, subject) = key;
            ReplayReason {
                subject,
                class,
                calls: 0,
                ran: 0,
                reason: without_positions(&decided.reason),
                example: decided.command,
            }
        });
        reason.calls += 1;
        reason.ran += usize::from(result.ran());
    }

    /// Adds a transcript that was read to its end, or to an error.
    pub fn add_transcript(
        &mut self,
        agent: Option<Agent>,
        problems: TranscriptProblems,
        ended: bool,
    ) {
        let counts = &mut self.report.transcripts;
        match (ended, agent) {
            (false, _) => counts.unreadable += 1,
            (true, Some(_)) => counts.read += 1,
            (true, None) => counts.unknown += 1,
        }
        // Another file need not have lines of JSON.
        if agent.is_some() {
            counts.broken += problems.broken;
            counts.too_long += problems.too_long;
        }
    }

    /// Returns the numbers of transcripts and calls so far.
    #[must_use]
    pub fn progress(&self) -> (TranscriptCounts, usize) {
        (self.report.transcripts, self.report.calls)
    }

    /// Returns the report, with the rules that would have saved the most questions.
    ///
    /// # Errors
    /// If the user's rules cannot be read.
    pub fn finish(self, book: &RuleBook) -> Result<ReplayReport, BookError> {
        let mut report = self.report;
        let agents = self
            .agents
            .into_iter()
            .map(|(agent, (sessions, calls))| ReplayedAgent {
                agent: agent.name(),
                title: agent.title(),
                sessions: sessions.len(),
                calls,
            });
        report.agents = agents.collect();
        report.agents.sort_by_key(|agent| Reverse(agent.calls));
        report.sessions = report.agents.iter().map(|agent| agent.sessions).sum();
        for ((decision, ..), reason) in self.reasons {
            match decision {
                ReplayDecision::Denied => report.denied.push(reason),
                _ => report.asked.push(reason),
            }
        }
        for reasons in [&mut report.asked, &mut report.denied] {
            reasons.sort_by_key(|reason| Reverse(reason.calls));
        }
        let suggestions = book.suggest(&self.answers, MIN_SAVED)?;
        report.rules = suggestions.rules.into_iter().take(MAX_RULES).collect();
        report.saved = report.rules.iter().map(|rule| rule.approvals).sum();
        Ok(report)
    }
}
