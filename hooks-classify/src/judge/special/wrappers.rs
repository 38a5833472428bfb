//! Judges of programs that wrap other commands.

use super::{Outcome, args};
use crate::judge::redirect::shown;
use crate::judge::{Arg, Input, Judge, UNKNOWN};
use crate::shell::Span;
use crate::tables::{Call, Effect};

fn joined(words: &[Arg]) -> Option<Arg> {
    let (first, last) = (words.first()?, words.last()?);
    let text = words
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Some(Arg::new(text, Span::new(first.span.start, last.span.end)))
}

fn strange(judge: &mut Judge<'_>, call: &Call) {
    judge.verbs(call);
    judge.strange(call);
}

pub(super) fn watch(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.has(&["-x", "--exec"]) {
        strange(judge, call);
        let words = args(call);
        return Outcome::Done(if words.is_empty() {
            None
        } else {
            judge.run(words, &Input::Unknown)
        });
    }
    Outcome::Table
}

/// Assignments before the command; shells; edited files.
pub(super) fn sudo(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    strange(judge, call);
    judge.options(call, input);
    let mut words = args(call);
    if call.has(&["-e", "--edit"]) {
        judge.find(
            Effect::Update,
            whole,
            format!("`{}` edits files", call.path),
        );
        return Outcome::Done(None);
    }
    let facts = ["-l", "--list", "-V", "--version", "--help"];
    if call.has(&facts) && !call.has(&["-i", "-s", "--login", "--shell"]) {
        // With a command `-l` only says whether it is allowed.
        judge.find(
            Effect::Read,
            whole,
            format!("`{}` shows what is allowed", call.path),
        );
        return Outcome::Done(None);
    }
    let mut set = Vec::new();
    while let Some(first) = words.first()
        && let Some((name, value)) = first.text.split_once('=')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        let value = first.with(value);
        let name = name.to_owned();
        judge.sets(&name, &value);
        set.push((name, value));
        words.remove(0);
    }
    let shell = call.has(&["-i", "-s", "--login", "--shell"]);
    if words.is_empty() {
        let ends = call.has(&[
            "-k",
            "-K",
            "--reset-timestamp",
            "--remove-timestamp",
            "-v",
            "--validate",
        ]);
        let effect = if ends { Effect::Update } else { Effect::Code };
        judge.find(
            effect,
            whole,
            format!(
                "`{}` opens a shell or changes what is remembered",
                call.path
            ),
        );
        return Outcome::Done(None);
    }
    let text = joined(&words).filter(|_| shell);
    Outcome::Done(judge.with_variables(&set, false, |judge| match text {
        Some(text) => judge.shell_text(&text, input),
        None => judge.run(words, input),
    }))
}

/// `parallel COMMAND ::: WORDS`
pub(super) fn parallel(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    strange(judge, call);
    judge.options(call, &Input::Unknown);
    // It is run also where the command is not.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.contains("{=")) {
        judge.find(Effect::Code, arg.span, "what stands in `{= … =}` is Perl");
    }
    if call.has(&["--rpl"]) {
        judge.find(Effect::Code, whole, "the value of `--rpl` is Perl");
    }
    if call.has(&["--dry-run", "--dryrun", "--version", "--help", "-h", "-V"]) {
        judge.find(Effect::Read, whole, "`parallel` shows what it would run");
        return Outcome::Done(None);
    }
    let words = args(call);
    let marks = [":::", ":::+", "::::", "::::+"];
    let at = words
        .iter()
        .position(|arg| marks.contains(&arg.text.as_str()))
        .unwrap_or(words.len());
    let (command, rest) = words.split_at(at);
    let direct: Vec<&Arg> = match rest.first() {
        Some(mark) if mark.text == ":::" => rest[1..]
            .iter()
            .take_while(|arg| !marks.contains(&arg.text.as_str()))
            .collect(),
        _ => Vec::new(),
    };
    let single = rest
        .iter()
        .filter(|arg| marks.contains(&arg.text.as_str()))
        .count()
        == 1;
    let Some(text) = joined(command) else {
        if direct.is_empty() {
            judge.find(
                Effect::Code,
                whole,
                "`parallel` runs the lines that it reads",
            );
        }
        for word in direct {
            judge.shell_text(word, &Input::Unknown);
        }
        return Outcome::Done(None);
    };
    let values: Vec<String> = if single
        && !direct.is_empty()
        && direct.len() <= 8
        && direct.iter().all(|arg| arg.known() && !arg.glob)
    {
        direct.iter().map(|arg| arg.text.clone()).collect()
    } else {
        vec![UNKNOWN.to_string()]
    };
    let names = judge.names_in(input);
    for value in values {
        let mut line = text.text.clone();
        let mut placed = false;
        for mark in [
            "{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{1/}", "{1.}",
        ] {
            if line.contains(mark) {
                placed = true;
                line = line.replace(mark, &value);
            }
        }
        for mark in ["{#}", "{%}"] {
            line = line.replace(mark, "1");
        }
        if !placed {
            line = format!("{line} {value}");
        }
        if line.contains(UNKNOWN) && !line.starts_with(UNKNOWN) {
            // What is put in is quoted.
            let line = line.replace(UNKNOWN, "\"$_\"");
            let place = super::super::Place::Fixed(text.span);
            judge.with_names(names.clone(), |judge| {
                judge.text(&line, place, &Input::Unknown)
            });
        } else {
            judge.shell_text(&text.with(&line), &Input::Unknown);
        }
    }
    Outcome::Done(None)
}

pub(super) fn flock(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let words = args(call);
    let Some(file) = words.first() else {
        return Outcome::Table;
    };
    strange(judge, call);
    let number = file.text.chars().all(|c| c.is_ascii_digit());
    if number && words.len() == 1 {
        judge.find(Effect::Read, whole, "`flock` locks an open file");
        return Outcome::Done(None);
    }
    judge.find(
        Effect::Create,
        file.span,
        format!("`flock` creates `{}`", shown(file)),
    );
    let rest = &words[1..];
    match rest.first() {
        Some(flag) if flag.text == "-c" || flag.text == "--command" => {
            if let Some(text) = rest.get(1) {
                judge.shell_text(text, input);
            }
        }
        Some(_) => {
            judge.run(rest.to_vec(), input);
        }
        None => {}
    }
    Outcome::Done(None)
}

/// `tmux`: several commands, and formats that run shell text.
pub(super) fn tmux(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    for arg in &call.args {
        let copied = [
            "buffer_sample",
            "buffer_full",
            "copy_cursor",
            "selection_",
            "pane_search_string",
        ];
        if copied.iter().any(|name| arg.text.contains(name)) {
            judge.ask(arg.span, "`tmux` shows what was copied");
        }
        for (at, _) in arg.text.match_indices("#(") {
            let inner = arg.text[at + 2..].split(')').next().unwrap_or("");
            judge.shell_text(&arg.with(inner), &Input::Unknown);
        }
    }
    let end = call
        .args
        .iter()
        .position(|arg| arg.text == ";" || (arg.text.ends_with(';') && arg.text.len() > 1));
    if let Some(end) = end
        && let Some(program) = judge.tables.program("tmux")
    {
        let mut first = call.args[..end].to_vec();
        if call.args[end].text != ";" {
            first.push(call.args[end].with(call.args[end].text.trim_end_matches(';')));
        }
        let one = Call::read(&call.path, call.program, &first);
        judge.call(&one, whole, input);
        let rest = &call.args[end + 1..];
        if !rest.is_empty() {
            let two = Call::read("tmux", program, rest);
            judge.call(&two, whole, input);
        }
        return Outcome::Done(None);
    }
    Outcome::Table
}
