//! A drawing of what a command would run.

use std::fmt;
use std::ops::Range;

use hooks_runtime::display::escape;

use super::judge::{Arg, Finding, plain};
use super::{Classification, Crud, Judged};

/// What would run, as a tree with effects and reasons, which a terminal can show: control
/// characters and what else hides text are escaped; see
/// [`Classifier::explain`](super::Classifier::explain).
#[derive(Clone, Debug)]
pub struct Explanation {
    verdict: Classification,
    lines: Vec<Line>,
    runs: Vec<Run>,
    files: Vec<Word>,
}

/// A program that a command would run, and the words that it would be given, after quotes and
/// expansions as far as these are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// The program's name, and its arguments.
    pub words: Vec<Word>,
    /// The strongest effect of it, and of what it runs in turn.
    pub effect: Crud,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// What the program would be given; nothing if a part of it is only known when it runs.
    pub text: Option<String>,
    /// Whether it is a pattern, in whose place the shell puts names of files.
    pub pattern: bool,
    /// Where it stands in the command, in bytes; for a word of a text within the text, such as
    /// that of `sh -c`, where the outer word stands.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

impl Run {
    /// The program, without the folder if that is one of the system's; nothing if that is only
    /// known when it runs.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.words.first().filter(|name| !name.pattern)?;
        name.text.as_deref().map(plain)
    }

    /// The arguments, as far as they are known.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let arguments = self.words.iter().skip(1);
        arguments.filter_map(|word| word.text.as_deref())
    }
}

impl Word {
    fn new(command: &str, arg: &Arg) -> Self {
        let Range { start, end } = arg.span.within(command);
        Self {
            text: arg.known().then(|| arg.text.clone()),
            pattern: arg.glob,
            start,
            end,
        }
    }
}

#[derive(Clone, Debug)]
struct Line {
    depth: usize,
    text: String,
    reasons: Vec<String>,
}

impl Explanation {
    pub(crate) fn new(command: &str, verdict: Classification, judged: Option<Judged>) -> Self {
        let mut lines = Vec::new();
        let (mut runs, mut files) = (Vec::new(), Vec::new());
        if let Some(judged) = judged {
            let word = |arg: &Arg| Word::new(command, arg);
            if let Some(trace) = &judged.trace {
                files.extend(trace.files.iter().map(word));
                runs.extend(trace.runs.iter().map(|ran| Run {
                    words: ran.words.iter().map(word).collect(),
                    effect: strongest(&judged.findings[ran.findings.clone()]),
                }));
            }
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
        }
        Self {
            verdict,
            lines,
            runs,
            files,
        }
    }

    /// The programs that would run, each before those that it runs in turn; one in a loop more
    /// than once.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The files that something is redirected from or to.
    #[must_use]
    pub fn files(&self) -> &[Word] {
        &self.files
    }

    /// The answer.
    #[must_use]
    pub fn classification(&self) -> &Classification {
        &self.verdict
    }
}

fn strongest(findings: &[Finding]) -> Crud {
    let effects = findings.iter().map(|finding| finding.effect);
    effects.max().unwrap_or(Crud::Read)
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
