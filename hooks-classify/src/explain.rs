//! Explanation: a command, its classification and its parts in, text for a terminal out: the findings
//! under the command, and a tree of the programs that would run.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::classification::{Classification, Finding};
use crate::model::arg::UNKNOWN;
use crate::model::effect::Crud;
use crate::model::parts::{Part, Parts, Word};
use crate::model::trace::Trace;

/// Maximum number of findings that are drawn.
const MAX_FINDINGS: usize = 50;
/// Maximum number of programs in the tree.
const MAX_PROGRAMS: usize = 100;
/// Width that no command reaches: a longer line would be truncated, which could hide effects.
const WIDTH: usize = 1_000_000;

/// A command with its findings, for a terminal. Returned by
/// [`Classifier::explain`](super::Classifier::explain).
///
/// `Display` draws the command with a mark under each finding: `^` where the command needs
/// confirmation, `-` where it only reads. If the programs have other words than the command shows,
/// for example after the expansion of a variable, a tree of the programs follows. Control
/// characters, bidirectional marks and other characters that hide text are escaped (`\u{202e}`).
///
/// ```
/// let explanation = hooks_classify::Classifier::new().explain("git status && git push")?;
/// assert_eq!(
///     explanation.to_string(),
///     "\
/// UPDATE: REQUIRES_CONFIRMATION (confidence 0.98)
///   |
/// 1 | git status && git push
///   | ----------    ^^^^^^^^ `git push` sends commits to a remote repository (UPDATE)
///   | |
///   | `git status` shows what is changed and not committed (READ)
///   |
///   = because: `git push` sends commits to a remote repository"
/// );
/// # Ok::<(), hooks_classify::InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    source: Source,
    classification: Classification,
    /// The programs that would run, if the command does not show all their words.
    tree: Option<Tree>,
    parts: Parts,
}

/// The escaped text of a command.
#[derive(Clone, Debug, Default)]
struct Source {
    text: String,
    /// Byte positions in the command and in the escaped text, one pair for each character that was
    /// escaped: the positions after it.
    shifts: Vec<(usize, usize)>,
}

impl Source {
    fn new(command: &str) -> Self {
        let mut source = Self::default();
        for (at, character) in command.char_indices() {
            let before = source.text.len();
            match character {
                '\n' => source.text.push('\n'),
                _ => push_escaped(&mut source.text, character),
            }
            if source.text.len() - before != character.len_utf8() {
                let shift = (at + character.len_utf8(), source.text.len());
                source.shifts.push(shift);
            }
        }
        source
    }

    /// Returns the position in the escaped text of a byte position in the command.
    fn position(&self, byte: usize) -> usize {
        let shifts = self.shifts.partition_point(|(from, _)| *from <= byte);
        match shifts.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((from, to)) => to + (byte - from),
            None => byte,
        }
    }
}

/// Appends a character as a terminal shows it: control characters, bidirectional marks and
/// characters without a width are escaped.
fn push_escaped(text: &mut String, character: char) {
    match character {
        '"' | '\'' | '\\' => text.push(character),
        _ => text.extend(character.escape_debug()),
    }
}

/// Returns a text of one line, escaped for a terminal.
fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        push_escaped(&mut shown, character);
    }
    shown
}

impl Explanation {
    pub(crate) fn new(command: &str, classification: Classification, trace: Option<Trace>) -> Self {
        let parts = trace.map(|trace| trace.parts).unwrap_or_default();
        let shown = |part: &Part| part.words.iter().all(|word| is_shown(command, word));
        let tree = (!parts.runs().all(shown)).then(|| Tree::new(&parts));
        Self {
            source: Source::new(command),
            classification,
            tree,
            parts,
        }
    }

    /// Returns the parts of the command. They are not [`complete`](Parts::complete) if the analysis
    /// could not follow all of the command.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the classification.
    #[must_use]
    pub fn classification(&self) -> &Classification {
        &self.classification
    }

    /// Returns the text of `Display` with ANSI colours.
    ///
    /// Use it only for a terminal that supports colours.
    #[must_use]
    pub fn to_ansi_string(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let classification = &self.classification;
        let level = match classification.crud {
            Crud::Read => Level::NOTE,
            Crud::Create | Crud::Update => Level::WARNING,
            Crud::Delete => Level::ERROR,
        };
        let title = format!(
            "{} (confidence {:.2})",
            classification.decision, classification.confidence
        );
        let shown = classification.findings.iter().take(MAX_FINDINGS);
        let snippet = Snippet::source(self.source.text.as_str())
            .fold(false)
            .annotations(shown.map(|finding| self.annotation(finding)));
        let because = Level::NOTE
            .with_name("because")
            .message(escape(&classification.reasoning));
        let group = level
            .with_name(classification.crud.to_string())
            .primary_title(title)
            .element(snippet)
            .element(because);
        let renderer = renderer.clone().term_width(WIDTH);
        let mut text = renderer.render(&[group]);
        if let Some(more) = classification.findings.len().checked_sub(MAX_FINDINGS + 1) {
            let _ = write!(text, "\n  = and {} more findings", more + 1);
        }
        if let Some(tree) = &self.tree {
            tree.draw(None, "", &mut text);
            if tree.left_out > 0 {
                let _ = write!(text, "\nand {} more programs", tree.left_out);
            }
        }
        text
    }

    fn annotation<'a>(&self, finding: &Finding) -> annotate_snippets::Annotation<'a> {
        let kind = match finding.ask {
            true => AnnotationKind::Primary,
            false => AnnotationKind::Context,
        };
        let confirmed = match finding.ask && finding.effect == Crud::Read {
            true => ", to be confirmed",
            false => "",
        };
        let start = self.source.position(finding.start);
        let end = self.source.position(finding.end);
        let reason = escape(&finding.reason);
        kind.span(start..end)
            .label(format!("{reason} ({}{confirmed})", finding.effect))
    }
}

/// Returns `true` if the command shows the value of a word: the text at its place is the value,
/// maybe in quotes.
fn is_shown(command: &str, word: &Word) -> bool {
    let without_quotes = |text: &str| text.replace(['"', '\'', '\\'], "");
    let text = command.get(word.start..word.end).map(without_quotes);
    text == Some(without_quotes(&word.text))
}

/// The programs that would run, each below the program that runs it.
#[derive(Clone, Debug, Default)]
struct Tree {
    lines: Vec<Line>,
    left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    /// Index of the line of the program that runs this one.
    parent: Option<usize>,
    /// The escaped words of the program.
    text: String,
    /// Start of the part in the command, in bytes.
    start: usize,
}

impl Tree {
    /// Builds the tree. A program that loops run again has one line.
    fn new(parts: &Parts) -> Self {
        let mut tree = Self::default();
        let mut seen: HashMap<Line, usize> = HashMap::new();
        let mut line_of: Vec<Option<usize>> = Vec::with_capacity(parts.all.len());
        for part in &parts.all {
            let parent = part.parent.and_then(|within| *line_of.get(within)?);
            if part.words.is_empty() {
                // A group around other parts is not a program.
                line_of.push(parent);
                continue;
            }
            let words: Vec<String> = part.words.iter().map(quoted).collect();
            let line = Line {
                parent,
                text: escape(&words.join(" ")),
                start: part.start,
            };
            let known = seen.get(&line).copied();
            if known.is_none() && tree.lines.len() >= MAX_PROGRAMS {
                tree.left_out += 1;
                line_of.push(parent);
                continue;
            }
            let at = known.unwrap_or(tree.lines.len());
            if known.is_none() {
                seen.insert(line.clone(), at);
                tree.lines.push(line);
            }
            line_of.push(Some(at));
        }
        tree
    }

    fn draw(&self, parent: Option<usize>, indent: &str, text: &mut String) {
        let lines = self.lines.iter().enumerate();
        let children: Vec<_> = lines.filter(|(_, line)| line.parent == parent).collect();
        for (at, (index, line)) in children.iter().enumerate() {
            let (branch, below) = match at + 1 == children.len() {
                true => ("└─", "   "),
                false => ("├─", "│  "),
            };
            let _ = write!(text, "\n{indent}{branch} {}", line.text);
            self.draw(Some(*index), &format!("{indent}{below}"), text);
        }
    }
}

/// Returns the value of a word in quotes if it has blanks; `…` replaces unknown parts.
fn quoted(word: &Word) -> String {
    let text = word.text.replace(UNKNOWN, "…");
    match text.is_empty() || text.contains(char::is_whitespace) {
        true => format!("'{text}'"),
        false => text,
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn positions_map_to_the_same_characters_of_the_escaped_text() {
        let command = "a\u{202e}b\tä'\u{1b}c";
        let source = Source::new(command);
        assert_eq!(source.text, r"a\u{202e}b\tä'\u{1b}c");
        for character in ['a', 'b', 'ä', '\'', 'c'] {
            let at = command.find(character).unwrap();
            assert!(source.text[source.position(at)..].starts_with(character));
        }
        assert_eq!(source.position(command.len()), source.text.len());
    }
}
