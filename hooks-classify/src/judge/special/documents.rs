//! Archives, tables and pictures.

use super::{Outcome, args};
use crate::judge::redirect::nowhere;
use crate::judge::{Input, Judge};
use crate::shell::Span;
use crate::tables::{Call, Effect, Role};

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
            if takes == Some(crate::tables::Takes::Value) {
                words.extend(call.args.get(at).cloned());
                at += 1;
            }
        }
        words.extend_from_slice(call.args.get(at..).unwrap_or(&[]));
        let inner = Call::read(&call.path, call.program, &words);
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
                && matches!(g.option.verb, Some(crate::tables::Verb::Means(e)) if e > Effect::Read)
        });
        if !others {
            for given in &call.options {
                if let Some(crate::tables::Verb::Raises(effect)) = given.option.verb {
                    judge.find(effect, given.span, format!("`tar` with `{}`", given.name));
                }
            }
            judge.strange(call);
            for given in &call.options {
                if !["-f", "--file"].contains(&given.name.as_str()) {
                    judge.option(call, given, input);
                }
            }
            judge.role(call, Role::Input, &args(call), input);
            for given in &call.options {
                if let ("-C" | "--directory" | "--cd", Some(folder)) =
                    (given.name.as_str(), &given.value)
                {
                    judge.input_file(folder);
                }
            }
            judge.find(Effect::Read, whole, "`tar` prints an archive");
            return Outcome::Done(None);
        }
    }
    Outcome::Table
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
    // Where the verbs end and the files begin is not followed.
    for word in words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-'))
    {
        judge.input_file(word);
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
