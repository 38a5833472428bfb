//! A drawing of what a command would run.

use std::fmt;

use crate::model::parts::Parts;
use crate::model::trace::Trace;
use crate::verdict::Classification;

/// What would run, as a tree with effects and reasons, which a terminal can show: control
/// characters and what else hides text are escaped (P-05); see
/// [`Classifier::explain`](super::Classifier::explain).
#[derive(Clone, Debug)]
pub struct Explanation {
    verdict: Classification,
    lines: Vec<Line>,
    parts: Parts,
}

#[derive(Clone, Debug)]
struct Line {
    depth: usize,
    text: String,
    reasons: Vec<String>,
}

/// Escapes characters that a terminal would not show as they are: control characters, bidirectional
/// marks, characters without a width.
fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

impl Explanation {
    pub(crate) fn new(command: &str, verdict: Classification, judged: Option<Trace>) -> Self {
        let mut lines = Vec::new();
        let mut parts = Parts::default();
        if let Some(judged) = judged {
            for (at, step) in judged.steps.iter().enumerate() {
                let until = judged
                    .steps
                    .get(at + 1)
                    .map_or(judged.findings.len(), |next| next.before);
                let reasons = judged.findings[step.before..until]
                    .iter()
                    .map(|finding| {
                        let ask = if finding.ask { "" } else { ", nothing to ask" };
                        format!("{} ({}{ask})", finding.reason, finding.effect)
                    })
                    .collect();
                let place = command
                    .get(..step.span.start)
                    .map_or(0, |text| text.chars().count());
                let text = format!("{} [{place}]", step.label);
                lines.push(Line {
                    depth: step.depth,
                    text,
                    reasons,
                });
            }
            parts = judged.parts;
        }
        Self {
            verdict,
            lines,
            parts,
        }
    }

    /// What the command is made of; not [`complete`](Parts::complete) where not all of it could be
    /// followed.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The answer.
    #[must_use]
    pub fn classification(&self) -> &Classification {
        &self.verdict
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = &self.verdict;
        writeln!(
            f,
            "{} {} (confidence {:.2})",
            verdict.crud, verdict.decision, verdict.confidence
        )?;
        let base = self.lines.iter().map(|line| line.depth).min().unwrap_or(0);
        for (at, line) in self.lines.iter().enumerate() {
            let next = self.lines.get(at + 1).map_or(0, |next| next.depth);
            let branch = if next < line.depth || at + 1 == self.lines.len() {
                "└─"
            } else {
                "├─"
            };
            let indent = "│  ".repeat(line.depth - base);
            writeln!(f, "{indent}{branch} {}", escape(&line.text))?;
            for reason in &line.reasons {
                writeln!(f, "{indent}│     {}", escape(reason))?;
            }
        }
        write!(f, "because {}", escape(&verdict.reasoning))
    }
}
