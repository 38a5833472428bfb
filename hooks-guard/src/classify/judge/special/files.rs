//! Judges of programs that handle files.

use super::{Outcome, args};
use crate::classify::judge::redirect::{device, nowhere};
use crate::classify::judge::{Arg, Input, Judge, UNKNOWN};
use crate::classify::shell::Span;
use crate::classify::tables::{Call, Effect, Role};

/// Copying nothing onto a file empties it.
pub(super) fn cp(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let operands = args(call);
    let target = call
        .options
        .iter()
        .find(|g| g.name == "-t" || g.name == "--target-directory");
    let (sources, last) = match target {
        Some(_) => (operands.as_slice(), None),
        None => (
            &operands[..operands.len().saturating_sub(1)],
            operands.last(),
        ),
    };
    if let [source] = sources
        && (source.text == "/dev/null" || source.text == "/dev/stdin")
        && let Some(last) = last
        && !nowhere(&last.text)
    {
        judge.find(
            Effect::Delete,
            whole,
            format!("`{}` empties `{}`", call.path, last.text),
        );
    }
    if let Some(last) = last
        && device(&last.text)
    {
        judge.find(
            Effect::Delete,
            last.span,
            format!("`{}` overwrites the device `{}`", call.path, last.text),
        );
    }
    Outcome::Table
}

pub(super) fn truncate(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    for given in call
        .options
        .iter()
        .filter(|g| g.name == "-s" || g.name == "--size")
    {
        let Some(value) = &given.value else { continue };
        let text = value.text.trim();
        let grows = text.starts_with(['+', '>']);
        let bare = text.trim_start_matches(['<', '/', '%', ' ']);
        let zero = bare.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let empties = !zero.is_empty() && zero.chars().all(|c| c == '0');
        if !grows && (empties || text.starts_with('-') || text.contains(UNKNOWN)) {
            judge.find(Effect::Delete, whole, "`truncate` cuts what is in the file");
        }
    }
    Outcome::Table
}

pub(super) fn dd(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let value = |key: &str| {
        call.options
            .iter()
            .rev()
            .find(|g| g.name == key)
            .and_then(|g| g.value.clone())
    };
    let Some(target) = value("of=") else {
        return Outcome::Table;
    };
    if nowhere(&target.text) {
        return Outcome::Table;
    }
    let kept = value("conv=").is_some_and(|conv| conv.text.split(',').any(|c| c == "notrunc"));
    let empty = value("if=").is_some_and(|file| file.text == "/dev/null")
        || value("count=").is_some_and(|count| count.text == "0");
    if device(&target.text) {
        judge.find(
            Effect::Delete,
            target.span,
            format!("`dd` overwrites the device `{}`", target.text),
        );
    } else if kept {
        judge.find(
            Effect::Update,
            target.span,
            format!("`dd` changes `{}` in place", target.text),
        );
    } else if empty {
        judge.find(
            Effect::Delete,
            whole,
            format!("`dd` empties `{}`", target.text),
        );
    }
    Outcome::Table
}

pub(super) fn date(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let sets = call
        .operands
        .iter()
        .any(|operand| !operand.arg.text.starts_with('+'));
    if sets && !call.has(&["-j"]) {
        Outcome::Is(Effect::Update)
    } else {
        Outcome::NoOperands
    }
}

/// What `find` runs, deletes and writes.
pub(super) fn find(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let args = &call.args;
    let mut at = 0;
    let mut folders = Vec::new();
    while at < args.len() && !args[at].text.starts_with(['-', '(', '!']) {
        folders.push(args[at].clone());
        at += 1;
    }
    // One unknown word is most likely where it looks; more may be actions.
    let several = |(at, arg): &(usize, &Arg)| !arg.known() && (*at > 0 || arg.many);
    if let Some((_, arg)) = folders.iter().enumerate().find(several) {
        judge.find(
            Effect::Unknown,
            arg.span,
            "what `find` is told is only known when it runs",
        );
    }
    let mut base = Effect::Read;
    while at < args.len() {
        let arg = &args[at];
        let text = arg.text.as_str();
        at += 1;
        if !arg.known() && !text.starts_with('-') {
            judge.find(
                Effect::Unknown,
                arg.span,
                "what `find` is told is only known when it runs",
            );
        }
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut words = Vec::new();
                while at < args.len() {
                    let word = &args[at];
                    at += 1;
                    if word.text == ";" {
                        break;
                    }
                    if word.text == "+"
                        && words.last().is_some_and(|w: &Arg| w.text.contains(UNKNOWN))
                    {
                        break;
                    }
                    words.push(word.with(&word.text.replace("{}", &UNKNOWN.to_string())));
                }
                if words.is_empty() {
                    judge.find(
                        Effect::Unknown,
                        arg.span,
                        format!("`find` with `{text}` names no command"),
                    );
                } else {
                    judge.run(words, &Input::Inherited);
                }
            }
            "-delete" => judge.find(
                Effect::Delete,
                arg.span,
                "`find` with `-delete` deletes what it finds",
            ),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = args.get(at) {
                    judge.role(call, Role::Output, std::slice::from_ref(file), input);
                }
                at += if text == "-fprintf" { 2 } else { 1 };
            }
            "(" | ")" | "!" | "," => {}
            _ if text.starts_with('-') => {
                let other = format!("-{}", text.trim_start_matches('-'));
                match call
                    .program
                    .options
                    .get(text)
                    .or_else(|| call.program.options.get(&other))
                {
                    Some(option) if option.takes == crate::classify::tables::Takes::Value => {
                        at += 1
                    }
                    Some(_) => {}
                    None => {
                        judge.find(
                            Effect::Unknown,
                            arg.span,
                            format!("`find` has no known test or action `{text}`"),
                        );
                        base = Effect::Read;
                    }
                }
            }
            // A word that may be anything, or a folder after the options `-H`, `-L`, `-P`.
            _ if arg.known() => folders.push(arg.clone()),
            _ => folders.push(arg.clone()),
        }
    }
    let names: Vec<Arg> = args
        .windows(2)
        .filter(|pair| matches!(pair[0].text.as_str(), "-name" | "-iname" | "-path"))
        .map(|pair| pair[1].clone())
        .collect();
    let runs = args
        .iter()
        .any(|arg| matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    for folder in &folders {
        judge.input_file(folder);
        // What is found is read where a command is run on it.
        for name in names.iter().filter(|_| runs) {
            judge.input_file(&folder.with(&format!(
                "{}/{}",
                folder.text.trim_end_matches('/'),
                name.text
            )));
        }
    }
    judge.find(base, whole, "`find` looks for files");
    Outcome::Done(None)
}

pub(super) fn fd(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let args = &call.args;
    let start = args.iter().position(|arg| {
        let text = arg.text.as_str();
        ["--exec", "--exec-batch"]
            .iter()
            .any(|o| text == *o || text.starts_with(&format!("{o}=")))
            || (text.starts_with('-')
                && !text.starts_with("--")
                && text.contains(['x', 'X'])
                && !text.contains(UNKNOWN))
    });
    let Some(start) = start else {
        return Outcome::Table;
    };
    let text = &args[start].text;
    let joined = if text.starts_with("--") {
        text.split_once('=').map(|(_, value)| value.to_owned())
    } else {
        text.split_once(['x', 'X'])
            .map(|(_, value)| value.to_owned())
            .filter(|v| !v.is_empty())
    };
    let mut words: Vec<Arg> = joined
        .map(|text| args[start].with(&text))
        .into_iter()
        .collect();
    let end = args[start + 1..]
        .iter()
        .position(|arg| arg.text == ";")
        .map_or(args.len(), |i| start + 1 + i);
    words.extend_from_slice(&args[start + 1..end]);
    let mut placed = false;
    for word in &mut words {
        for mark in ["{}", "{/}", "{//}", "{.}", "{/.}"] {
            if word.text.contains(mark) {
                placed = true;
                word.text = word.text.replace(mark, &UNKNOWN.to_string());
            }
        }
    }
    if !placed {
        words.push(Arg::unknown(args[start].span));
    }
    judge.run(words, &Input::Inherited);
    let mut rest = args[..start].to_vec();
    rest.extend_from_slice(args.get(end + 1..).unwrap_or(&[]));
    // There may be another command.
    let inner = Call::read(&call.path, &call.program, &rest);
    Outcome::Done(judge.call(&inner, whole, input))
}

pub(super) fn tar(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    // The old style gives values to letters in order; read as words with dashes.
    if let Some(first) = call.args.first()
        && !first.text.starts_with('-')
        && first.known()
    {
        let mut words = Vec::new();
        let mut at = 1;
        for letter in first.text.chars() {
            let name = format!("-{letter}");
            let takes = call.program.options.get(&name).map(|o| o.takes);
            words.push(first.with(&name));
            if takes == Some(crate::classify::tables::Takes::Value) {
                words.extend(call.args.get(at).cloned());
                at += 1;
            }
        }
        words.extend_from_slice(call.args.get(at..).unwrap_or(&[]));
        let inner = Call::read(&call.path, &call.program, &words);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    let file = call
        .options
        .iter()
        .rev()
        .find(|g| g.name == "-f" || g.name == "--file")
        .and_then(|g| g.value.clone());
    if let Some(file) = &file {
        if file.text.contains(':') && !call.has(&["--force-local"]) {
            judge.find(
                Effect::Unknown,
                file.span,
                "`tar` may reach another machine for this archive",
            );
        }
        judge.input_file(file);
    }
    for given in call
        .options
        .iter()
        .filter(|g| g.name == "--checkpoint-action")
    {
        if let Some(value) = &given.value
            && let Some(text) = value.text.strip_prefix("exec=")
        {
            judge.shell_text(&value.with(text), &Input::Unknown);
        }
    }
    let quiet = file.as_ref().is_none_or(|f| nowhere(&f.text));
    let extracts = call.has(&["-x", "--extract", "--get"]);
    let creates = call.has(&["-c", "--create"]);
    if (extracts && call.has(&["-O", "--to-stdout"])) || (creates && !extracts && quiet) {
        // `-x` and `-c` say create; what else was given still counts.
        let others = call.options.iter().any(|g| {
            !["-x", "--extract", "--get", "-c", "--create"].contains(&g.name.as_str())
                && matches!(g.option.verb, Some(crate::classify::tables::Verb::Means(e)) if e > Effect::Read)
        });
        if !others {
            for given in &call.options {
                if let Some(crate::classify::tables::Verb::Raises(effect)) = given.option.verb {
                    judge.find(effect, given.span, format!("`tar` with `{}`", given.name));
                }
            }
            judge.strange(call);
            for given in &call.options {
                if !["-f", "--file"].contains(&given.name.as_str()) {
                    judge.option(call, given, input);
                }
            }
            for operand in &call.operands {
                judge.input_file(&operand.arg);
            }
            judge.find(Effect::Read, whole, "`tar` prints an archive");
            return Outcome::Done(None);
        }
    }
    Outcome::Table
}

pub(super) fn rename(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let Some(first) = call.operands.first() else {
        return Outcome::Table;
    };
    let text = first.arg.text.as_str();
    let plain = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || ".-_".contains(c));
    let substitution = ["s/", "tr/", "y/", "s|", "s,"]
        .iter()
        .any(|s| text.starts_with(s))
        && !text.contains(['@', '$', ';', '`', '{', UNKNOWN])
        && {
            let flags = text.rsplit(['/', '|', ',']).next().unwrap_or("");
            flags.chars().all(|c| c.is_alphabetic()) && !flags.contains('e')
        };
    if !plain && !substitution {
        judge.find(Effect::Code, first.arg.span, "`rename` runs this as Perl");
    }
    Outcome::Table
}

pub(super) fn less(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for operand in &call.operands {
        let arg = &operand.arg;
        if operand.after || !arg.text.starts_with('+') {
            judge.input_file(arg);
            continue;
        }
        let text = arg.text.trim_start_matches('+');
        let moves = text.is_empty()
            || ["F", "G", "g"].contains(&text)
            || text.starts_with(['/', '?', '&'])
            || text.chars().all(|c| c.is_ascii_digit());
        if !moves {
            judge.find(
                Effect::Unknown,
                arg.span,
                format!("`less` is told `{}`", arg.text),
            );
        }
    }
    Outcome::NoOperands
}

pub(super) fn vim(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let values = call
        .options
        .iter()
        .filter(|g| ["-c", "--cmd", "-S"].contains(&g.name.as_str()))
        .filter_map(|g| g.value.clone());
    let plus = call
        .operands
        .iter()
        .filter(|o| o.arg.text.starts_with('+'))
        .map(|o| o.arg.with(&o.arg.text[1..]));
    for arg in values.chain(plus) {
        if ["delete(", "os.remove", "os.unlink", "fs_unlink", "fs_rmdir"]
            .iter()
            .any(|word| arg.text.contains(word))
        {
            judge.find(Effect::Delete, arg.span, "the editor deletes a file");
        }
        if let Some((_, command)) = arg.text.split_once('!')
            && !command.trim().is_empty()
        {
            judge.shell_text(&arg.with(command), &Input::Unknown);
            judge.find(Effect::Code, arg.span, "the editor runs a shell");
        } else if arg.text.contains("system(") || arg.text.contains("exe") {
            judge.find(Effect::Code, arg.span, "the editor runs code");
        }
    }
    Outcome::Table
}

/// With the pattern in an option, all operands are files.
pub(super) fn pattern(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.has(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]) {
        for operand in &call.operands {
            judge.input_file(&operand.arg);
        }
        return Outcome::NoOperands;
    }
    Outcome::Table
}

pub(super) fn stdout_last(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    match call.operands.last() {
        Some(last) if last.arg.text == "-" => {
            for operand in &call.operands {
                judge.input_file(&operand.arg);
            }
            Outcome::Is(Effect::Read)
        }
        _ => Outcome::Table,
    }
}

/// Verbs that only show, joined by `then`.
pub(super) fn mlr(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    const SHOWS: &[&str] = &[
        "cat",
        "head",
        "tail",
        "sort",
        "uniq",
        "cut",
        "count",
        "count-distinct",
        "count-similar",
        "stats1",
        "stats2",
        "top",
        "nest",
        "reorder",
        "rename",
        "regularize",
        "sec2gmt",
        "tac",
        "join",
        "label",
        "having-fields",
        "merge-fields",
        "step",
        "nothing",
        "unsparsify",
        "summary",
        "decimate",
        "fill-down",
        "fill-empty",
        "flatten",
        "unflatten",
        "group-by",
        "group-like",
        "json-parse",
        "json-stringify",
        "most-frequent",
        "least-frequent",
        "reshape",
        "sec2gmtdate",
        "seqgen",
        "sort-within-records",
        "template",
        "histogram",
        "altkv",
        "bar",
        "bootstrap",
        "sample",
        "shuffle",
        "grep",
        "fraction",
        "format-values",
    ];
    let words = args(call);
    for verb in words.split(|arg| arg.text == "then") {
        let Some(name) = verb.first() else { continue };
        let shows = match name.text.as_str() {
            "filter" | "put" => verb.iter().skip(1).take(4).all(|arg| {
                arg.known()
                    && !["-f", "-s"].contains(&arg.text.as_str())
                    && !["system", "exec", "|", "tee", "emit", "dump", "print", ">>"]
                        .iter()
                        .any(|word| arg.text.contains(word))
                    && (name.text == "filter" || !arg.text.contains('>'))
            }),
            other => SHOWS.contains(&other),
        };
        if !shows {
            judge.find(
                Effect::Code,
                name.span,
                format!("`mlr` is told `{}`", name.text),
            );
        }
    }
    if words.is_empty() && !call.has(&["--version", "--help", "-h"]) {
        return Outcome::Is(Effect::Unknown);
    }
    Outcome::NoOperands
}

/// `FORMAT:FILE`: some formats are scripts, some are deleted after reading.
pub(super) fn pictures(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for operand in &call.operands {
        if let Some((format, _)) = operand.arg.text.split_once(':')
            && format.len() > 1
            && format.chars().all(|c| c.is_ascii_alphanumeric())
        {
            judge.find(
                Effect::Code,
                operand.arg.span,
                format!("`{format}:` may be a script"),
            );
        }
    }
    Outcome::Table
}
