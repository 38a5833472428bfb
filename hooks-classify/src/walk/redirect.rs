//! Redirections: the redirections of a command in; its input, the files that it writes and the
//! destination of its standard output out.

use super::interpreter::Interpreter;
use super::paths::DESCRIPTORS;
use crate::model::arg::{Arg, display_text};
use crate::model::device::{is_device, is_kernel_setting, is_unstored_output};
use crate::model::effect::{Crud, Effect};
use crate::model::environment::FileContents;
use crate::model::io::{Input, Output};
use crate::model::possible_path::PossiblePath;
use crate::model::script::{Redirect, RedirectOperator};

/// Effect of the redirections of a command.
#[derive(Debug)]
pub(crate) struct RedirectPlan {
    pub(crate) input: Input,
    /// Files that the command writes.
    files: Vec<WrittenFile>,
    /// Destination of standard output.
    pub(crate) stdout: Stdout,
    /// `true` if a redirection may fail, so that the command does not run.
    may_fail: bool,
}

/// File that a command writes.
#[derive(Debug)]
struct WrittenFile {
    name: Arg,
    /// `true` if the file gets standard output and nothing else.
    is_only_stdout: bool,
}

/// Command whose redirections are set up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RedirectContext {
    /// `true` if the command reads from a pipe.
    pub(crate) piped: bool,
    /// `true` if the command prints no errors.
    pub(crate) prints_no_errors: bool,
    /// `true` if the command prints only metadata of its input, such as the number of lines.
    pub(crate) metadata_only: bool,
}

/// Destination of standard output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stdout {
    /// The reader of the command: a pipe, a substitution, the terminal.
    Passed,
    /// A file, or nowhere: the reader gets nothing.
    Redirected,
    /// The reader may get the output or something else.
    Unknown,
}

impl RedirectPlan {
    /// Returns the text that the reader of a command with this output gets.
    pub(crate) fn output(&self, output: Output) -> Output {
        match self.stdout {
            _ if self.may_fail => None,
            Stdout::Passed => output,
            // A command with unknown output may have exited the shell, so the output stays unknown.
            Stdout::Redirected => output.map(|_| String::new()),
            Stdout::Unknown => None,
        }
    }
}

const STDIN: u32 = 0;
const STDOUT: u32 = 1;

impl Interpreter<'_> {
    /// Sets up redirections.
    pub(crate) fn set_up_redirects(
        &mut self,
        list: &[Redirect],
        input: &Input,
        context: RedirectContext,
    ) -> RedirectPlan {
        let mut plan = RedirectPlan {
            input: input.clone(),
            files: Vec::new(),
            stdout: Stdout::Passed,
            may_fail: false,
        };
        // `true` if output of another descriptor may reach the reader.
        let mut leaks = false;
        for redirect in list {
            let outer_paths = std::mem::take(&mut self.shell.paths_in_pipeline);
            let mut target = self.expand_unsplit(&redirect.target);
            if target.overridden.is_some() {
                if redirect.operator == RedirectOperator::Read {
                    self.record_file_read(&target);
                }
                target = target.with_replaced_defaults();
            }
            let paths = self.shell.paths_in_pipeline.clone();
            self.shell.paths_in_pipeline.extend(outer_paths);
            let span = target.span;
            let (redirects_stdin, redirects_stdout) =
                (redirect.descriptor == STDIN, redirect.descriptor == STDOUT);
            plan.may_fail |= match redirect.operator {
                RedirectOperator::Duplicate => !matches!(target.text.as_str(), "1" | "2"),
                RedirectOperator::Read => target.text != "/dev/null",
                RedirectOperator::Write | RedirectOperator::Append => target.text != "/dev/null",
                RedirectOperator::ReadWrite => true,
                RedirectOperator::HereDocument | RedirectOperator::HereString => false,
            };
            match redirect.operator {
                RedirectOperator::Duplicate if redirects_stdin => {
                    self.shell.add_pipeline_paths_of(DESCRIPTORS);
                    plan.input = Input::Unknown;
                }
                RedirectOperator::Duplicate if redirects_stdout => {
                    if target.text != "1" {
                        plan.stdout = Stdout::Unknown;
                    }
                }
                RedirectOperator::Duplicate => {
                    let avoids_stdout = target.is_known() && !target.text.starts_with('1');
                    leaks |= match plan.stdout {
                        Stdout::Passed => !avoids_stdout && !context.prints_no_errors,
                        Stdout::Redirected => false,
                        Stdout::Unknown => !avoids_stdout,
                    };
                }
                RedirectOperator::HereDocument | RedirectOperator::HereString => {
                    self.sink.recorder.record_here_document(&target);
                    self.shell.environment.options.note(&target.text);
                    for word in target.path().split_whitespace().take(64) {
                        self.add_printed_path(&Arg::new(word, target.span));
                    }
                    if !redirects_stdin {
                        continue;
                    }
                    if !context.metadata_only {
                        self.check_printed_variables(std::slice::from_ref(&redirect.target));
                    }
                    plan.input = if target.is_known() && !target.has_guessed_number {
                        Input::Known(target.text)
                    } else {
                        Input::Unknown
                    };
                }
                RedirectOperator::Read => {
                    if !(redirects_stdin && context.metadata_only) {
                        self.with_paths(paths, |interpreter| {
                            interpreter.record_file_read(&target);
                            // Zsh reads each file of `< {a,b}`.
                            if redirect.target.has_unquoted_brace() {
                                for file in interpreter.expand(&redirect.target) {
                                    interpreter.record_file_read(&file);
                                }
                            }
                        });
                    }
                    if target.text != "/dev/null" {
                        self.sink.recorder.record_redirection(&target, Crud::Read);
                    }
                    if redirects_stdout {
                        plan.stdout = Stdout::Unknown;
                    }
                    if !redirects_stdin {
                        continue;
                    }
                    plan.input = match self.shell.environment.files.get(&target.text) {
                        Some(FileContents::Text(text)) => Input::Known(text.clone()),
                        _ if target.text == "/dev/null" => Input::Known(String::new()),
                        _ => Input::Unknown,
                    };
                }
                RedirectOperator::ReadWrite => {
                    self.check_network_path(&target);
                    if !is_unstored_output(&target.text) {
                        self.sink.recorder.record_redirection(&target, Crud::Update);
                        self.add_redirection_finding(
                            Effect::Update,
                            span,
                            format!("opens `{}` for writing", display_text(&target)),
                        );
                    }
                    if redirects_stdin {
                        plan.input = Input::Unknown;
                    }
                }
                RedirectOperator::Write | RedirectOperator::Append => {
                    // `/dev/fd/1` and `/proc/self/fd/1` may be the pipe itself.
                    let is_special_path =
                        target.text.starts_with("/dev/") || target.text.starts_with("/proc/");
                    let is_certain_file = target.is_known()
                        && !target.glob
                        && (!is_special_path || target.text == "/dev/null");
                    if redirects_stdout {
                        plan.stdout = if is_certain_file {
                            Stdout::Redirected
                        } else {
                            Stdout::Unknown
                        };
                    } else {
                        leaks |= !is_certain_file;
                    }
                    self.check_network_path(&target);
                    if is_unstored_output(&target.text) && target.text != "-" {
                        continue;
                    }
                    let effect = match redirect.operator {
                        RedirectOperator::Append => Crud::Update,
                        _ => Crud::Create,
                    };
                    self.sink.recorder.record_redirection(&target, effect);
                    if is_device(&target.text) {
                        self.add_finding(
                            Effect::Delete,
                            span,
                            format!("overwrites the device `{}`", target.text),
                        );
                    } else if redirect.operator == RedirectOperator::Append {
                        self.add_redirection_finding(
                            Effect::Update,
                            span,
                            format!("appends to `{}`", display_text(&target)),
                        );
                    } else {
                        plan.files.push(WrittenFile {
                            name: target,
                            is_only_stdout: redirects_stdout,
                        });
                    }
                }
            }
        }
        // Some shells read from all of several sources, including the pipe.
        let sources = list.iter().filter(|one| one.descriptor == STDIN).count();
        let has_several_sources = sources + usize::from(context.piped) > 1;
        if has_several_sources && sources > 0
            || self.shell.environment.stdio_redirected && sources == 0
        {
            plan.input = Input::Unknown;
        }
        if list.iter().filter(|one| one.descriptor == STDOUT).count() > 1 {
            plan.files
                .iter_mut()
                .for_each(|file| file.is_only_stdout = false);
        }
        if leaks || (self.shell.environment.stdio_redirected && plan.stdout == Stdout::Passed) {
            plan.stdout = Stdout::Unknown;
        }
        plan
    }

    fn check_network_path(&mut self, target: &Arg) {
        if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
            self.add_finding(
                Effect::Code,
                target.span,
                "opens a connection to the network",
            );
        }
    }

    /// Records a file that is read.
    pub(crate) fn record_file_read(&mut self, file: &Arg) {
        self.record_read(file, false);
    }

    /// Records a file that is read, or with `below` a folder with everything below it.
    pub(crate) fn record_read(&mut self, file: &Arg, recursive: bool) {
        if file.text.starts_with("/dev/tcp/") || file.text.starts_with("/dev/udp/") {
            self.require_confirmation(file.span, "opens a connection to the network");
        }
        let path = file.path().to_owned();
        self.sink.recorder.record_read(file, &path, recursive);
        let tables = self.tables;
        let secret = self
            .shell
            .environment
            .candidate_paths(&path)
            .any(|path| tables.may_read_secrets(&path));
        let private = |path: String| match recursive {
            true => tables.may_read_secrets_below(&path),
            false => tables.may_be_private_file(&path),
        };
        if secret {
            let reason = format!("reads `{}`, which holds secrets", display_text(file));
            self.require_confirmation(file.span, reason);
        } else if self.shell.environment.candidate_paths(&path).any(private) {
            let reason = format!(
                "reads files in `{}` that may be secrets",
                display_text(file)
            );
            self.require_confirmation(file.span, reason);
        }
        if !path.contains(crate::model::arg::UNKNOWN) {
            return;
        }
        let possible_paths = self.shell.paths_of_unknown_words.clone();
        if let Some(PossiblePath { path, .. }) = possible_paths.iter().find(|named| named.secret) {
            let path = path.replace(crate::model::arg::UNKNOWN, "…");
            let reason = format!("may read `{path}`, which holds secrets");
            self.require_confirmation(file.span, reason);
        }
        for PossiblePath { path, .. } in &possible_paths {
            let named = Arg::new(path.clone(), file.span);
            self.sink.recorder.record_read(&named, path, true);
        }
    }

    /// Records files that the shell empties before the command reads them.
    pub(crate) fn check_emptied_files(&mut self, plan: &RedirectPlan, args: &[Arg]) {
        for file in plan.files.iter().map(|file| &file.name) {
            let read = |arg: &Arg| arg.text == file.text && file.text.contains(['.', '/']);
            if file.is_known() && args.iter().skip(1).any(read) {
                self.add_finding(
                    Effect::Delete,
                    file.span,
                    format!("empties `{}` before it is read", display_text(file)),
                );
            }
        }
    }

    /// Records the files that a command wrote, after the command has run.
    pub(crate) fn record_written_files(
        &mut self,
        plan: &RedirectPlan,
        output: Option<&str>,
        program: &str,
    ) {
        for WrittenFile {
            name: file,
            is_only_stdout,
        } in &plan.files
        {
            let output = output.filter(|_| *is_only_stdout);
            if output == Some("") {
                self.add_redirection_finding(
                    Effect::Delete,
                    file.span,
                    format!("empties `{}`", display_text(file)),
                );
            } else {
                let effect = if is_kernel_setting(&file.text) {
                    Effect::Update
                } else {
                    Effect::Create
                };
                self.add_redirection_finding(
                    effect,
                    file.span,
                    format!("writes `{}`", display_text(file)),
                );
            }
            let contents = match output {
                Some(text) if !program.is_empty() || !text.is_empty() => {
                    FileContents::Text(text.to_owned())
                }
                _ => FileContents::Unknown,
            };
            if file.is_known() {
                self.shell
                    .environment
                    .files
                    .insert(file.text.clone(), contents);
            }
        }
    }
}
