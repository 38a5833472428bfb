//! Commands: the words of a command in, its effects and its output out.
//!
//! The first word is looked up as a shell does: an alias, a function, a builtin, a program.

use super::cursor::SpanMap;
use super::interpreter::Interpreter;
use crate::languages::powershell::is_cmdlet;
use crate::model::arg::{Arg, UNKNOWN, display_text, shell_quoted};
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::possible_options::{PossibleOptions, is_option};
use crate::model::program_name::SYSTEM_FOLDERS;
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;
use crate::programs::builds::program_of_wrapper_script;
use crate::programs::builtins::Builtin;
use crate::programs::deletion::deleting_command;
use crate::programs::packages::{package_name, program_of_file};

/// The reason of a question about a text with too many values to try.
pub(super) const TOO_MUCH: &str = "there is too much in it to follow";

impl Interpreter<'_> {
    /// Runs a command.
    pub(crate) fn run_args(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        self.in_child_process(|interpreter| interpreter.record_and_run(args, input))
    }

    fn record_and_run(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        self.cursor.depth += 1;
        let opened = self.sink.recorder.record_words(&args, input);
        let is_overridable = args.iter().any(|arg| arg.overridden.is_some());
        let output = self.look_up_and_run(args, input);
        if opened {
            self.sink.recorder.close_part();
        }
        self.cursor.depth -= 1;
        output.filter(|_| !is_overridable)
    }

    fn look_up_and_run(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        let name = args.first()?.clone();
        self.cursor.count_command();
        if self.cursor.has_too_many_commands() || self.cursor.is_too_deep() {
            self.add_finding(Effect::Unknown, name.span, TOO_MUCH);
            return None;
        }
        self.note_possible_options(&args);
        let prints_paths = args.len() > 1 && self.tables.prints_paths(&name.text);
        for arg in &args[1..] {
            if prints_paths || self.tables.may_read_secrets(arg.path()) {
                self.add_printed_path(arg);
            }
        }
        if name.text.is_empty() {
            return self.run_rest(&args, input);
        }
        // In zsh, `-` before a command only changes its `$0`.
        if name.text == "-" && args.len() > 1 {
            let may_not_run = self.cursor.shells.intersects(Shells::OTHER_THAN_ZSH);
            return self.run_or_not(may_not_run, |inner| inner.run_rest(&args, input));
        }
        // In zsh, `=NAME` is the path of the program.
        if let Some(program) = name.text.strip_prefix('=')
            && self.tables.program(program).is_some()
        {
            let mut args = args.clone();
            args[0] = name.with_text(program);
            self.run_program_by_name(program, &args, name.span, input);
        }
        // A comment that a shell reads as words: there is no such program.
        if name.text == "#" {
            return None;
        }
        if name.glob && name.is_known() {
            self.run_pattern(&args, input);
        }
        if !name.is_known() || name.glob || name.has_guessed_number {
            self.add_unseen_code(
                name.span,
                UnseenCode::Program,
                "which program runs is only known when it runs",
            );
            // If the unknown part is empty, the rest is the name.
            let rest = name.text.replace(UNKNOWN, "");
            let mut args = args;
            if !name.glob && !rest.is_empty() && self.tables.program(&rest).is_some() {
                args[0].text = rest;
                args[0].has_guessed_number = false;
                self.run_args(args, input);
            } else if rest.is_empty() && name.text.chars().count() == 1 {
                args.remove(0);
                if args
                    .first()
                    .is_some_and(|first| self.tables.program(&first.text).is_some())
                {
                    self.run_args(args, input);
                }
            }
            return None;
        }
        if name.overridden.is_some() {
            self.add_unseen_code(
                name.span,
                UnseenCode::Program,
                "a variable may name another program",
            );
        }
        let whole = Span::new(
            name.span.start,
            args.iter()
                .map(|arg| arg.span.end)
                .max()
                .unwrap_or(name.span.end),
        );
        self.check_printed_environment(&args, whole);
        self.check_replaced_defaults(&args, input);
        let text = name.text.clone();
        self.run_alias(&text, &args, input);
        if self.shell.environment.functions.contains_key(&text) {
            // The definition may not have run.
            let maybe = self.shell.environment.conditionally_defined.contains(&text)
                || self.tables.program(&text).is_some();
            let call = |inner: &mut Self| inner.call_function(&text, &args[1..], input);
            let output = self.run_or_not(maybe, call);
            if !maybe {
                return output;
            }
            self.run_program_by_name(&text, &args, whole, input);
            return None;
        }
        if let Some(output) = self.run_builtin(&text, &args, whole, input) {
            return output;
        }
        let is_modifier = Builtin::named(&text) == Some(Builtin::PrecommandModifier);
        let may_not_run = is_modifier && self.cursor.shells.intersects(Shells::OTHER_THAN_ZSH);
        self.run_or_not(may_not_run, |inner| {
            inner.run_program_by_name(&text, &args, whole, input)
        })
    }

    /// Runs every program that matches a pattern used as a name.
    fn run_pattern(&mut self, args: &[Arg], input: &Input) {
        let pattern = args[0].text.rsplit('/').next().unwrap_or("").to_owned();
        let names: Vec<&str> = self
            .tables
            .names()
            .filter(|name| glob_matches(&pattern, name))
            .take(20)
            .collect();
        for name in names {
            let mut args = args.to_vec();
            args[0] = Arg::new(name, args[0].span);
            self.run_args(args, input);
        }
    }

    fn run_rest(&mut self, args: &[Arg], input: &Input) -> Output {
        if args.len() < 2 {
            return None;
        }
        self.run_args(args[1..].to_vec(), input)
    }

    fn run_alias(&mut self, name: &str, args: &[Arg], input: &Input) {
        let Some(alias) = self.shell.environment.aliases.get(name).cloned() else {
            return;
        };
        let span = args[0].span;
        let Some(value) = alias else {
            self.add_unseen_code(
                span,
                UnseenCode::Alias,
                format!("runs the unknown alias `{name}`"),
            );
            return;
        };
        self.shell.environment.aliases.remove(name);
        let rest: Vec<String> = args[1..].iter().map(shell_quoted).collect();
        self.run_text(
            &format!("{value} {}", rest.join(" ")),
            SpanMap::Fixed(span),
            input,
        );
        self.shell
            .environment
            .aliases
            .insert(name.to_owned(), Some(value));
    }

    /// Runs a program.
    pub(crate) fn run_program_by_name(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        if name.contains('/') {
            return self.run_path(name, args, whole, input);
        }
        let name = self.tables.without_suffix(name);
        if let Some(program) = self.tables.program(name) {
            let in_shell = Builtin::named(name).is_some_and(Builtin::runs_in_shell_by_table);
            let outer_runs_in_child =
                std::mem::replace(&mut self.shell.runs_in_child_process, !in_shell);
            self.check_possible_options(args, |interpreter, args| {
                interpreter.run_program(name, program, args, whole, input);
            });
            if program.takes_script_of(Language::Sed) {
                self.check_possible_ends(args, |interpreter, args| {
                    interpreter.run_program(name, program, args, whole, input);
                });
            }
            let output = self.run_program(name, program, args, whole, input);
            self.shell.runs_in_child_process = outer_runs_in_child;
            return output;
        }
        if is_cmdlet(name) {
            return self.run_cmdlet(args, whole);
        }
        let span = args[0].span;
        self.add_finding(Effect::Unknown, span, format!("unknown program `{name}`"));
        let words = args[1..].iter().map(|arg| arg.text.as_str());
        if let Some(word) = deleting_command(words) {
            let reason = format!("`{word}` of an unknown program may delete");
            self.add_finding(Effect::Delete, whole, reason);
        }
        self.run_package(name, args, whole, input);
        None
    }

    /// Runs the program of a package that is named with its version: `prisma@6`. The command is
    /// confirmed in any case.
    fn run_package(&mut self, word: &str, args: &[Arg], whole: Span, input: &Input) {
        if let Some(name) = package_name(word)
            && let Some(program) = self.tables.program(name)
        {
            self.run_program(name, program, args, whole, input);
        }
    }

    /// Records the words that a command passes on: those of functions, builtins and programs that print
    /// their words, and the operands of others, which may be programs of their own.
    fn note_possible_options(&self, args: &[Arg]) {
        let environment = &self.shell.environment;
        let (name, rest) = (args[0].text.as_str(), &args[1..]);
        let note = |arg: &Arg| environment.options.note(&arg.text);
        if environment.functions.contains_key(name) {
            return rest.iter().for_each(note);
        }
        match Builtin::named(name) {
            Some(Builtin::Null | Builtin::TrueOrFalse) => return rest.iter().for_each(note),
            Some(Builtin::Command | Builtin::DirectCall) => {
                let at = rest.iter().position(|arg| !arg.text.starts_with('-'));
                return at.map_or((), |at| self.note_possible_options(&rest[at..]));
            }
            _ => {}
        }
        let operands = rest.iter().filter(|arg| !arg.text.starts_with('-'));
        operands.for_each(|operand| environment.options.note_in_operand(&operand.text));
        if rest.iter().any(|arg| arg.text.contains('-'))
            && self.tables.prints_words(name)
            && let Some(program) = self.tables.program(name)
        {
            let call = Call::read(name, program, rest);
            call.operands.iter().for_each(|operand| note(&operand.arg));
        }
    }

    /// Checks a command with its defaults replaced by unknown values: inherited variables may do so.
    fn check_replaced_defaults(&mut self, args: &[Arg], input: &Input) {
        let Some(replaced) = args[1..].iter().find(|arg| arg.overridden.is_some()) else {
            return;
        };
        let span = replaced.span;
        let others: Vec<Arg> = args.iter().map(Arg::with_replaced_defaults).collect();
        let reason = "a variable that the shell inherits may replace this default";
        self.ask_if_asked_by(span, reason, |inner| drop(inner.run_args(others, input)));
    }

    /// Checks a program whose unknown words may be options that the text passes on as data.
    fn check_possible_options(&mut self, args: &[Arg], run: impl Fn(&mut Interpreter<'_>, &[Arg])) {
        for (at, arg) in args.iter().enumerate().skip(1) {
            if !arg.text.starts_with(UNKNOWN) || arg.resolved_path.is_some() {
                continue;
            }
            let mut options = self.shell.environment.options.of_unknown_word();
            // The unknown part may be empty.
            let rest = arg.text.trim_start_matches(UNKNOWN);
            // In zsh, a subscript belongs to the variable before it.
            let subscript = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let rest = subscript.map_or(rest, |(_, rest)| rest);
            options.extend(Some(rest.to_owned()).filter(|rest| is_option(rest)));
            if self.check_possible_texts(args, at, &options, &run) {
                return;
            }
        }
    }

    /// Checks a program of which a script has unknown parts, which may be texts that end a command.
    fn check_possible_ends(&mut self, args: &[Arg], run: impl Fn(&mut Interpreter<'_>, &[Arg])) {
        for (at, arg) in args.iter().enumerate().skip(1) {
            if !arg.text.contains(UNKNOWN) || arg.resolved_path.is_some() {
                continue;
            }
            let Some(ends) = self.shell.environment.options.of_unknown_part() else {
                return self.add_finding(Effect::Unknown, arg.span, TOO_MUCH);
            };
            let with_end = |end: &String| arg.text.replace(UNKNOWN, end);
            let texts: Vec<String> = ends.iter().map(with_end).collect();
            if self.check_possible_texts(args, at, &texts, &run) {
                return;
            }
        }
    }

    /// Checks a program with each possible text of one of its words. Returns `true` if a text needs
    /// confirmation.
    fn check_possible_texts(
        &mut self,
        args: &[Arg],
        at: usize,
        texts: &[String],
        run: &impl Fn(&mut Interpreter<'_>, &[Arg]),
    ) -> bool {
        let span = args[at].span;
        texts.iter().any(|text| {
            if !self.shell.environment.options.count_try() {
                self.add_finding(Effect::Unknown, span, TOO_MUCH);
                return true;
            }
            let mut args = args.to_vec();
            args[at] = Arg::new(text, span);
            let shown = display_text(&args[at]);
            let reason = format!("a value that is only known when it runs may be `{shown}`");
            self.ask_if_asked_by(span, &reason, |inner| {
                inner.shell.environment.options = PossibleOptions::default();
                run(inner, &args);
            })
        })
    }

    /// A command of PowerShell, `Verb-Noun`.
    fn run_cmdlet(&mut self, args: &[Arg], whole: Span) -> Output {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        self.run_powershell(&Arg::new(words.join(" "), whole));
        None
    }

    /// Runs a program by its path.
    fn run_path(&mut self, path: &str, args: &[Arg], whole: Span, input: &Input) -> Output {
        let clean = path.replace("/./", "/").replace("//", "/");
        for folder in SYSTEM_FOLDERS {
            if let Some(name) = clean.strip_prefix(folder)
                && !name.contains('/')
                && !self.shell.environment.files.contains_key(&clean)
            {
                let mut args = args.to_vec();
                args[0].text = name.to_owned();
                if self.tables.program(name).is_some() || self.is_builtin_and_program(name) {
                    return self.run_builtin_or_program(name, &args, whole, input);
                }
                self.add_finding(
                    Effect::Unknown,
                    args[0].span,
                    format!("unknown program `{path}`"),
                );
                return None;
            }
        }
        let without_dot = path.trim_start_matches("./");
        let contents = [path, without_dot]
            .iter()
            .find_map(|name| self.shell.environment.files.get(*name))
            .cloned();
        let span = args[0].span;
        self.sink.recorder.record_code_file(&args[0]);
        self.add_finding(Effect::Code, span, format!("runs the file `{path}`"));
        let name = path.rsplit('/').next().unwrap_or("");
        let started = program_of_wrapper_script(name);
        let in_project = || program_of_file(self.tables, path);
        if contents.is_none()
            && let Some(program_name) = started.or_else(in_project)
            && let Some(program) = self.tables.program(program_name)
            && (started.is_some() || path.contains("bin/") || program.is_file_of_project(name))
        {
            // Probably the program of this name. The command is confirmed in any case.
            self.run_program(program_name, program, args, whole, input);
        } else if path.starts_with('@') {
            self.run_package(path, args, whole, input);
        }
        match contents {
            Some(FileContents::Text(text)) => {
                self.run_text(&text, SpanMap::Fixed(span), input);
            }
            Some(FileContents::CopyOf(target)) => {
                let mut args = args.to_vec();
                args[0].text = target;
                self.run_args(args, input);
            }
            _ => {}
        }
        None
    }

    fn is_builtin_and_program(&self, name: &str) -> bool {
        Builtin::named(name).is_some_and(Builtin::is_also_program)
    }

    fn run_builtin_or_program(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        if self.is_builtin_and_program(name)
            && let Some(output) = self.run_builtin(name, args, whole, input)
        {
            return output;
        }
        self.run_program_by_name(name, args, whole, input)
    }
}

/// Returns `true` if a name matches a pattern of `*`, `?` and `[…]`, which matches any character
/// here.
pub(super) fn glob_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    // Where to continue after a mismatch: only the last `*` needs to match more.
    let mut star = None;
    while place < name.len() {
        let one = match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, place));
                at += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => pattern[at..]
                .iter()
                .position(|c| *c == ']')
                .map(|end| end + 1),
            Some(c) if *c == name[place] => Some(1),
            _ => None,
        };
        match (one, star) {
            (Some(length), _) => {
                at += length;
                place += 1;
            }
            (None, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}
