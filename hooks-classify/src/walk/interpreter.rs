//! Interpreter: a text in, the effects of its commands out, in the order in which a shell runs them.
//!
//! The text is parsed into a script, and words are expanded as far as their values are known. Each
//! command is looked up: a function, a builtin, or a program with a table and an analysis. Texts that a
//! command runs are interpreted in their turn.

use super::cursor::{Cursor, MAX_DEPTH, Place};
use super::recorder::Recorder;
use super::sink::Sink;
use super::state::ShellState;
use crate::languages::powershell;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::{Crud, Effect};
use crate::model::io::{Input, Output};
use crate::model::script::ShellScript;
use crate::model::span::Span;
use crate::model::trace::Trace;
use crate::model::unseen_code::UnseenCode;
use crate::shell::{Reading, parse, translate};
use crate::tables::Tables;

/// Interpreter of shell text that runs nothing.
#[derive(Debug)]
pub(crate) struct Interpreter<'t> {
    pub(crate) tables: &'t Tables,
    pub(crate) shell: ShellState,
    pub(crate) cursor: Cursor,
    pub(crate) sink: Sink,
}

impl<'t> Interpreter<'t> {
    pub(crate) fn new(tables: &'t Tables, parts: Recorder) -> Self {
        Self {
            tables,
            shell: ShellState::default(),
            cursor: Cursor::default(),
            sink: Sink::new(parts),
        }
    }

    /// Interprets a whole command and returns its effects.
    pub(crate) fn interpret(mut self, text: &str) -> Trace {
        self.text(text, Place::Offset(0), &Input::Inherited);
        self.check_uncalled_functions();
        self.sink.into_trace(text)
    }

    /// Interprets a text that a shell runs, and returns its output.
    pub(crate) fn text(&mut self, text: &str, place: Place, input: &Input) -> Output {
        let names = self.names_read(input);
        self.in_child_process(|child| {
            child.with_names(names, |child| child.follow_text(text, place, input))
        })
    }

    /// Interprets a text from the value of a word; its unknown parts may be anything.
    pub(crate) fn shell_text(&mut self, arg: &Arg, input: &Input) -> Output {
        if arg.is_known() && !arg.has_guessed_number {
            return self.text(&arg.text, Place::Fixed(arg.span), input);
        }
        let source = UnseenCode::Text;
        self.runs_unseen(arg.span, source, source.reason());
        let text = arg.text.replace(UNKNOWN, "\"$_\"");
        self.text(&text, Place::Fixed(arg.span), input);
        None
    }

    /// Enters the environment of the program that runs something, if a program does.
    pub(crate) fn in_child_process<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        if !std::mem::take(&mut self.shell.runs_in_child_process) {
            return run(self);
        }
        let before = self.shell.environment.clone();
        self.shell.environment.enter_child_process();
        let output = run(self);
        self.shell.exit_subshell(before);
        self.shell.runs_in_child_process = true;
        output
    }

    fn follow_text(&mut self, text: &str, place: Place, input: &Input) -> Output {
        let span = place.map(Span::new(0, text.len()));
        if self.cursor.depth >= MAX_DEPTH {
            self.find(
                Effect::Unknown,
                span,
                "texts within texts are nested too deeply to follow",
            );
            return None;
        }
        let unescaped = || parse(&text.replace("$'", "'"));
        if escaped_quote(text) && !matches!(unescaped(), Reading::Unreadable(_)) {
            self.find(Effect::Unknown, span, "shells read `$'…\\'…'` differently");
        }
        self.cursor.saw_function_keyword |= text.contains("function");
        let outer = std::mem::replace(&mut self.cursor.place, place);
        self.cursor.depth += 1;
        let reading = match parse(text) {
            Reading::Agreed(script) => Reading::Agreed(script),
            other => match zsh(text) {
                Some(script) => {
                    self.cursor.place = Place::Fixed(span);
                    Reading::Agreed(script)
                }
                None => other,
            },
        };
        let output = match reading {
            Reading::Agreed(script) => self.script(&script, input),
            Reading::Single(script) => {
                self.sink.agreed = false;
                self.find(
                    Effect::Unknown,
                    span,
                    "only one of two parsers can read this",
                );
                self.salvage(text, place);
                self.script(&script, input)
            }
            Reading::Disputed(one, other) => {
                self.sink.agreed = false;
                self.find(Effect::Unknown, span, "two parsers read this differently");
                self.salvage(text, place);
                self.follow_both(&one, &other, input)
            }
            Reading::Unreadable(why) => {
                self.sink.agreed = false;
                self.find(Effect::Unknown, span, why);
                self.salvage(text, place);
                // The text may be PowerShell.
                if self.cursor.depth == 1
                    && text
                        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
                        .any(powershell::cmdlet)
                    || text.contains("$_")
                {
                    self.powershell(&Arg::new(text, span));
                }
                None
            }
        };
        self.cursor.depth -= 1;
        self.cursor.place = outer;
        output
    }

    fn follow_both(&mut self, one: &ShellScript, other: &ShellScript, input: &Input) -> Output {
        let before = self.shell.environment.clone();
        self.script(one, input);
        let after = std::mem::replace(&mut self.shell.environment, before);
        self.script(other, input);
        self.shell.environment.merge(&after);
        None
    }

    /// Interprets with `run`, without recording anything, and returns the strongest effect that
    /// must be confirmed.
    pub(crate) fn strongest(&mut self, run: impl FnOnce(&mut Interpreter<'_>)) -> Option<Effect> {
        let mut inner = Interpreter::new(self.tables, Recorder::default());
        inner.shell = ShellState::with_environment_of(&self.shell);
        inner.cursor.commands = self.cursor.commands;
        inner.cursor.depth = self.cursor.depth;
        run(&mut inner);
        self.cursor.commands = inner.cursor.commands;
        self.sink.takes_terminal_input(inner.sink.terminal_input);
        Some(match inner.sink.strongest_to_ask()? {
            Crud::Delete => Effect::Delete,
            Crud::Update => Effect::Update,
            Crud::Create | Crud::Read => Effect::Code,
        })
    }

    /// Records the effect of a part of the command.
    pub(crate) fn find(&mut self, effect: Effect, span: Span, reason: impl Into<String>) {
        self.check_limits();
        self.sink.find(effect, span, reason.into());
    }

    /// Records a read that must be confirmed.
    pub(crate) fn ask(&mut self, span: Span, reason: impl Into<String>) {
        self.check_limits();
        self.sink.ask(span, reason.into());
    }

    /// Records code that is only known when it runs.
    pub(crate) fn runs_unseen(
        &mut self,
        span: Span,
        source: UnseenCode,
        reason: impl Into<String>,
    ) {
        self.check_limits();
        self.sink.runs_unseen(span, source, reason.into());
    }

    /// A finding beyond the limits leaves the walk incomplete.
    fn check_limits(&mut self) {
        self.sink.complete &= self.cursor.is_within_limits();
    }
}

/// Returns the script of a text in which only notation of zsh is unreadable.
fn zsh(text: &str) -> Option<ShellScript> {
    match parse(&translate(text)?) {
        Reading::Agreed(script) => Some(script),
        _ => None,
    }
}

/// Returns `true` if a `$'…'` contains an escaped quote, which ends it in shells without `$'…'`.
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
