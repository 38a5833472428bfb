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
    seen: HashSet<(usize, usize, u8, bool, u64)>,
    pub(crate) parts: Recorder,
    pub(crate) terminal_input: TerminalInput,
    /// `true` if both parsers agree on every text.
    pub(crate) agreed: bool,
    /// `true` if the interpreter followed the whole command.
    pub(crate) complete: bool,
}

impl Sink {
    pub(crate) fn new(parts: Recorder) -> Self {
        Self {
            findings: Vec::new(),
            seen: HashSet::new(),
            parts,
            terminal_input: TerminalInput::None,
            agreed: true,
            complete: true,
        }
    }

    /// Returns the record of the walk through `command`.
    pub(crate) fn into_trace(self, command: &str) -> Trace {
        Trace {
            findings: self.findings,
            parts: self.parts.into_parts(command, self.agreed, self.complete),
            agreed: self.agreed,
            terminal_input: self.terminal_input,
        }
    }

    /// Records the effect of a part of the command.
    pub(crate) fn find(&mut self, effect: Effect, span: Span, reason: String) {
        let sure = match effect {
            Effect::Unknown => Certainty::Guess,
            Effect::Code => Certainty::Likely,
            _ => Certainty::Known,
        };
        self.record(SpanFinding {
            span,
            effect: effect.crud(),
            ask: effect != Effect::Read,
            reason,
            certainty: sure,
        });
    }

    /// Records a read that must be confirmed.
    pub(crate) fn ask(&mut self, span: Span, reason: String) {
        self.record(SpanFinding {
            span,
            effect: Crud::Read,
            ask: true,
            reason,
            certainty: Certainty::Likely,
        });
    }

    /// Records code that is only known when it runs.
    pub(crate) fn runs_unseen(&mut self, span: Span, source: UnseenCode, reason: String) {
        self.find(Effect::Code, span, reason);
        self.parts.unseen_code(source);
    }

    fn record(&mut self, finding: SpanFinding) {
        let known = finding.certainty == Certainty::Known;
        self.parts.finding(finding.effect, finding.ask, known);
        let mut hasher = DefaultHasher::new();
        finding.reason.hash(&mut hasher);
        let key = (
            finding.span.start,
            finding.span.end,
            finding.effect as u8,
            finding.ask,
            hasher.finish(),
        );
        if self.seen.insert(key) {
            self.findings.push(finding);
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
