//! Judges of programs that wrap other commands.

use super::effect::{note_option_effects, note_unrecognized, operand_words};
use super::roles::option_values;
use crate::model::analysis::{Analysis, Context, Names, OutputOf};
use crate::model::arg::{Arg, UNKNOWN, shown};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::tables::Call;

fn joined(words: &[Arg]) -> Option<Arg> {
    let (first, last) = (words.first()?, words.last()?);
    let text = words
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Some(Arg::new(text, Span::new(first.span.start, last.span.end)))
}

fn note_options(analysis: &mut Analysis, call: &Call) {
    note_option_effects(analysis, call);
    note_unrecognized(analysis, call);
}

pub(super) fn watch(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has(&["-x", "--exec"]) {
        note_options(&mut analysis, call);
        let words = operand_words(call);
        if words.is_empty() {
            return analysis.done();
        }
        let output = analysis.run(words, &Input::Unknown);
        return analysis.done_with(output);
    }
    analysis
}

/// Assignments before the command; shells; edited files.
pub(super) fn sudo(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_options(&mut analysis, call);
    option_values(&mut analysis, context, call, input);
    let mut words = operand_words(call);
    if call.has(&["-e", "--edit"]) {
        analysis.find(
            Effect::Update,
            whole,
            format!("`{}` edits files", call.path),
        );
        return analysis.done();
    }
    let facts = ["-l", "--list", "-V", "--version", "--help"];
    if call.has(&facts) && !call.has(&["-i", "-s", "--login", "--shell"]) {
        // With a command `-l` only says whether it is allowed.
        analysis.find(
            Effect::Read,
            whole,
            format!("`{}` shows what is allowed", call.path),
        );
        return analysis.done();
    }
    let mut set = Vec::new();
    while let Some(first) = words.first()
        && let Some((name, value)) = first.text.split_once('=')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        let value = first.with(value);
        let name = name.to_owned();
        analysis.sets(&name, &value);
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
        analysis.find(
            effect,
            whole,
            format!(
                "`{}` opens a shell or changes cached credentials",
                call.path
            ),
        );
        return analysis.done();
    }
    let text = joined(&words).filter(|_| shell);
    let output = analysis.with_variables(set, |inner| match text {
        Some(text) => inner.shell_text(&text, input),
        None => inner.run(words, input),
    });
    analysis.done_with(output)
}

/// `parallel COMMAND ::: WORDS`
pub(super) fn parallel(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_options(&mut analysis, call);
    option_values(&mut analysis, context, call, &Input::Unknown);
    // It is run also where the command is not.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.contains("{=")) {
        analysis.find(Effect::Code, arg.span, "`{= … =}` holds Perl code");
    }
    if call.has(&["--rpl"]) {
        analysis.find(Effect::Code, whole, "the value of `--rpl` is Perl");
    }
    if call.has(&["--dry-run", "--dryrun", "--version", "--help", "-h", "-V"]) {
        analysis.find(Effect::Read, whole, "`parallel` shows what it would run");
        return analysis.done();
    }
    let words = operand_words(call);
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
            analysis.find(
                Effect::Code,
                whole,
                "`parallel` runs the lines that it reads",
            );
        }
        for word in direct {
            analysis.shell_text(word, &Input::Unknown);
        }
        return analysis.done();
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
    let lines: Vec<String> = values
        .iter()
        .map(|value| parallel_line(&text.text, value))
        .collect();
    let puts_in = |line: &String| line.contains(UNKNOWN) && !line.starts_with(UNKNOWN);
    if lines.iter().any(puts_in) {
        analysis.with_names(Names::In(input.clone()), |inner| {
            for line in lines {
                // What is put in is quoted.
                let line = match puts_in(&line) {
                    true => Arg::new(line.replace(UNKNOWN, "\"$_\""), text.span),
                    false => text.with(&line),
                };
                inner.shell_text(&line, &Input::Unknown);
            }
            OutputOf::NOTHING
        });
    } else {
        for line in lines {
            analysis.shell_text(&text.with(&line), &Input::Unknown);
        }
    }
    analysis.done()
}

/// Returns the command line that `parallel` makes of its command and a word.
fn parallel_line(command: &str, word: &str) -> String {
    let mut line = command.to_owned();
    let mut placed = false;
    for mark in [
        "{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{1/}", "{1.}",
    ] {
        if line.contains(mark) {
            placed = true;
            line = line.replace(mark, word);
        }
    }
    for mark in ["{#}", "{%}"] {
        line = line.replace(mark, "1");
    }
    match placed {
        true => line,
        false => format!("{line} {word}"),
    }
}

pub(super) fn flock(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let words = operand_words(call);
    let Some(file) = words.first() else {
        return analysis;
    };
    note_options(&mut analysis, call);
    let number = file.text.chars().all(|c| c.is_ascii_digit());
    if number && words.len() == 1 {
        analysis.find(Effect::Read, whole, "`flock` locks an open file");
        return analysis.done();
    }
    analysis.find(
        Effect::Create,
        file.span,
        format!("`flock` creates `{}`", shown(file)),
    );
    let rest = &words[1..];
    match rest.first() {
        Some(flag) if flag.text == "-c" || flag.text == "--command" => {
            if let Some(text) = rest.get(1) {
                analysis.shell_text(text, input);
            }
        }
        Some(_) => {
            analysis.run(rest.to_vec(), input);
        }
        None => {}
    }
    analysis.done()
}

/// `tmux`: several commands, and formats that run shell text.
pub(super) fn tmux(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for arg in &call.args {
        let copied = [
            "buffer_sample",
            "buffer_full",
            "copy_cursor",
            "selection_",
            "pane_search_string",
        ];
        if copied.iter().any(|name| arg.text.contains(name)) {
            analysis.ask(arg.span, "`tmux` shows copied text");
        }
        for (at, _) in arg.text.match_indices("#(") {
            let inner = arg.text[at + 2..].split(')').next().unwrap_or("");
            analysis.shell_text(&arg.with(inner), &Input::Unknown);
        }
    }
    let end = call
        .args
        .iter()
        .position(|arg| arg.text == ";" || (arg.text.ends_with(';') && arg.text.len() > 1));
    if let Some(end) = end
        && let Some(program) = context.tables.program("tmux").cloned()
    {
        let mut first = call.args[..end].to_vec();
        if call.args[end].text != ";" {
            first.push(call.args[end].with(call.args[end].text.trim_end_matches(';')));
        }
        let one = Call::read(&call.path, &call.program, &first);
        analysis.call(one, whole, input);
        let rest = &call.args[end + 1..];
        if !rest.is_empty() {
            let two = Call::read("tmux", &program, rest);
            analysis.call(two, whole, input);
        }
        return analysis.done();
    }
    analysis
}
