//! Interpreter: a text in, the effects of its commands out, in the order in which a shell runs them.
//!
//! The text is parsed into a script, and words are expanded as far as their values are known. Each
//! command is looked up: a function, a builtin, or a program with a table and an analysis. Texts that a
//! command runs are interpreted in their turn.

use super::cursor::{Cursor, MAX_DEPTH, SpanMap};
use super::recorder::Recorder;
use super::sink::Sink;
use super::state::ShellState;
use crate::languages::powershell;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::{Crud, Effect};
use crate::model::io::{Input, Output};
use crate::model::script::ShellScript;
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::model::workspace_view::WorkspaceView;
use crate::shell::{ParseResult, parse, translate_zsh};
use crate::tables::Tables;

/// Interpreter of shell text that runs nothing.
#[derive(Debug)]
pub(crate) struct Interpreter<'t> {
    pub(crate) tables: &'t Tables,
    pub(crate) workspace: &'t WorkspaceView<'t>,
    pub(crate) shell: ShellState,
    pub(crate) cursor: Cursor,
    pub(crate) sink: Sink,
}

impl<'t> Interpreter<'t> {
    pub(crate) fn new(
        tables: &'t Tables,
        workspace: &'t WorkspaceView<'t>,
        shells: Shells,
        parts: Recorder,
    ) -> Self {
        Self {
            tables,
            workspace,
            shell: ShellState::default(),
            cursor: Cursor {
                shells,
                ..Cursor::default()
            },
            sink: Sink::new(parts),
        }
    }

    /// Returns an interpreter for the same tables, place and shells that has run nothing and records no
    /// parts.
    pub(crate) fn without_records(&self) -> Self {
        let mut other = Self::new(
            self.tables,
            self.workspace,
            self.cursor.shells,
            Recorder::default(),
        );
        other.cursor.braces = self.cursor.braces;
        other
    }

    /// Interprets a text that a shell runs, and returns its output.
    pub(crate) fn run_text(&mut self, text: &str, place: SpanMap, input: &Input) -> Output {
        let paths = self.paths_in_own_input(input);
        self.in_child_process(|child| {
            child.with_paths(paths, |child| child.parse_and_run(text, place, input))
        })
    }

    /// Interprets a text from the value of a word; its unknown parts may be anything.
    pub(crate) fn run_shell_text(&mut self, arg: &Arg, input: &Input) -> Output {
        self.sink.recorder.record_run_text(arg);
        if arg.is_known() && !arg.has_guessed_number {
            return self.run_text(&arg.text, SpanMap::Fixed(arg.span), input);
        }
        let source = UnseenCode::Text;
        self.add_unseen_code(arg.span, source, source.reason());
        let text = arg.text.replace(UNKNOWN, "\"$_\"");
        self.run_text(&text, SpanMap::Fixed(arg.span), input);
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

    fn parse_and_run(&mut self, text: &str, place: SpanMap, input: &Input) -> Output {
        let span = place.map(Span::new(0, text.len()));
        if self.cursor.depth >= MAX_DEPTH {
            self.add_finding(
                Effect::Unknown,
                span,
                "texts within texts are nested too deeply to follow",
            );
            return None;
        }
        // These shells run the lines before one that they cannot read.
        let is_readable = || {
            text.trim_end().contains('\n')
                || !matches!(parse(&text.replace("$'", "'")), ParseResult::Unreadable(_))
        };
        if self.cursor.shells.intersects(Shells::WITHOUT_ANSI_QUOTES)
            && has_escaped_quote(text)
            && is_readable()
        {
            self.add_finding(Effect::Unknown, span, "shells read `$'…\\'…'` differently");
        }
        if self.cursor.shells.intersects(Shells::ZSH_INTERACTIVE) {
            if self.cursor.depth == 0 && expands_history(text) {
                let reason = "a shell to which this is typed replaces `!` by earlier commands";
                self.add_finding(Effect::Code, span, reason);
            }
            if let Some(typed) = without_comments(text) {
                self.run_typed(&typed, span, input);
            }
        }
        self.cursor.saw_function_keyword |= text.contains("function");
        let outer_span_map = std::mem::replace(&mut self.cursor.span_map, place);
        self.cursor.depth += 1;
        let reading = match parse(text) {
            ParseResult::Agreed(script) => ParseResult::Agreed(script),
            other => match parse_zsh(text) {
                Some(script) => {
                    self.cursor.span_map = SpanMap::Fixed(span);
                    ParseResult::Agreed(script)
                }
                None => other,
            },
        };
        let output = match reading {
            ParseResult::Agreed(script) => self.run_shell_script(&script, input),
            ParseResult::Single(script) => {
                self.sink.parsers_agree = false;
                self.add_finding(
                    Effect::Unknown,
                    span,
                    "only one of two parsers can read this",
                );
                self.recover_commands(text, place);
                self.run_shell_script(&script, input)
            }
            ParseResult::Disputed(one, other) => {
                self.sink.parsers_agree = false;
                self.add_finding(Effect::Unknown, span, "two parsers read this differently");
                self.recover_commands(text, place);
                self.run_both_readings(&one, &other, input)
            }
            ParseResult::Unreadable(why) => {
                self.sink.parsers_agree = false;
                self.add_finding(Effect::Unknown, span, why);
                self.recover_commands(text, place);
                // The text may be PowerShell.
                if self.cursor.depth == 1
                    && text
                        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
                        .any(powershell::is_cmdlet)
                    || text.contains("$_")
                {
                    self.run_powershell(&Arg::new(text, span));
                }
                None
            }
        };
        self.cursor.depth -= 1;
        self.cursor.span_map = outer_span_map;
        output
    }

    /// Runs a text with comments as a shell reads it that takes `#` for a word.
    fn run_typed(&mut self, text: &str, span: Span, input: &Input) {
        let outer_span_map = std::mem::replace(&mut self.cursor.span_map, SpanMap::Fixed(span));
        self.cursor.depth += 1;
        let before = self.shell.environment.clone();
        match parse(text) {
            ParseResult::Agreed(script) => drop(self.run_shell_script(&script, input)),
            // Shells run nothing of an incomplete text.
            ParseResult::Unreadable(_) => {}
            ParseResult::Single(_) | ParseResult::Disputed(..) => {
                let reason = "a shell to which this is typed reads the comment as words";
                self.add_finding(Effect::Unknown, span, reason);
            }
        }
        self.shell.environment.join(&before);
        self.cursor.depth -= 1;
        self.cursor.span_map = outer_span_map;
    }

    fn run_both_readings(
        &mut self,
        one: &ShellScript,
        other: &ShellScript,
        input: &Input,
    ) -> Output {
        let before = self.shell.environment.clone();
        self.run_shell_script(one, input);
        let after = std::mem::replace(&mut self.shell.environment, before);
        self.run_shell_script(other, input);
        self.shell.environment.join(&after);
        None
    }

    /// Interprets with `run`, without recording anything, and returns the strongest effect that
    /// must be confirmed.
    pub(crate) fn strongest_effect_of(
        &mut self,
        run: impl FnOnce(&mut Interpreter<'_>),
    ) -> Option<Effect> {
        Some(match self.strongest_to_ask_of(run)? {
            Crud::Delete => Effect::Delete,
            Crud::Update => Effect::Update,
            Crud::Create | Crud::Read => Effect::Code,
        })
    }

    /// Interprets with `run`, without recording anything, and asks with this reason if something
    /// in it must be confirmed. Returns `true` if so.
    pub(crate) fn ask_if_asked_by(
        &mut self,
        span: Span,
        reason: &str,
        run: impl FnOnce(&mut Interpreter<'_>),
    ) -> bool {
        let effect = match self.strongest_to_ask_of(run) {
            None => return false,
            Some(Crud::Read) => {
                self.require_confirmation(span, reason);
                return true;
            }
            Some(Crud::Create) => Effect::Code,
            Some(Crud::Update) => Effect::Update,
            Some(Crud::Delete) => Effect::Delete,
        };
        self.add_finding(effect, span, reason);
        true
    }

    fn strongest_to_ask_of(&mut self, run: impl FnOnce(&mut Interpreter<'_>)) -> Option<Crud> {
        let mut inner = self.without_records();
        inner.shell = ShellState::with_environment_of(&self.shell);
        inner.cursor.commands = self.cursor.commands;
        inner.cursor.depth = self.cursor.depth;
        run(&mut inner);
        self.sink.braces_differ |= inner.sink.braces_differ;
        self.cursor.commands = inner.cursor.commands;
        self.sink.takes_terminal_input(inner.sink.terminal_input);
        inner.sink.strongest_to_ask()
    }

    /// Records the effect of a part of the command.
    pub(crate) fn add_finding(&mut self, effect: Effect, span: Span, reason: impl Into<String>) {
        self.check_limits();
        self.sink.add_finding(effect, span, reason.into());
    }

    /// Records the effect of a redirection.
    pub(crate) fn add_redirection_finding(&mut self, effect: Effect, span: Span, reason: String) {
        self.check_limits();
        self.sink.add_redirection_finding(effect, span, reason);
    }

    /// Records a read that must be confirmed.
    pub(crate) fn require_confirmation(&mut self, span: Span, reason: impl Into<String>) {
        self.check_limits();
        self.sink.require_confirmation(span, reason.into());
    }

    /// Records code that is only known when it runs.
    pub(crate) fn add_unseen_code(
        &mut self,
        span: Span,
        source: UnseenCode,
        reason: impl Into<String>,
    ) {
        self.check_limits();
        self.sink.add_unseen_code(span, source, reason.into());
    }

    /// A finding beyond the limits leaves the walk incomplete.
    fn check_limits(&mut self) {
        self.sink.complete &= self.cursor.is_within_limits();
    }
}

/// Returns the script of a text in which only notation of zsh is unreadable.
fn parse_zsh(text: &str) -> Option<ShellScript> {
    match parse(&translate_zsh(text)?) {
        ParseResult::Agreed(script) => Some(script),
        _ => None,
    }
}

/// Returns a text in which each `#` that begins a comment is quoted; `None` if there is none.
fn without_comments(text: &str) -> Option<String> {
    if !text.contains('#') {
        return None;
    }
    let mut out = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    let mut before = ' ';
    let mut found = false;
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() || ";&|()".contains(before) => {
                out.push('\\');
                found = true;
            }
            (None | Some('"'), '\\') => {
                out.push(c);
                before = characters.next().unwrap_or(' ');
                out.push(before);
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        out.push(c);
        before = c;
    }
    found.then_some(out)
}

/// Returns `true` if a text has a `!` that a shell replaces by an earlier command, if the text is
/// typed: outside of single quotes, before a word or a sign of an event.
fn expands_history(text: &str) -> bool {
    if !text.contains('!') {
        return false;
    }
    let mut is_quoted = false;
    let mut in_double = false;
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if !is_quoted => drop(characters.next()),
            '\'' if !in_double => is_quoted = !is_quoted,
            '"' if !is_quoted => in_double = !in_double,
            '!' if !is_quoted && !"$[{#".contains(before) => {
                let event = |c: &char| c.is_alphanumeric() || "!-?#$^*:%{/._".contains(*c);
                if characters.peek().is_some_and(event) {
                    return true;
                }
            }
            _ => {}
        }
        before = c;
    }
    false
}

/// Returns `true` if a `$'…'` contains an escaped quote, which ends it in shells without `$'…'`.
fn has_escaped_quote(text: &str) -> bool {
    enum QuoteState {
        Words,
        Single,
        Double,
        Dollar,
    }
    let mut place = QuoteState::Words;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (&place, c) {
            (QuoteState::Dollar, '\\') if characters.next() == Some('\'') => return true,
            (QuoteState::Words | QuoteState::Double, '\\') => drop(characters.next()),
            (QuoteState::Words, '$') if characters.peek() == Some(&'\'') => {
                characters.next();
                place = QuoteState::Dollar;
            }
            (QuoteState::Words, '\'') => place = QuoteState::Single,
            (QuoteState::Words, '"') => place = QuoteState::Double,
            (QuoteState::Single | QuoteState::Dollar, '\'') | (QuoteState::Double, '"') => {
                place = QuoteState::Words
            }
            _ => {}
        }
    }
    false
}
