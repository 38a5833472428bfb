//! Simple commands: assignments, words and redirections in, effects and output out.

use super::interpreter::Interpreter;
use super::paths::DESCRIPTORS;
use super::redirect::{RedirectContext, Stdout};
use super::script::may_fail;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::{Input, Output, OutputKind};
use crate::model::possible_path::PossiblePath;
use crate::model::program_name::without_system_folder;
use crate::model::script::{ParameterOperator, Redirect, ShellWord, WordPiece};
use crate::model::span::Span;
use crate::model::value::{Value, is_numeric};
use crate::model::variable_name::{base_name, is_numeric_parameter};
use crate::options::call::Call;
use crate::programs::builtins::Builtin;
use crate::programs::file_roles::prints_only_metadata;
use crate::programs::output_kind::{
    has_known_output, output_kind, prints_only_words, reads_no_files,
};

impl Interpreter<'_> {
    pub(crate) fn run_simple_command(
        &mut self,
        assigns: &[ShellWord],
        words: &[ShellWord],
        redirects: &[Redirect],
        span: Span,
        (input, piped): (&Input, bool),
    ) -> Output {
        self.sink.recorder.open_part(span);
        let assignments = self.expand_assignments(assigns);
        let outer_paths = std::mem::take(&mut self.shell.paths_in_pipeline);
        // Substitutions in its words read its input.
        let input_paths = if piped {
            outer_paths.clone()
        } else {
            Vec::new()
        };
        let args = self.with_paths(input_paths, |interpreter| {
            interpreter.expand_command_words(words)
        });
        // The output of a substitution may be names of files.
        let mut paths = self.shell.paths_in_pipeline.clone();
        self.shell.paths_in_pipeline.extend(outer_paths);
        self.run_words_after_both_redirect(words, redirects);
        self.run_words_after_brace(words);
        let prints_no_errors = args
            .first()
            .is_some_and(|name| self.prints_only_words(&name.text));
        // Substitutions in its words may read the input first.
        let may_read_input = |word: &ShellWord| !word.pieces.iter().all(runs_nothing);
        let remaining_input = match input {
            Input::Known(_) if assigns.iter().chain(words).any(may_read_input) => &Input::Unknown,
            input => input,
        };
        let context = RedirectContext {
            piped,
            prints_no_errors,
            metadata_only: self.prints_only_metadata(&args),
        };
        let mut plan = self.set_up_redirects(redirects, remaining_input, context);
        if !redirects.is_empty() && redirects_shell(&args) {
            self.shell.environment.stdio_redirected = true;
            // `exec 3< <(find …)`: later readers of the descriptor get these names.
            if redirects.iter().any(Redirect::opens_for_reading) {
                let paths = self.paths_in_input(&Input::Unknown);
                self.shell.add_variable_paths(DESCRIPTORS, &paths);
            }
        }
        // A builtin does not run, and nothing is assigned, after a redirection that fails.
        let in_shell = args.first().is_none_or(|name| {
            Builtin::named(&name.text).is_some()
                || self.shell.environment.functions.contains_key(&name.text)
        });
        let may_not_run = in_shell && redirects.iter().any(may_fail);
        let without = may_not_run.then(|| self.shell.environment.clone());
        let Some(name) = args.first() else {
            for (name, value) in assignments {
                self.check_variable(&name, &value);
                self.set_variable(&name, &value);
            }
            if let Some(without) = &without {
                self.shell.environment.join(without);
            }
            // `$(< file)` has the contents of the file.
            if redirects.iter().any(Redirect::opens_for_reading) {
                self.shell.output_kind = OutputKind::Anything;
            }
            self.record_written_files(&plan, Some(""), "");
            self.sink.recorder.close_part();
            // An assignment that the shell rejects may exit it.
            return None;
        };
        let program = name.text.clone();
        let lookup = program.rsplit('/').next().unwrap_or(&program).to_owned();
        for (name, value) in &assignments {
            self.check_variable(name, value);
        }
        if !reads_no_files(&lookup) {
            self.check_emptied_files(&plan, &args);
        }
        if plan.stdout != Stdout::Redirected && args.iter().any(|arg| self.prints_words(&arg.text))
        {
            self.check_printed_variables(words);
        }
        self.sink.recorder.expect_words();
        // Other commands may print less than their words, or exit the shell.
        let has_predictable_output =
            has_known_output(&program) || self.shell.environment.functions.contains_key(&program);
        let piped = match redirects.iter().any(Redirect::redirects_stdin) {
            true => OutputKind::Anything,
            false => self.shell.piped_output_kind,
        };
        let kind = output_kind(&args, &self.shell.environment, piped);
        // `$_` is a word of the previous command.
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let uses_last_argument = words
            .iter()
            .chain(targets)
            .flat_map(|word| &word.pieces)
            .any(is_last_argument);
        paths.extend(
            self.shell
                .last_secret_path
                .clone()
                .filter(|_| uses_last_argument),
        );
        let secret = |arg: &&Arg| self.tables.may_read_secrets(arg.path());
        let last_secret = args.iter().skip(1).find(secret).map(|arg| PossiblePath {
            path: arg.path().to_owned(),
            secret: true,
        });
        let is_output_certain =
            has_predictable_output && assignments.is_empty() && words.iter().all(always_expands);
        let keeps_variables = Builtin::named(&program).is_some_and(Builtin::keeps_variables)
            || self.shell.environment.functions.contains_key(&program);
        let output = self.with_captured_stdout(plan.stdout == Stdout::Redirected, |interpreter| {
            interpreter.with_variables(&assignments, keeps_variables, |interpreter| {
                interpreter.with_paths(paths, |interpreter| {
                    let matched = interpreter.matched_names(&args);
                    let output = interpreter.run_args(args, &plan.input.clone());
                    interpreter.run_matched_names(matched, &plan.input);
                    output
                })
            })
        });
        if let Some(without) = &without {
            self.shell.environment.join(without);
        }
        self.shell.last_secret_path = last_secret;
        self.rerun_process_substitutions(words, redirects);
        self.record_written_files(&plan, output.as_deref(), &program);
        self.sink.recorder.close_part();
        if words
            .iter()
            .flat_map(|word| &word.pieces)
            .any(is_process_substitution)
        {
            // A process substitution may print its input.
            plan.stdout = Stdout::Unknown;
        }
        let output = output.filter(|_| is_output_certain);
        self.shell.output_kind = self
            .shell
            .output_kind
            .followed_by(match (&output, plan.stdout) {
                (_, Stdout::Redirected) => OutputKind::Numbers,
                (_, Stdout::Unknown) => OutputKind::Anything,
                (Some(text), _) if is_numeric(text) => OutputKind::Numbers,
                (Some(_), _) => OutputKind::Anything,
                (None, _) => kind,
            });
        plan.output(output)
    }

    /// Expands the assignments of a command. A value may contain the variables before it: most
    /// shells set each of them at once, some expand all of them first.
    fn expand_assignments(&mut self, assigns: &[ShellWord]) -> Vec<(String, Arg)> {
        let mut set: Vec<(String, Arg)> = Vec::new();
        let mut outer: Vec<(String, Option<Value>)> = Vec::new();
        for assign in assigns {
            if let Some((name, value)) = set.last() {
                let base = base_name(name).trim_end_matches('+').to_owned();
                let variables = &self.shell.environment.variables;
                let before = variables.get(&base).cloned();
                let (name, value) = (name.clone(), value.clone());
                self.set_variable(&name, &value);
                let variables = &mut self.shell.environment.variables;
                let either = before.as_ref().unwrap_or(&Value::Inert);
                let either = either.join(variables.get(&base).unwrap_or(&Value::Inert));
                variables.insert(base.clone(), either);
                outer.push((base, before));
            }
            let outer_paths = std::mem::take(&mut self.shell.paths_in_pipeline);
            let assigned = self.expand_assignment_word(assign);
            let paths = std::mem::replace(&mut self.shell.paths_in_pipeline, outer_paths);
            if let Some((name, value)) = assigned {
                if !paths.is_empty() {
                    self.shell.add_variable_paths(base_name(&name.text), &paths);
                }
                self.sink.recorder.record_assignment(&name.text, &value);
                self.evaluate_element(&name);
                set.push((name.text, value));
            }
        }
        for (name, before) in outer.into_iter().rev() {
            let variables = &mut self.shell.environment.variables;
            match before {
                Some(value) => variables.insert(name, value),
                None => variables.remove(&name),
            };
        }
        set
    }

    /// Runs the words after a `&>`: some shells read `a &> f b` as `a &` and `> f b`.
    fn run_words_after_both_redirect(&mut self, words: &[ShellWord], redirects: &[Redirect]) {
        let Some(both) = redirects.iter().find(|redirect| redirect.includes_stderr) else {
            return;
        };
        let after = words.iter().filter(|word| word.span.start >= both.span.end);
        let rest: Vec<Arg> = after.flat_map(|word| self.expand(word)).collect();
        if !rest.is_empty() {
            self.run_args(rest, &Input::Unknown);
        }
    }

    /// Runs process substitutions once more, now that the names are known that the command prints:
    /// `tee >(xargs cat)`.
    fn rerun_process_substitutions(&mut self, words: &[ShellWord], redirects: &[Redirect]) {
        let paths: Vec<PossiblePath> = self
            .shell
            .paths_in_pipeline
            .iter()
            .filter(|named| named.secret)
            .cloned()
            .collect();
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let processes = words.iter().chain(targets);
        let processes = processes.filter(|word| word.pieces.iter().any(is_process_substitution));
        for word in processes.filter(|_| !paths.is_empty()) {
            self.with_paths(paths.clone(), |interpreter| {
                interpreter.expand_unsplit(word)
            });
        }
    }

    /// Runs the words after a `}`, which ends a group in some shells: `{ a } always { b; }`.
    fn run_words_after_brace(&mut self, words: &[ShellWord]) {
        let is_unquoted = |word: &ShellWord, text: &str| {
            matches!(
                word.pieces.as_slice(),
                [WordPiece::Text { text: piece, quoted: false }] if piece == text
            )
        };
        let Some(at) = words.iter().position(|word| is_unquoted(word, "}")) else {
            return;
        };
        let after_brace = words[at..].iter();
        let rest = after_brace.skip_while(|word| {
            is_unquoted(word, "}") || is_unquoted(word, "always") || is_unquoted(word, "{")
        });
        let rest: Vec<Arg> = rest.flat_map(|word| self.expand(word)).collect();
        if let Some(first) = rest.first() {
            let span = first.span;
            self.add_finding(Effect::Unknown, span, "some shells end a group before this");
            self.run_args(rest, &Input::Unknown);
        }
    }

    /// Returns `true` if a command prints only metadata of its input, such as the number of lines.
    fn prints_only_metadata(&self, args: &[Arg]) -> bool {
        let Some(name) = args.first() else {
            return false;
        };
        if self.shell.environment.functions.contains_key(&name.text)
            || self.shell.environment.aliases.contains_key(&name.text)
        {
            return false;
        }
        let program = self.tables.program(without_system_folder(&name.text));
        let call = program.map(|program| Call::read(&name.text, program, &args[1..]));
        call.is_some_and(|call| prints_only_metadata(&call))
    }

    /// Returns `true` if a word names a program that prints its words, or a part of them.
    fn prints_words(&self, word: &str) -> bool {
        let name = word.rsplit('/').next().unwrap_or("");
        !name.starts_with('-') && self.tables.prints_words(name)
    }

    /// Returns `true` if a command prints its words and nothing else.
    fn prints_only_words(&self, name: &str) -> bool {
        prints_only_words(name)
            && !self.shell.environment.functions.contains_key(name)
            && !self.shell.environment.aliases.contains_key(name)
    }
}

/// Returns `true` if no shell rejects a word: it has no arithmetic, and no pattern, which some
/// shells reject if it matches no file.
fn always_expands(word: &ShellWord) -> bool {
    word.pieces
        .iter()
        .enumerate()
        .all(|(at, piece)| match piece {
            WordPiece::Text { quoted: true, .. } => true,
            WordPiece::Text { text, .. } => {
                let pattern = text.contains(['*', '?', '[', '~', '^', '#', '(', '<']);
                !pattern && (at > 0 || !text.starts_with('='))
            }
            WordPiece::Variable { name, operator, .. } => {
                *operator == ParameterOperator::None && !is_numeric_parameter(name)
            }
            WordPiece::CommandSubstitution { .. } => true,
            WordPiece::ProcessSubstitution { .. } | WordPiece::Arithmetic { .. } => false,
        })
}

/// Returns `true` if the expansion of a piece runs nothing.
fn runs_nothing(piece: &WordPiece) -> bool {
    match piece {
        WordPiece::Text { .. } => true,
        WordPiece::Variable { operator, .. } => *operator == ParameterOperator::None,
        WordPiece::CommandSubstitution { .. }
        | WordPiece::ProcessSubstitution { .. }
        | WordPiece::Arithmetic { .. } => false,
    }
}

fn is_last_argument(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::Variable { name, .. } if name == "_")
}

fn is_process_substitution(piece: &WordPiece) -> bool {
    matches!(piece, WordPiece::ProcessSubstitution { .. })
}

/// Returns `true` if the redirections of a command without a program apply to the shell itself.
fn redirects_shell(args: &[Arg]) -> bool {
    let builtin = |arg: &Arg| Builtin::named(&arg.text);
    let word = |arg: &Arg| {
        matches!(
            builtin(arg),
            Some(Builtin::Exec | Builtin::Command | Builtin::DirectCall)
        ) || arg.text.starts_with('-')
    };
    args.iter().any(|arg| builtin(arg) == Some(Builtin::Exec)) && args.iter().all(word)
}
