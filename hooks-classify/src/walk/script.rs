//! Scripts: lists and pipelines of commands in, their output out.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::redirect::{RedirectContext, Stdout};
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::OutputKind;
use crate::model::io::{Input, Output};
use crate::model::script::{
    AndOr, Command, CommandKind, Join, Pipeline, Redirect, RedirectOperator, ShellScript,
    ShellWord, WordPiece,
};
use crate::model::span::Span;

/// Returns the input of a command after a command that may have read a part of it.
pub(crate) fn stdin_after_reader(input: &Input) -> Input {
    match input {
        Input::Inherited => Input::Inherited,
        Input::Known(_) | Input::Unknown => Input::Unknown,
    }
}

impl Interpreter<'_> {
    pub(crate) fn run_shell_script(&mut self, script: &ShellScript, input: &Input) -> Output {
        let mut all = Some(String::new());
        let rest = stdin_after_reader(input);
        for (at, item) in script.items.iter().enumerate() {
            let input = if at == 0 { input } else { &rest };
            let before = item.background.then(|| self.shell.environment.clone());
            let may_not_run = self.shell.environment.may_have_ended;
            let output = self.run_or_not(may_not_run, |inner| inner.run_and_or(item, input));
            if let Some(before) = before {
                self.shell.exit_subshell(before);
            }
            all = all.zip(output).map(|(all, more)| all + &more);
        }
        all
    }

    fn run_and_or(&mut self, list: &AndOr, input: &Input) -> Output {
        let output = self.run_pipeline(&list.first, input);
        if list.rest.is_empty() {
            return output;
        }
        let after_first = self.shell.environment.clone();
        // The environments after each pipeline that may have been the last one to run.
        let mut possible_ends = Vec::new();
        let has_or = list.rest.iter().any(|(join, _)| *join == Join::Or);
        for (join, pipeline) in &list.rest {
            if has_or {
                possible_ends.push(self.shell.environment.clone());
            }
            let before = (*join == Join::Or).then(|| {
                for way in possible_ends.drain(..) {
                    self.shell.environment.join(&way);
                }
                possible_ends.push(self.shell.environment.clone());
                self.shell.environment.clone()
            });
            self.run_pipeline(pipeline, &stdin_after_reader(input));
            if let Some(before) = before {
                self.shell.environment.join(&before);
            }
        }
        // Pipelines after the first one may not have run.
        self.shell.environment.join(&after_first);
        None
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline, input: &Input) -> Output {
        let outer_paths = std::mem::take(&mut self.shell.paths_in_pipeline);
        let shells = self.cursor.shells;
        let may_run_elsewhere = pipeline
            .time
            .is_some_and(|time| shells.intersects(time.shells_without()));
        let run = |inner: &mut Self| inner.run_pipeline_commands(pipeline, input);
        let output = self.run_or_not(may_run_elsewhere, run);
        self.shell.paths_in_pipeline.extend(outer_paths);
        output
    }

    /// Runs a part. If `may_not_run`, some shells run nothing there: neither what it sets nor what it
    /// prints is known then.
    pub(super) fn run_or_not(
        &mut self,
        may_not_run: bool,
        run: impl FnOnce(&mut Self) -> Output,
    ) -> Output {
        if !may_not_run {
            return run(self);
        }
        let without = self.shell.environment.clone();
        let output = run(self);
        self.shell.environment.join(&without);
        output.filter(|text| text.is_empty())
    }

    fn run_pipeline_commands(&mut self, pipeline: &Pipeline, input: &Input) -> Output {
        let [command] = pipeline.commands.as_slice() else {
            let mut current = input.clone();
            let mut output = None;
            let before_all = (self.shell.output_kind, self.shell.piped_output_kind);
            let outer_source = self.sink.recorder.pipe_from(None);
            let mut start = self.sink.recorder.next_part();
            let outer_filters = std::mem::take(&mut self.shell.output_filters);
            let filters = self.words_of_filters(pipeline);
            for (at, command) in pipeline.commands.iter().enumerate() {
                let before = self.shell.environment.clone();
                let next = self.sink.recorder.next_part();
                self.sink
                    .recorder
                    .pipe_from((at > 0).then_some(start..next));
                start = next;
                if at > 0 {
                    self.shell.piped_output_kind = self.shell.output_kind;
                }
                self.shell.output_kind = OutputKind::Numbers;
                let after = &filters[at + 1..];
                self.shell.output_filters = after.iter().map_while(Clone::clone).collect();
                if after.iter().all(Option::is_some) {
                    self.shell.output_filters.extend_from_slice(&outer_filters);
                }
                output = self
                    .with_captured_stdout(at + 1 < pipeline.commands.len(), |interpreter| {
                        interpreter.run_pipeline_command(command, &current, at > 0)
                    });
                // With `lastpipe`, the last command runs in the shell itself.
                let after = self.shell.environment.clone();
                self.shell.exit_subshell(before);
                self.shell.environment.join(&after);
                // Some shells also write redirected output to the pipe.
                let plan = command.redirects.iter().any(Redirect::redirects_stdout);
                current = match &output {
                    Some(output) if !plan => Input::Known(output.clone()),
                    _ => Input::Unknown,
                };
            }
            self.shell.output_filters = outer_filters;
            self.sink.recorder.pipe_from(outer_source);
            self.shell.output_kind = self.shell.output_kind.followed_by(before_all.0);
            self.shell.piped_output_kind = before_all.1;
            return output;
        };
        self.run_command(command, input)
    }

    /// Returns the words of each command of a pipeline that may pass on lines of its input; `None` for
    /// a command that is not followed.
    fn words_of_filters(&self, pipeline: &Pipeline) -> Vec<Option<Rc<[Arg]>>> {
        match self.workspace.is_known() {
            true => (pipeline.commands.iter())
                .map(|one| self.words_of_filter(one))
                .collect(),
            false => vec![None; pipeline.commands.len()],
        }
    }

    fn words_of_filter(&self, command: &Command) -> Option<Rc<[Arg]>> {
        let CommandKind::Simple { assigns, words } = &command.kind else {
            return None;
        };
        if !assigns.is_empty() || command.redirects.iter().any(Redirect::redirects_stdin) {
            return None;
        }
        let arg = |word: &ShellWord| {
            let is_pattern = |piece: &WordPiece| {
                matches!(
                    piece,
                    WordPiece::Text { text, quoted: false }
                        if text.contains(['*', '?', '[', '{', '~', '!'])
                )
            };
            let glob = word.pieces.iter().any(is_pattern);
            Some(Arg {
                glob,
                ..Arg::new(word.literal()?, Span::default())
            })
        };
        let args: Rc<[Arg]> = words.iter().map(arg).collect::<Option<_>>()?;
        let name = args.first().filter(|name| !name.glob)?;
        let environment = &self.shell.environment;
        let is_replaced = environment.functions.contains_key(&name.text)
            || environment.aliases.contains_key(&name.text);
        (!is_replaced).then_some(args)
    }

    pub(crate) fn run_command(&mut self, command: &Command, input: &Input) -> Output {
        self.run_pipeline_command(command, input, false)
    }

    /// Runs a command of a pipeline.
    fn run_pipeline_command(&mut self, command: &Command, input: &Input, piped: bool) -> Output {
        self.cursor.count_command();
        let span = self.cursor.span_map.map(command.span);
        if self.cursor.has_too_many_commands() {
            self.add_finding(
                Effect::Unknown,
                span,
                "there are too many commands to follow",
            );
            return None;
        }
        if command.redirects.iter().any(Redirect::redirects_stdout)
            || self.shell.environment.stdio_redirected
        {
            self.shell.output_filters.clear();
        }
        if let CommandKind::Simple { assigns, words } = &command.kind {
            return self.run_simple_command(
                assigns,
                words,
                &command.redirects,
                span,
                (input, piped),
            );
        }
        self.cursor.depth += 1;
        self.sink.recorder.open_part(span);
        let silent = false;
        let plan = self.set_up_redirects(
            &command.redirects,
            input,
            RedirectContext {
                piped,
                prints_no_errors: silent,
                metadata_only: false,
            },
        );
        // Its input may be the names that the previous command printed.
        let has_input = piped || command.redirects.iter().any(Redirect::redirects_stdin);
        let mut paths = match has_input {
            true => self.paths_in_input(&plan.input),
            false => Vec::new(),
        };
        // `while read -u 3 f; do …; done 3< <(find …)`
        if command
            .redirects
            .iter()
            .any(|one| !one.redirects_stdin() && one.opens_for_reading())
        {
            paths.extend(self.paths_in_input(&Input::Unknown));
        }
        let may_not_run = command.redirects.iter().any(may_fail);
        let without = may_not_run.then(|| self.shell.environment.clone());
        let output = self.with_captured_stdout(plan.stdout == Stdout::Redirected, |interpreter| {
            interpreter.with_paths(paths, |interpreter| {
                interpreter.run_compound_command(&command.kind, &plan.input.clone(), span)
            })
        });
        if let Some(without) = &without {
            self.shell.environment.join(without);
        }
        self.record_written_files(&plan, output.as_deref(), "");
        self.sink.recorder.close_part();
        self.cursor.depth -= 1;
        plan.output(output)
    }
}

/// Returns `true` if a redirection may fail, and the command then does not run: that of a file, or of
/// a descriptor that may not be open.
pub(crate) fn may_fail(redirect: &Redirect) -> bool {
    let target = redirect.target.literal();
    match redirect.operator {
        RedirectOperator::HereDocument | RedirectOperator::HereString => false,
        RedirectOperator::Duplicate => !matches!(target.as_deref(), Some("0" | "1" | "2" | "-")),
        RedirectOperator::Read
        | RedirectOperator::Write
        | RedirectOperator::Append
        | RedirectOperator::ReadWrite => target.as_deref() != Some("/dev/null"),
    }
}
