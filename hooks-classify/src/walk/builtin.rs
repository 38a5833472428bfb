//! Builtins of the shell: a builtin with its words in, its effects and its output out.

use super::cursor::SpanMap;
use super::interpreter::Interpreter;
use super::run::TOO_MUCH;
use super::state::Trap;
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::{Input, Output};
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::programs::builtins::{Builtin, HARMLESS_OPTIONS};
use crate::programs::shell::is_read_alike;

/// Returns `true` if a word is a cluster of options that a letter ends.
fn is_option_cluster(word: &Arg, last: char) -> bool {
    let letters = word.text.strip_prefix(['-', '+']);
    letters.is_some_and(|letters| !letters.starts_with('-') && letters.ends_with(last))
}

impl Interpreter<'_> {
    /// Runs a builtin that runs or sets something. Returns `None` for other commands.
    pub(crate) fn run_builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Option<Output> {
        let rest = &args[1..];
        let builtin = Builtin::named(name)?;
        Some(match builtin {
            Builtin::Declare(declaration) => self.declare(declaration, args, whole),
            Builtin::Null | Builtin::TrueOrFalse => Some(String::new()),
            Builtin::Exit | Builtin::Shift => {
                let numbers = rest.iter().filter(|arg| arg.text != "--");
                numbers.for_each(|count| self.evaluate_expression(count));
                // `break` outside of a loop may end the loop of the caller, and the function.
                if builtin == Builtin::Exit
                    && let Some(returns) = &mut self.shell.early_returns
                {
                    returns.push(self.shell.environment.clone());
                }
                if builtin == Builtin::Shift {
                    self.shell.shift_positional(match rest {
                        [] => Some(1),
                        [count] if !count.has_guessed_number => count.text.parse::<usize>().ok(),
                        _ => None,
                    });
                }
                None
            }
            Builtin::Wait => self.run_wait(rest),
            Builtin::Eval => self.run_eval(rest, whole, input),
            Builtin::Source => self.run_source(rest, input),
            Builtin::Exec | Builtin::Command | Builtin::DirectCall | Builtin::Nohup => {
                self.run_wrapped_command((builtin, name), rest, whole, input)
            }
            Builtin::Trap => self.run_trap(args)?,
            Builtin::Emulate => self.run_emulate(rest),
            Builtin::Alias => self.run_alias_builtin(rest),
            Builtin::Unset => self.run_unset(rest),
            Builtin::Read | Builtin::ReadLines => {
                self.read_variables(builtin, args, whole, input)?
            }
            Builtin::Set => self.run_set(rest),
            Builtin::SetOptions => {
                rest.iter().for_each(|name| self.check_shell_option(name));
                return None;
            }
            Builtin::Enable => self.run_enable(rest, whole),
            Builtin::PrecommandModifier | Builtin::Time | Builtin::Repeat | Builtin::ByTable => {
                return None;
            }
        })
    }

    /// Runs `wait`.
    fn run_wait(&mut self, rest: &[Arg]) -> Output {
        for (at, arg) in rest.iter().enumerate() {
            self.run_subscript(arg);
            if arg.text.starts_with('-')
                && arg.text.ends_with('p')
                && let Some(name) = rest.get(at + 1)
            {
                // The process id is a number.
                self.fill_variable(name, &Arg::new("1", arg.span));
            }
        }
        Some(String::new())
    }

    /// Runs `eval`: its words are one text.
    fn run_eval(&mut self, rest: &[Arg], whole: Span, input: &Input) -> Output {
        let ends = rest.first().is_some_and(|first| first.text == "--");
        let rest = &rest[usize::from(ends)..];
        let text = rest
            .iter()
            .map(|arg| arg.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        if text.is_empty() {
            return Some(String::new());
        }
        let start = rest.first().map_or(whole.start, |arg| arg.span.start);
        let text = Arg {
            inert: rest.iter().all(|arg| arg.inert),
            has_guessed_number: rest.iter().any(|arg| arg.has_guessed_number),
            ..Arg::new(text, Span::new(start, whole.end))
        };
        self.run_shell_text(&text, input)
    }

    /// Runs `source`: a file that the text wrote, standard input, or an unknown file.
    fn run_source(&mut self, rest: &[Arg], input: &Input) -> Output {
        let file = rest.first()?;
        if matches!(
            file.text.as_str(),
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
        ) && let Input::Known(text) = input
        {
            return self.run_text(text, SpanMap::Fixed(file.span), &Input::Unknown);
        }
        self.sink.recorder.record_code_file(file);
        match self.shell.environment.files.get(&file.text).cloned() {
            Some(FileContents::Text(text)) => {
                self.run_text(&text, SpanMap::Fixed(file.span), input)
            }
            _ => {
                self.add_finding(
                    Effect::Code,
                    file.span,
                    format!("runs the file `{}`", display_text(file)),
                );
                None
            }
        }
    }

    /// Runs `trap`: the action is a text.
    fn run_trap(&mut self, args: &[Arg]) -> Option<Output> {
        let call = self.read_builtin(args)?;
        if call.has_option(&["-l", "-p", "-P"]) {
            return Some(None);
        }
        let operands: Vec<Arg> = call.operands.into_iter().map(|o| o.arg).collect();
        let Some(action) = operands.first() else {
            return Some(None);
        };
        if operands.len() > 1 && action.text != "-" {
            // The action may run at any time, or never, and in a function with other parameters.
            let before = self.shell.environment.clone();
            self.shell.environment.set_positional(None);
            self.shell.environment.sets_positional = false;
            self.run_shell_text(action, &Input::Inherited);
            let environment = &mut self.shell.environment;
            if environment.sets_positional {
                environment.traps_set_positional = true;
                environment.set_positional(None);
            } else {
                environment.positional.clone_from(&before.positional);
                environment.has_unknown_positional = before.has_unknown_positional;
            }
            environment.join(&before);
            let (action, environment) = (action.clone(), before);
            self.shell.traps.push(Trap {
                action,
                environment,
            });
        }
        self.shell.environment.stdio_redirected = true;
        Some(Some(String::new()))
    }

    /// Checks an option of the shell that is set or unset.
    pub(crate) fn check_shell_option(&mut self, name: &Arg) {
        let plain = name.text.to_lowercase().replace(['_', '-'], "");
        let positive = plain.strip_prefix("no").unwrap_or(&plain);
        let is_harmless = [plain.as_str(), positive]
            .iter()
            .any(|name| HARMLESS_OPTIONS.contains(name));
        if !name.is_known() || !is_harmless {
            self.add_finding(
                Effect::Code,
                name.span,
                format!(
                    "shells may read later text otherwise with the option `{}`",
                    display_text(name)
                ),
            );
        }
    }

    /// Runs `emulate`: the shell reads the text of `-c`, or later text, as another shell does.
    fn run_emulate(&mut self, rest: &[Arg]) -> Output {
        // In a cluster, the letter that takes the text is the last one.
        let text = rest
            .iter()
            .position(|arg| arg.text.starts_with('-') && arg.text.ends_with('c'))
            .and_then(|at| rest.get(at + 1));
        let shell = rest.iter().find(|arg| !arg.text.starts_with('-'));
        let is_read_alike = |shell: &&Arg| is_read_alike(&shell.text, text.is_some());
        if let Some(other) = shell.filter(|shell| !is_read_alike(shell)) {
            let reason = "the shell reads text as another shell does";
            self.add_finding(Effect::Code, other.span, reason);
        }
        if let Some(text) = text {
            let before = self.shell.environment.clone();
            self.run_shell_text(text, &Input::Unknown);
            // Other shells do not have this builtin.
            self.shell.environment.join(&before);
        }
        None
    }

    /// Runs `alias`.
    fn run_alias_builtin(&mut self, rest: &[Arg]) -> Output {
        let anywhere = |arg: &&Arg| arg.text.starts_with('-') && arg.text.contains(['g', 's']);
        if let Some(arg) = rest.iter().find(anywhere)
            && rest.iter().any(|arg| arg.text.contains('='))
        {
            self.add_finding(
                Effect::Code,
                arg.span,
                "an alias that also stands for words behind programs",
            );
        }
        for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
            if !arg.text.contains('=') && !arg.is_known() {
                let reason = "an alias that is only known when it runs";
                self.add_finding(Effect::Code, arg.span, reason);
            }
            if let Some((alias, value)) = arg.text.split_once('=') {
                let value = arg.with_text(value);
                let text = value.is_known().then(|| value.text.clone());
                self.shell
                    .environment
                    .aliases
                    .insert(alias.to_owned(), text);
                // An alias is as harmless as its value.
                self.run_shell_text(&value, &Input::Unknown);
            }
        }
        None
    }

    /// Runs `unset`.
    fn run_unset(&mut self, rest: &[Arg]) -> Output {
        for arg in rest {
            self.evaluate_variable_name(arg);
            if arg.text.contains('[') {
                self.check_variable(&arg.text, &Arg::unknown(arg.span));
            }
            // Without `PATH`, programs of the working directory run.
            if self
                .shell
                .environment
                .nameref_targets(&arg.text)
                .iter()
                .any(|n| n == "PATH")
            {
                self.check_variable("PATH", &arg.with_text(""));
            }
            self.shell.environment.set_unknown(&arg.text);
            self.shell.environment.associative_arrays.remove(&arg.text);
            self.shell.environment.functions.remove(&arg.text);
        }
        None
    }

    /// Runs `set`: options, positional parameters, or a list.
    fn run_set(&mut self, rest: &[Arg]) -> Output {
        if let [option, name, words @ ..] = rest
            && matches!(option.text.as_str(), "-A" | "+A")
        {
            self.set_array(name, words);
            return Some(String::new());
        }
        // `set -a` also exports variables that are set later.
        let exports = |arg: &Arg| {
            let letters = arg.text.strip_prefix('-').unwrap_or("");
            arg.text == "allexport" || !letters.starts_with('-') && letters.contains('a')
        };
        self.shell.environment.exports_all |=
            rest.iter().take_while(|arg| arg.text != "--").any(exports);
        let options = rest.iter().take_while(|arg| arg.text != "--");
        let names = options.zip(rest.iter().skip(1));
        let names = names.filter(|(option, _)| is_option_cluster(option, 'o'));
        for (_, name) in names.filter(|(_, name)| name.text != "keyword") {
            self.check_shell_option(name);
        }
        let keyword = |arg: &Arg| {
            arg.text == "keyword"
                || (arg.text.starts_with('-')
                    && !arg.text.starts_with("--")
                    && arg.text.contains('k'))
        };
        if let Some(arg) = rest
            .iter()
            .take_while(|arg| arg.text != "--")
            .find(|arg| keyword(arg))
        {
            self.add_finding(
                Effect::Code,
                arg.span,
                "makes assignments of words that follow programs",
            );
        }
        if let Some(at) = rest.iter().position(|arg| arg.text == "--") {
            let words = rest[at + 1..].to_vec();
            self.shell.environment.set_positional(Some(words));
            for arg in &rest[at + 1..] {
                self.shell.environment.options.note(&arg.text);
            }
            let paths = self.paths_of_arguments(&rest[at + 1..]);
            self.shell
                .environment
                .possible_paths
                .insert("@".to_owned(), paths);
        } else if rest.iter().any(|arg| !arg.text.starts_with(['-', '+'])) {
            self.shell.environment.set_positional(None);
            let paths = self.paths_of_arguments(rest);
            self.shell
                .environment
                .possible_paths
                .insert("@".to_owned(), paths);
        }
        Some(String::new())
    }

    /// Runs `enable`.
    fn run_enable(&mut self, rest: &[Arg], whole: Span) -> Output {
        if rest
            .iter()
            .any(|arg| !matches!(arg.text.as_str(), "-a" | "-p" | "-s" | "-ap" | "-as"))
        {
            self.add_finding(
                Effect::Code,
                whole,
                "changes which of the shell's commands there are",
            );
        }
        Some(String::new())
    }

    /// Runs `exec`, `command`, `builtin` or `nohup`: options, then a command.
    fn run_wrapped_command(
        &mut self,
        (builtin, name): (Builtin, &str),
        rest: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        let mut at = 0;
        while let Some(arg) = rest.get(at) {
            let text = arg.text.as_str();
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') {
                break;
            }
            match (builtin, text) {
                (Builtin::Command, "-v" | "-V" | "-pv" | "-pV" | "-vp") => return None,
                (Builtin::Command, "-p") | (Builtin::Exec, "-c" | "-l" | "-cl" | "-lc") => {}
                (Builtin::Exec, "-a" | "-ca" | "-la") => at += 1,
                (Builtin::Nohup, "--help" | "--version") => return None,
                _ => self.add_finding(
                    Effect::Unknown,
                    arg.span,
                    format!("unknown option `{text}` of `{name}`"),
                ),
            }
            at += 1;
        }
        if self.cursor.is_too_deep() {
            self.add_finding(Effect::Unknown, whole, TOO_MUCH);
            return None;
        }
        if builtin == Builtin::Nohup {
            self.add_finding(Effect::Create, whole, "`nohup` may write `nohup.out`");
        }
        if at >= rest.len() {
            // `exec > file` redirects the output of later commands.
            return None;
        }
        if matches!(builtin, Builtin::Command | Builtin::DirectCall) {
            // Functions and aliases are skipped.
            let args = &rest[at..];
            let text = args[0].text.clone();
            if !args[0].is_known() || args[0].glob {
                return self.run_args(args.to_vec(), input);
            }
            let skips_builtin = match builtin {
                Builtin::Command => Shells::COMMAND_SKIPS_BUILTINS,
                _ => Shells::WITHOUT_BUILTIN_CALL,
            };
            let skips_builtin = self.cursor.shells.intersects(skips_builtin);
            let may_not_run = skips_builtin && Builtin::named(&text).is_some();
            return self.run_or_not(may_not_run, |inner| {
                inner.cursor.depth += 1;
                let opened = inner.sink.recorder.record_words(args, input);
                let output = match inner.run_builtin(&text, args, whole, input) {
                    Some(output) => output,
                    None => inner.run_program_by_name(&text, args, whole, input),
                };
                if opened {
                    inner.sink.recorder.close_part();
                }
                inner.cursor.depth -= 1;
                output
            });
        }
        self.run_args(rest[at..].to_vec(), input)
    }
}
