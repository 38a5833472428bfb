//! Programs that run a command among their words: a call in, that command out.

use super::config::note_variable;
use super::effect::note_options;
use super::effect::{note_option_effects, note_unrecognized, operand_words};
use super::roles::{note_option_value, note_option_values};
use super::words_as_text::join_words;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, display_text, shell_quoted};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `env`, which runs a command after assignments, or prints all variables.
pub(super) fn env(context: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_option_effects(&mut analysis, call);
    let words = operand_words(call);
    // `-` alone is `-i`.
    let mut at = usize::from(words.first().is_some_and(|first| first.text == "-"));
    let mut set = Vec::new();
    while let Some(arg) = words.get(at)
        && let Some((name, value)) = arg.text.split_once('=')
    {
        note_variable(&mut analysis, name, &arg.with_text(value));
        set.push((name.to_owned(), arg.with_text(value)));
        at += 1;
    }
    note_unrecognized(&mut analysis, call);
    for opt in &call.options {
        if let Some(value) = &opt.value {
            if ["-S", "--split-string"].contains(&opt.name.as_str()) {
                let text = words.iter().fold(value.text.clone(), |text, word| {
                    text + " " + &shell_quoted(word)
                });
                let output =
                    analysis.run_shell_text(&value.with_text(&format!("env {text}")), input);
                return analysis.done_with(output);
            }
            note_option_value(&mut analysis, context, call, opt, input);
        }
    }
    let rest = words.get(at..).unwrap_or(&[]).to_vec();
    if rest.is_empty() {
        return analysis.done();
    }
    let output = analysis.with_variables(set, |inner| inner.run_words(rest, input));
    analysis.done_with(output)
}

/// Analyzes a program that runs code, and then a command after assignments: `cross-env A=b node x`.
pub(super) fn assignments(_: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut words = operand_words(call);
    words.retain({
        let mut found = false;
        move |word| {
            found |= !word.text.contains('=');
            found
        }
    });
    if !words.is_empty() {
        analysis.run_words(words, input);
    }
    analysis.without_operands()
}

/// Analyzes `at`, which runs its input later.
pub(super) fn at(_: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let lists = call.options.iter().any(|g| {
        matches!(
            g.spec.effect,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        )
    });
    if !lists && let Input::Known(text) = input {
        let span = call
            .operands
            .first()
            .map_or(Span::default(), |o| o.arg.span);
        analysis.run_shell_text(&Arg::new(text.clone(), span), &Input::Unknown);
    }
    analysis
}

/// Analyzes `watch`, which runs its words as a text of the shell, or with `-x` as a command.
pub(super) fn watch(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["-x", "--exec"]) {
        note_options(&mut analysis, call);
        let words = operand_words(call);
        if words.is_empty() {
            return analysis.done();
        }
        let output = analysis.run_words(words, &Input::Inherited);
        return analysis.done_with(output);
    }
    analysis
}

/// Analyzes `sudo` and similar programs: assignments, then a command or a shell; with `-e` an
/// editor.
pub(super) fn sudo(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_options(&mut analysis, call);
    note_option_values(&mut analysis, context, call, input);
    let mut words = operand_words(call);
    if call.has_option(&["-e", "--edit"]) {
        analysis.add_finding(
            Effect::Update,
            whole,
            format!("`{}` edits files", call.path),
        );
        return analysis.done();
    }
    let facts = ["-l", "--list", "-V", "--version", "--help"];
    if call.has_option(&facts) && !call.has_option(&["-i", "-s", "--login", "--shell"]) {
        // `-l` with a command only prints whether the command is allowed.
        analysis.add_finding(
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
        let value = first.with_text(value);
        let name = name.to_owned();
        analysis.check_variable(&name, &value);
        set.push((name, value));
        words.remove(0);
    }
    let shell = call.has_option(&["-i", "-s", "--login", "--shell"]);
    if words.is_empty() {
        let ends = call.has_option(&[
            "-k",
            "-K",
            "--reset-timestamp",
            "--remove-timestamp",
            "-v",
            "--validate",
        ]);
        let effect = if ends { Effect::Update } else { Effect::Code };
        analysis.add_finding(
            effect,
            whole,
            format!(
                "`{}` opens a shell or changes cached credentials",
                call.path
            ),
        );
        return analysis.done();
    }
    let text = join_words(&words).filter(|_| shell);
    let output = analysis.with_variables(set, |inner| match text {
        Some(text) => inner.run_shell_text(&text, input),
        None => inner.run_words(words, input),
    });
    analysis.done_with(output)
}

/// Analyzes `flock`, which locks a file and runs a command.
pub(super) fn flock(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let words = operand_words(call);
    let Some(file) = words.first() else {
        return analysis;
    };
    note_options(&mut analysis, call);
    let number = file.text.chars().all(|c| c.is_ascii_digit());
    if number && words.len() == 1 {
        analysis.add_finding(Effect::Read, whole, "`flock` locks an open file");
        return analysis.done();
    }
    analysis.add_finding(
        Effect::Create,
        file.span,
        format!("`flock` creates `{}`", display_text(file)),
    );
    let rest = &words[1..];
    match rest.first() {
        Some(flag) if flag.text == "-c" || flag.text == "--command" => {
            if let Some(text) = rest.get(1) {
                analysis.run_shell_text(text, input);
            }
        }
        Some(_) => {
            analysis.run_words(rest.to_vec(), input);
        }
        None => {}
    }
    analysis.done()
}

/// Analyzes `tmux`: several commands, and formats that run texts of the shell.
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
            analysis.require_confirmation(arg.span, "`tmux` shows copied text");
        }
        for (at, _) in arg.text.match_indices("#(") {
            let inner = arg.text[at + 2..].split(')').next().unwrap_or("");
            analysis.run_shell_text(&arg.with_text(inner), &Input::Unknown);
        }
    }
    let end = call
        .args
        .iter()
        .position(|arg| arg.text == ";" || (arg.text.ends_with(';') && arg.text.len() > 1));
    if let Some(end) = end
        && let Some(program) = context.tables.program("tmux")
    {
        let mut first = call.args[..end].to_vec();
        if call.args[end].text != ";" {
            first.push(call.args[end].with_text(call.args[end].text.trim_end_matches(';')));
        }
        let one = Call::read(&call.path, call.program, &first);
        analysis.run_call(one, whole, input);
        let rest = &call.args[end + 1..];
        if !rest.is_empty() {
            let two = Call::read("tmux", program, rest);
            analysis.run_call(two, whole, input);
        }
        return analysis.done();
    }
    analysis
}
