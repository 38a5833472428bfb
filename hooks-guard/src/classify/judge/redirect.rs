//! Redirections.

use super::environment::Contents;
use super::{Arg, Input, Judge};
use crate::classify::Crud;
use crate::classify::shell::{Operator, Redirect, Span};
use crate::classify::tables::Effect;

/// What a command's redirections come to.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) input: Input,
    /// Files that the output goes to.
    files: Vec<Arg>,
    append: bool,
    /// Whether nothing comes out on the standard output.
    pub(crate) away: bool,
}

/// Files that are none: what is written to them is gone or shown.
pub(crate) fn nowhere(path: &str) -> bool {
    matches!(
        path,
        "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/full" | "/dev/zero"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// Whether writing to a path destroys what is on a disk.
pub(crate) fn device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !nowhere(path)
        && !path.starts_with("/dev/shm/")
        && !path.starts_with("/dev/tcp/")
        && !path.starts_with("/dev/udp/")
}

/// Whether a path is a setting of the running system.
pub(crate) fn kernel(path: &str) -> bool {
    path.starts_with("/proc/") || path.starts_with("/sys/")
}

impl Judge<'_> {
    pub(crate) fn redirects(&mut self, list: &[Redirect], input: &Input) -> Sent {
        let mut sent = Sent {
            input: input.clone(),
            files: Vec::new(),
            append: false,
            away: false,
        };
        for redirect in list {
            let target = self.value(&redirect.target);
            let span = target.span;
            match redirect.operator {
                Operator::Duplicate => {
                    if !target.known() {
                        continue;
                    }
                }
                Operator::HereDocument | Operator::HereString => {
                    self.parts.document(&target);
                    sent.input = if target.known() {
                        Input::Known(target.text)
                    } else {
                        Input::Unknown
                    };
                }
                Operator::Read => {
                    self.input_file(&target);
                    if target.text != "/dev/null" {
                        self.parts.redirection(&target, Crud::Read);
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
                    sent.input = Input::Unknown;
                }
                Operator::Write | Operator::Append => {
                    sent.away = true;
                    self.network(&target);
                    if nowhere(&target.text) {
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
                        sent.append = true;
                    } else {
                        sent.files.push(target);
                    }
                }
            }
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
        if file.text.starts_with("/dev/tcp/") || file.text.starts_with("/dev/udp/") {
            self.ask(file.span, "opens a connection to the network");
        }
        let here = |path: &str| {
            self.environment.folders.iter().any(|folder| {
                !path.starts_with(['/', '~'])
                    && self.tables.secret_within(&format!("{folder}/{path}"))
            })
        };
        if self.tables.secret_within(&file.text) || here(&file.text) {
            self.ask(
                file.span,
                format!("reads `{}`, which holds secrets", shown(file)),
            );
        } else if let Some(handed) = &self.handed
            && !file.known()
        {
            let reason = format!("may read `{handed}`, which holds secrets");
            self.ask(file.span, reason);
        }
    }

    /// Notes a file or folder of which only the name is looked at.
    pub(crate) fn listed(&mut self, file: &Arg) {
        if self.tables.secret(&file.text) {
            self.ask(
                file.span,
                format!("looks at `{}`, which holds secrets", shown(file)),
            );
        }
    }

    /// Runs what gets the names that came before it in a pipeline, or that a loop goes through.
    pub(crate) fn with_names<T>(
        &mut self,
        names: Option<String>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let Some(names) = names else { return run(self) };
        let outer = self.handed.replace(names);
        let output = run(self);
        self.handed = outer;
        output
    }

    /// Notes the files that a command should read and that the shell empties
    /// before.
    pub(crate) fn emptied(&mut self, sent: &Sent, args: &[Arg]) {
        for file in &sent.files {
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
        for file in &sent.files {
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

/// A word for people: what is not known as `…`.
pub(crate) fn shown(arg: &Arg) -> String {
    arg.text.replace(super::UNKNOWN, "…")
}
