//! Sink: findings and parts in, in the order of the interpreter; the [`Trace`] of the command out.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::recorder::Recorder;
use crate::model::effect::{Crud, Effect};
use crate::model::finding::{Certainty, SpanFinding};
use crate::model::span::Span;
use crate::model::terminal_input::TerminalInput;
use crate::model::trace::Trace;
use crate::model::unseen_code::UnseenCode;

/// Results of a walk.
#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) findings: Vec<SpanFinding>,
    /// Keys of the findings, each of which is kept once.
    finding_keys: HashSet<(usize, usize, u8, bool, u64)>,
    pub(crate) recorder: Recorder,
    pub(crate) terminal_input: TerminalInput,
    /// Number of recorded effects that have to be confirmed, with repetitions.
    pub(crate) confirmations: usize,
    /// `true` if both parsers agree on every text.
    pub(crate) parsers_agree: bool,
    /// `true` if the interpreter followed the whole command.
    pub(crate) complete: bool,
    /// `true` if shells expand the braces of a word differently.
    pub(crate) braces_differ: bool,
}

impl Sink {
    pub(crate) fn new(recorder: Recorder) -> Self {
        Self {
            findings: Vec::new(),
            finding_keys: HashSet::new(),
            recorder,
            terminal_input: TerminalInput::None,
            confirmations: 0,
            parsers_agree: true,
            complete: true,
            braces_differ: false,
        }
    }

    /// Returns the trace of `command`.
    pub(crate) fn into_trace(self, command: &str) -> Trace {
        Trace {
            findings: self.findings,
            parts: self
                .recorder
                .into_parts(command, self.parsers_agree, self.complete),
            parsers_agree: self.parsers_agree,
            terminal_input: self.terminal_input,
        }
    }

    /// Records the effect of a part of the command.
    pub(crate) fn add_finding(&mut self, effect: Effect, span: Span, reason: String) {
        self.record(finding(effect, span, reason), true);
    }

    /// Records the effect of a redirection.
    pub(crate) fn add_redirection_finding(&mut self, effect: Effect, span: Span, reason: String) {
        self.record(finding(effect, span, reason), false);
    }

    /// Records a read that must be confirmed.
    pub(crate) fn require_confirmation(&mut self, span: Span, reason: String) {
        let finding = SpanFinding {
            span,
            effect: Crud::Read,
            ask: true,
            reason,
            certainty: Certainty::Likely,
        };
        self.record(finding, true);
    }

    /// Records code that is only known when it runs.
    pub(crate) fn add_unseen_code(&mut self, span: Span, source: UnseenCode, reason: String) {
        self.add_finding(Effect::Code, span, reason);
        self.recorder.record_unseen_code(source);
    }

    /// Records a finding; `by_program` is `false` for the effect of a redirection.
    fn record(&mut self, finding: SpanFinding, by_program: bool) {
        self.confirmations += usize::from(finding.ask);
        let known = finding.certainty == Certainty::Known;
        self.recorder
            .record_effect(finding.effect, finding.ask, known, by_program);
        let mut hasher = DefaultHasher::new();
        finding.reason.hash(&mut hasher);
        let key = (
            finding.span.start,
            finding.span.end,
            finding.effect as u8,
            finding.ask,
            hasher.finish(),
        );
        if self.finding_keys.insert(key) {
            self.findings.push(finding);
        }
    }

    /// Records the findings of another walk that have to be confirmed and that this walk lacks.
    /// `where_found` is added to their reasons.
    pub(crate) fn add_findings_of(&mut self, other: Sink, where_found: &str) {
        self.takes_terminal_input(other.terminal_input);
        self.complete &= other.complete;
        self.parsers_agree &= other.parsers_agree;
        for finding in other.findings.into_iter().filter(|finding| finding.ask) {
            let is_known = self.findings.iter().any(|known| {
                known.ask && known.span == finding.span && known.effect >= finding.effect
            });
            if !is_known {
                let reason = format!("{}{where_found}", finding.reason);
                self.record(SpanFinding { reason, ..finding }, true);
            }
        }
    }

    /// Raises the recorded kind of terminal input.
    pub(crate) fn takes_terminal_input(&mut self, input: TerminalInput) {
        self.terminal_input = self.terminal_input.max(input);
    }

    /// Returns the strongest effect that must be confirmed.
    pub(crate) fn strongest_to_ask(&self) -> Option<Crud> {
        let findings = self.findings.iter().filter(|finding| finding.ask);
        findings.map(|finding| finding.effect).max()
    }
}

/// Returns the finding of an effect.
fn finding(effect: Effect, span: Span, reason: String) -> SpanFinding {
    let certainty = match effect {
        Effect::Unknown => Certainty::Guess,
        Effect::Code => Certainty::Likely,
        _ => Certainty::Known,
    };
    SpanFinding {
        span,
        effect: effect.crud(),
        ask: effect != Effect::Read,
        reason,
        certainty,
    }
}
