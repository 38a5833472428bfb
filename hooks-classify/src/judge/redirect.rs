//! Redirections.

use super::Judge;
use super::names::DESCRIPTORS;
use crate::model::arg::{Arg, shown};
use crate::model::device::{device, kernel, nowhere};
use crate::model::effect::{Crud, Effect};
use crate::model::environment::Contents;
use crate::model::io::{Input, Output};
use crate::model::named::Named;
use crate::model::script::{Operator, Redirect};
use crate::model::span::Span;

/// What a command's redirections come to.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) input: Input,
    /// Files that are written.
    files: Vec<File>,
    /// Where what the command prints goes.
    pub(crate) printed: Printed,
    /// Whether one of them may fail: then the command does not run.
    may_fail: bool,
}

/// A file that is written.
#[derive(Debug)]
struct File {
    name: Arg,
    /// Whether it gets what the command prints, and nothing else.
    whole: bool,
}

/// How a command with redirections runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Whether it reads from a pipe.
    pub(crate) piped: bool,
    /// Whether it prints no errors.
    pub(crate) silent: bool,
    /// Whether it prints at most facts about what it reads.
    pub(crate) facts: bool,
}

/// Where what a command prints goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Printed {
    /// To who reads it.
    On,
    /// To a file, or nowhere: who reads it gets nothing.
    Away,
    /// Who reads it may get that, or something else.
    Unclear,
}

impl Sent {
    /// What comes out of a command that prints this.
    pub(crate) fn out(&self, output: Output) -> Output {
        match self.printed {
            _ if self.may_fail => None,
            Printed::On => output,
            // One of which it is not known what it prints may have ended the shell.
            Printed::Away => output.map(|_| String::new()),
            Printed::Unclear => None,
        }
    }
}

const INPUT: u32 = 0;
const OUTPUT: u32 = 1;

impl Judge<'_> {
    /// What the redirections do.
    pub(crate) fn redirects(&mut self, list: &[Redirect], input: &Input, how: How) -> Sent {
        let mut sent = Sent {
            input: input.clone(),
            files: Vec::new(),
            printed: Printed::On,
            may_fail: false,
        };
        // Another descriptor from which something may come to who reads.
        let mut leaks = false;
        for redirect in list {
            let noted = std::mem::take(&mut self.noted);
            let target = self.value(&redirect.target);
            let names = self.noted.clone();
            self.noted.extend(noted);
            let span = target.span;
            let (reads, prints) = (redirect.descriptor == INPUT, redirect.descriptor == OUTPUT);
            sent.may_fail |= match redirect.operator {
                Operator::Duplicate => !matches!(target.text.as_str(), "1" | "2"),
                Operator::Read => target.text != "/dev/null",
                Operator::Write | Operator::Append => target.text != "/dev/null",
                Operator::ReadWrite => true,
                Operator::HereDocument | Operator::HereString => false,
            };
            match redirect.operator {
                Operator::Duplicate if reads => {
                    self.names_held(DESCRIPTORS);
                    sent.input = Input::Unknown;
                }
                Operator::Duplicate if prints => {
                    if target.text != "1" {
                        sent.printed = Printed::Unclear;
                    }
                }
                Operator::Duplicate => {
                    let apart = target.known() && !target.text.starts_with('1');
                    leaks |= match sent.printed {
                        Printed::On => !apart && !how.silent,
                        Printed::Away => false,
                        Printed::Unclear => !apart,
                    };
                }
                Operator::HereDocument | Operator::HereString => {
                    self.parts.document(&target);
                    for word in target.path().split_whitespace().take(64) {
                        self.name(&Arg::new(word, target.span));
                    }
                    if !reads {
                        continue;
                    }
                    if !how.facts {
                        self.prints_variables(std::slice::from_ref(&redirect.target));
                    }
                    sent.input = if target.known() && !target.guess {
                        Input::Known(target.text)
                    } else {
                        Input::Unknown
                    };
                }
                Operator::Read => {
                    if !(reads && how.facts) {
                        self.with_names(names, |judge| judge.input_file(&target));
                    }
                    if target.text != "/dev/null" {
                        self.parts.redirection(&target, Crud::Read);
                    }
                    if prints {
                        sent.printed = Printed::Unclear;
                    }
                    if !reads {
                        continue;
                    }
                    sent.input = match self.environment.files.get(&target.text) {
                        Some(Contents::Text(text)) => Input::Known(text.clone()),
                        _ if target.text == "/dev/null" => Input::Known(String::new()),
                        _ => Input::Unknown,
                    };
                }
                Operator::ReadWrite => {
                    self.network(&target);
                    if !nowhere(&target.text) {
                        self.parts.redirection(&target, Crud::Update);
                        self.find(
                            Effect::Update,
                            span,
                            format!("opens `{}` for writing", shown(&target)),
                        );
                    }
                    if reads {
                        sent.input = Input::Unknown;
                    }
                }
                Operator::Write | Operator::Append => {
                    // What the system names its own files may be where it comes from.
                    let system =
                        target.text.starts_with("/dev/") || target.text.starts_with("/proc/");
                    let clear =
                        target.known() && !target.glob && (!system || target.text == "/dev/null");
                    if prints {
                        sent.printed = if clear {
                            Printed::Away
                        } else {
                            Printed::Unclear
                        };
                    } else {
                        leaks |= !clear;
                    }
                    self.network(&target);
                    if nowhere(&target.text) && target.text != "-" {
                        continue;
                    }
                    let effect = match redirect.operator {
                        Operator::Append => Crud::Update,
                        _ => Crud::Create,
                    };
                    self.parts.redirection(&target, effect);
                    if device(&target.text) {
                        self.find(
                            Effect::Delete,
                            span,
                            format!("overwrites the device `{}`", target.text),
                        );
                    } else if redirect.operator == Operator::Append {
                        self.find(
                            Effect::Update,
                            span,
                            format!("appends to `{}`", shown(&target)),
                        );
                    } else {
                        sent.files.push(File {
                            name: target,
                            whole: prints,
                        });
                    }
                }
            }
        }
        // Some shells read from all of several sources, a pipe among them.
        let sources = list.iter().filter(|one| one.descriptor == INPUT).count();
        let several = sources + usize::from(how.piped) > 1;
        if several && sources > 0 || self.environment.moved && sources == 0 {
            sent.input = Input::Unknown;
        }
        if list.iter().filter(|one| one.descriptor == OUTPUT).count() > 1 {
            sent.files.iter_mut().for_each(|file| file.whole = false);
        }
        if leaks || (self.environment.moved && sent.printed == Printed::On) {
            sent.printed = Printed::Unclear;
        }
        sent
    }

    fn network(&mut self, target: &Arg) {
        if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
            self.find(
                Effect::Code,
                target.span,
                "opens a connection to the network",
            );
        }
    }

    /// Notes a file that is read.
    pub(crate) fn input_file(&mut self, file: &Arg) {
        self.reads(file, false);
    }

    /// Notes a file that is read, or with `below` a folder with all that lies in it.
    pub(crate) fn reads(&mut self, file: &Arg, below: bool) {
        if file.text.starts_with("/dev/tcp/") || file.text.starts_with("/dev/udp/") {
            self.ask(file.span, "opens a connection to the network");
        }
        let path = file.path().to_owned();
        self.parts.reads(file, &path, below);
        let tables = self.tables;
        let secret = self.places(&path).any(|path| tables.secret_within(&path));
        let private = |path: String| match below {
            true => tables.reads_secrets_below(&path),
            false => tables.may_be_private(&path),
        };
        if secret {
            let reason = format!("reads `{}`, which holds secrets", shown(file));
            self.ask(file.span, reason);
        } else if self.places(&path).any(private) {
            let reason = format!("reads files in `{}` that may be secrets", shown(file));
            self.ask(file.span, reason);
        }
        if !path.contains(crate::model::arg::UNKNOWN) {
            return;
        }
        let handed = self.handed.clone();
        if let Some(Named { path, .. }) = handed.iter().find(|named| named.secret) {
            let path = path.replace(crate::model::arg::UNKNOWN, "…");
            let reason = format!("may read `{path}`, which holds secrets");
            self.ask(file.span, reason);
        }
        for Named { path, .. } in &handed {
            let named = Arg::new(path.clone(), file.span);
            self.parts.reads(&named, path, true);
        }
    }

    /// Notes the files that a command should read and that the shell empties
    /// before.
    pub(crate) fn emptied(&mut self, sent: &Sent, args: &[Arg]) {
        for file in sent.files.iter().map(|file| &file.name) {
            let read = |arg: &Arg| arg.text == file.text && file.text.contains(['.', '/']);
            if file.known() && args.iter().skip(1).any(read) {
                self.find(
                    Effect::Delete,
                    file.span,
                    format!("empties `{}` before it is read", shown(file)),
                );
            }
        }
    }

    /// Notes the files that a command wrote, once what it prints is known.
    pub(crate) fn written(&mut self, sent: &Sent, output: Option<&str>, _: Span, program: &str) {
        for File { name: file, whole } in &sent.files {
            let output = output.filter(|_| *whole);
            if output == Some("") {
                self.find(
                    Effect::Delete,
                    file.span,
                    format!("empties `{}`", shown(file)),
                );
            } else {
                let effect = if kernel(&file.text) {
                    Effect::Update
                } else {
                    Effect::Create
                };
                self.find(effect, file.span, format!("writes `{}`", shown(file)));
            }
            let contents = match output {
                Some(text) if !program.is_empty() || !text.is_empty() => {
                    Contents::Text(text.to_owned())
                }
                _ => Contents::Unknown,
            };
            if file.known() {
                self.environment.files.insert(file.text.clone(), contents);
            }
        }
    }
}
