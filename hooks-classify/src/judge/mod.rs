//! Judges every command that a text would run.
//!
//! [`Judge`] walks scripts ([`walk`]), evaluates words as far as their values
//! are known ([`words`]) and asks of each command what it does: the shell's own
//! ones in [`builtin`], the others by their table ([`table`]) and, where a
//! table says so, by a function on top of it ([`special`]).

mod builtin;
mod declare;
pub(crate) mod environment;
mod names;
mod numbers;
mod redirect;
mod run;
mod salvage;
mod simple;
mod special;
mod table;
mod terminal;
mod walk;
mod words;

use std::collections::{HashMap, HashSet};

pub(crate) use environment::{Environment, Value};
pub(crate) use names::Named;
use numbers::Shown;
pub use run::plain;
pub(crate) use words::{Arg, UNKNOWN};

use super::parts::{Recorder, UnseenCode};
use super::shell::{Inner, Reading, Script, Span};
use super::tables::{Effect, Tables};
use super::{Crud, TerminalInput};

/// How sure a finding is; the ground of `confidence`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Sure {
    /// A table says so.
    Known,
    /// It follows from code that is not shown.
    Likely,
    /// Nothing is known about it.
    Guess,
}

/// What one part of a command does.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) span: Span,
    pub(crate) effect: Crud,
    /// Must be asked about although it may only read.
    pub(crate) ask: bool,
    pub(crate) reason: String,
    pub(crate) sure: Sure,
}

/// A line of the explanation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) depth: usize,
    pub(crate) span: Span,
    pub(crate) label: String,
    /// The findings that were there before this step.
    pub(crate) before: usize,
}

/// What a command reads on its standard input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// Whatever it was for the whole command.
    Inherited,
    Known(String),
    /// A pipe or a file of which nothing is known.
    Unknown,
}

/// What a command prints, where that is known.
pub(crate) type Output = Option<String>;

/// How positions in a text become positions in the whole command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Offset(usize),
    Fixed(Span),
}

impl Place {
    fn map(self, span: Span) -> Span {
        match self {
            Self::Offset(offset) => Span::new(span.start + offset, span.end + offset),
            Self::Fixed(span) => span,
        }
    }

    fn inner(self, inner: &Inner, around: Span) -> Self {
        match (self, inner.at) {
            (Self::Offset(offset), Some(at)) => Self::Offset(offset + at),
            _ => Self::Fixed(self.map(around)),
        }
    }
}

/// Texts within texts deeper than this are not followed.
const DEPTH: usize = 25;
/// More commands than this are not followed: loops are walked more than once.
const STEPS: usize = 3000;

/// Walks a command and collects what it does.
#[derive(Debug)]
pub(crate) struct Judge<'t> {
    pub(crate) tables: &'t Tables,
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<Step>,
    pub(crate) environment: Environment,
    seen: HashSet<(usize, usize, u8, bool, u64)>,
    place: Place,
    depth: usize,
    work: usize,
    /// The functions that are being called, the outermost first.
    calls: Vec<String>,
    /// What variables were before the function that is called made them its own; `None` outside
    /// of functions.
    locals: Option<HashMap<String, Option<Value>>>,
    /// Files whose names the current pipeline prints, and secrets among its words.
    noted: Vec<Named>,
    /// Files that a word which is not known may stand for, secrets first.
    handed: Vec<Named>,
    /// A path of secrets among the words of the command before, of which `$_` is one.
    last_secret: Option<Named>,
    /// Whether a text has the word `function` in it.
    keyword: bool,
    /// Whether it is a program that runs what is judged next, and not the shell itself.
    child: bool,
    /// What the text that is judged has shown so far, where that is not known.
    shown: Shown,
    /// What a command before this one in a pipeline shows.
    piped: Shown,
    /// Whether what is printed is captured, redirected or piped, and so reaches no terminal.
    captured: bool,
    pub(crate) terminal_input: TerminalInput,
    /// Whether every text was read the same by both parsers.
    pub(crate) agreed: bool,
    /// Whether all of it was followed.
    pub(crate) complete: bool,
    pub(crate) parts: Recorder,
}

impl<'t> Judge<'t> {
    pub(crate) fn new(tables: &'t Tables) -> Self {
        Self {
            tables,
            findings: Vec::new(),
            steps: Vec::new(),
            environment: Environment::default(),
            seen: HashSet::new(),
            place: Place::Offset(0),
            depth: 0,
            work: 0,
            calls: Vec::new(),
            locals: None,
            noted: Vec::new(),
            handed: Vec::new(),
            last_secret: None,
            keyword: false,
            child: false,
            shown: Shown::Numbers,
            piped: Shown::Anything,
            captured: false,
            terminal_input: TerminalInput::None,
            agreed: true,
            complete: true,
            parts: Recorder::default(),
        }
    }

    /// Judges the whole command.
    pub(crate) fn whole(&mut self, text: &str) {
        self.text(text, Place::Offset(0), &Input::Inherited);
        self.uncalled();
    }

    /// Judges a text that a shell runs; says what it prints.
    pub(crate) fn text(&mut self, text: &str, place: Place, input: &Input) -> Output {
        let names = self.names_read(input);
        self.in_child(|judge| judge.with_names(names, |judge| judge.text_here(text, place, input)))
    }

    /// Goes into the environment of the program that runs something, where it is one.
    pub(crate) fn in_child<T>(&mut self, judge: impl FnOnce(&mut Self) -> T) -> T {
        if !std::mem::take(&mut self.child) {
            return judge(self);
        }
        let before = self.environment.clone();
        self.environment.enter();
        let output = judge(self);
        self.leave(before);
        self.child = true;
        output
    }

    fn text_here(&mut self, text: &str, place: Place, input: &Input) -> Output {
        let span = place.map(Span::new(0, text.len()));
        if self.depth >= DEPTH {
            self.find(
                Effect::Unknown,
                span,
                "texts within texts are nested too deeply to follow",
            );
            return None;
        }
        let unescaped = || super::shell::parse(&text.replace("$'", "'"));
        if escaped_quote(text) && !matches!(unescaped(), Reading::Unreadable(_)) {
            self.find(Effect::Unknown, span, "shells read `$'…\\'…'` differently");
        }
        self.keyword |= text.contains("function");
        let outer = std::mem::replace(&mut self.place, place);
        self.depth += 1;
        let output = match super::shell::parse(text) {
            Reading::Agreed(script) => self.script(&script, input),
            _ if let Some(script) = zsh(text) => {
                self.place = Place::Fixed(span);
                self.script(&script, input)
            }
            Reading::Single(script) => {
                self.agreed = false;
                self.find(
                    Effect::Unknown,
                    span,
                    "only one of two parsers can read this",
                );
                self.salvage(text, place);
                self.script(&script, input)
            }
            Reading::Disputed(one, other) => {
                self.agreed = false;
                self.find(Effect::Unknown, span, "two parsers read this differently");
                self.salvage(text, place);
                self.both(&one, &other, input)
            }
            Reading::Unreadable(why) => {
                self.agreed = false;
                self.find(Effect::Unknown, span, why);
                self.salvage(text, place);
                // It may be another shell's.
                if self.depth == 1
                    && text
                        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
                        .any(special::cmdlet)
                    || text.contains("$_")
                {
                    super::language::powershell::judge(self, &Arg::new(text, span));
                }
                None
            }
        };
        self.depth -= 1;
        self.place = outer;
        output
    }

    fn both(&mut self, one: &Script, other: &Script, input: &Input) -> Output {
        let before = self.environment.clone();
        self.script(one, input);
        let after = std::mem::replace(&mut self.environment, before);
        self.script(other, input);
        self.environment.merge(&after);
        None
    }

    /// Judges text that comes from the value of a word; what is unknown in it
    /// may be anything.
    pub(crate) fn shell_text(&mut self, arg: &Arg, input: &Input) -> Output {
        if arg.known() && !arg.guess {
            return self.text(&arg.text, Place::Fixed(arg.span), input);
        }
        let source = UnseenCode::Text;
        self.runs_unseen(arg.span, source, source.reason());
        let text = arg.text.replace(UNKNOWN, "\"$_\"");
        self.text(&text, Place::Fixed(arg.span), input);
        None
    }

    /// Notes what a part does.
    pub(crate) fn find(&mut self, effect: Effect, span: Span, reason: impl Into<String>) {
        let sure = match effect {
            Effect::Unknown => Sure::Guess,
            Effect::Code => Sure::Likely,
            _ => Sure::Known,
        };
        self.note(Finding {
            span,
            effect: effect.crud(),
            ask: effect != Effect::Read,
            reason: reason.into(),
            sure,
        });
    }

    /// Notes that code runs that is only known when it runs.
    pub(crate) fn runs_unseen(
        &mut self,
        span: Span,
        source: UnseenCode,
        reason: impl Into<String>,
    ) {
        self.find(Effect::Code, span, reason);
        self.parts.unseen_code(source);
    }

    /// Notes a read that must be asked about.
    pub(crate) fn ask(&mut self, span: Span, reason: impl Into<String>) {
        let reason = reason.into();
        self.note(Finding {
            span,
            effect: Crud::Read,
            ask: true,
            reason,
            sure: Sure::Likely,
        });
    }

    fn note(&mut self, finding: Finding) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        self.complete &= self.work <= STEPS && self.depth < DEPTH;
        let known = finding.sure == Sure::Known;
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

    /// Opens a line of the explanation.
    pub(crate) fn step(&mut self, span: Span, label: impl FnOnce() -> String) {
        let before = self.findings.len();
        self.steps.push(Step {
            depth: self.depth,
            span,
            label: label(),
            before,
        });
    }
}

/// Returns the script of a text that is plain but for notation of zsh.
fn zsh(text: &str) -> Option<Script> {
    match super::shell::parse(&super::shell::translate(text)?) {
        Reading::Agreed(script) => Some(script),
        _ => None,
    }
}

/// Whether a `$'…'` holds an escaped quote: to a shell that does not know it, the text ends there.
fn escaped_quote(text: &str) -> bool {
    enum In {
        Words,
        Single,
        Double,
        Dollar,
    }
    let mut place = In::Words;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (&place, c) {
            (In::Dollar, '\\') if characters.next() == Some('\'') => return true,
            (In::Words | In::Double, '\\') => drop(characters.next()),
            (In::Words, '$') if characters.peek() == Some(&'\'') => {
                characters.next();
                place = In::Dollar;
            }
            (In::Words, '\'') => place = In::Single,
            (In::Words, '"') => place = In::Double,
            (In::Single | In::Dollar, '\'') | (In::Double, '"') => place = In::Words,
            _ => {}
        }
    }
    false
}
