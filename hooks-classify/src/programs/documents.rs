//! Archives, tables, pictures and texts: a call in, the files that it reads and writes out.

use super::effect::{note_unrecognized, operand_words};
use super::roles::{note_option_value, note_role};
use crate::analysis::{Analysis, Context};
use crate::model::device::is_unstored_output;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes a program of which `-o` names a format, or a format and a file: `-o json=FILE`.
pub(super) fn output_formats(
    context: &Context<'_>,
    call: &Call,
    _: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let outputs = (call.options.iter()).filter(|opt| ["-o", "--output"].contains(&&*opt.name));
    for value in outputs.filter_map(|opt| opt.value.as_ref()) {
        let file = value.text.split_once('=').map(|(_, file)| file);
        // The unknown part of a word may contain a file.
        let file = file.or((!value.is_known()).then_some(value.text.as_str()));
        if let Some(file) = file {
            let files = [value.with_text(file)];
            note_role(&mut analysis, context, call, Role::Output, &files, input);
        }
    }
    analysis
}

/// Analyzes `exiftool`: `-Name` reads a tag, `-Name=…` and `-Name<…` write one. Names of tags begin
/// with one capital letter, its options do not.
pub(super) fn exiftool(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut rest = Vec::new();
    let mut skips_args = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        let name = text.trim_start_matches('-');
        let dash = text.starts_with('-') && arg.is_known();
        if dash && name.contains(['=', '<']) && !name.starts_with(['=', '<']) {
            analysis.add_finding(
                Effect::Update,
                arg.span,
                format!("`exiftool` writes `{name}`"),
            );
            skips_args = true;
        } else if dash
            && name.len() > 2
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name[1..].contains(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ":*?#_-".contains(c))
            && !EXIFTOOL_OPTIONS
                .iter()
                .any(|option| name.to_ascii_lowercase().starts_with(option))
        {
            skips_args = true;
        } else {
            rest.push(arg.clone());
        }
    }
    if skips_args {
        let inner = Call::read(&call.path, call.program, &rest);
        let output = analysis.run_call(inner, whole, input);
        return analysis.done_with(output);
    }
    analysis
}

/// Beginnings of `exiftool`'s options that do more than ask, in any case.
const EXIFTOOL_OPTIONS: &[&str] = &[
    "api",
    "charset",
    "config",
    "csv",
    "delete",
    "echo",
    "efile",
    "execute",
    "ext",
    "fileorder",
    "fixbase",
    "geosync",
    "geotag",
    "htmldump",
    "if",
    "lang",
    "list",
    "overwrite",
    "password",
    "plot",
    "preserve",
    "progress",
    "restore",
    "scanforxmp",
    "sep",
    "srcfile",
    "stay",
    "tagout",
    "tagsfromfile",
    "textout",
    "use",
    "userparam",
    "wext",
];

/// Analyzes a converter of pictures, for which `-version` and `-list` print facts only where they
/// are alone.
pub(super) fn convert(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let facts = call.has_option(&["-version", "--version", "-help", "-list"]);
    if facts && (call.options.len() > 1 || !call.operands.is_empty()) {
        analysis.add_finding(
            Effect::Create,
            whole,
            format!("`{}` may write its last operand", call.path),
        );
    }
    analysis
}

/// Analyzes `glow`; `glow config` writes settings and opens them in an editor.
pub(super) fn glow(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call
        .operands
        .first()
        .is_some_and(|operand| operand.arg.text == "config")
    {
        analysis.add_finding(
            Effect::Create,
            whole,
            "`glow config` writes settings, and opens them in an editor",
        );
    }
    analysis
}

/// Analyzes `tar`, which only reads if the archive or the files go to its standard output.
pub(super) fn tar(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    // The old style gives values to letters in order; read as words with dashes.
    if let Some(first) = call.args.first()
        && !first.text.starts_with('-')
        && first.is_known()
    {
        let mut words = Vec::new();
        let mut at = 1;
        for letter in first.text.chars() {
            let name = format!("-{letter}");
            let arity = call.program.options.get(&name).map(|o| o.arity);
            words.push(first.with_text(&name));
            if arity == Some(crate::tables::ValueArity::Required) {
                words.extend(call.args.get(at).cloned());
                at += 1;
            }
        }
        words.extend_from_slice(call.args.get(at..).unwrap_or(&[]));
        let inner = Call::read(&call.path, call.program, &words);
        let output = analysis.run_call(inner, whole, input);
        return analysis.done_with(output);
    }
    let file = call
        .options
        .iter()
        .rev()
        .find(|g| g.name == "-f" || g.name == "--file")
        .and_then(|g| g.value.clone());
    if let Some(file) = &file {
        if file.text.contains(':') && !call.has_option(&["--force-local"]) {
            analysis.add_finding(
                Effect::Unknown,
                file.span,
                "`tar` may reach another machine for this archive",
            );
        }
        analysis.read_file(file);
    }
    for opt in call
        .options
        .iter()
        .filter(|g| g.name == "--checkpoint-action")
    {
        if let Some(value) = &opt.value
            && let Some(text) = value.text.strip_prefix("exec=")
        {
            analysis.run_shell_text(&value.with_text(text), &Input::Unknown);
        }
    }
    let quiet = file.as_ref().is_none_or(|f| is_unstored_output(&f.text));
    let extracts = call.has_option(&["-x", "--extract", "--get"]);
    let creates = call.has_option(&["-c", "--create"]);
    if (extracts && call.has_option(&["-O", "--to-stdout"])) || (creates && !extracts && quiet) {
        // `-x` and `-c` state the effect create; other options still count.
        let others = call.options.iter().any(|g| {
            !["-x", "--extract", "--get", "-c", "--create"].contains(&g.name.as_str())
                && matches!(g.spec.effect, Some(crate::model::effect::OptionEffect::Replaces(e)) if e > Effect::Read)
        });
        if !others {
            for opt in &call.options {
                if let Some(crate::model::effect::OptionEffect::AtLeast(effect)) = opt.spec.effect {
                    analysis.add_finding(effect, opt.span, format!("`tar` with `{}`", opt.name));
                }
            }
            note_unrecognized(&mut analysis, call);
            for opt in &call.options {
                if !["-f", "--file"].contains(&opt.name.as_str()) {
                    note_option_value(&mut analysis, context, call, opt, input);
                }
            }
            note_role(
                &mut analysis,
                context,
                call,
                Role::Input,
                &operand_words(call),
                input,
            );
            for opt in &call.options {
                if let ("-C" | "--directory" | "--cd", Some(folder)) =
                    (opt.name.as_str(), &opt.value)
                {
                    analysis.read_file(folder);
                }
            }
            analysis.add_finding(Effect::Read, whole, "`tar` prints an archive");
            return analysis.done();
        }
    }
    analysis
}

/// Analyzes `mlr`, of which the verbs are joined by `then`.
pub(super) fn mlr(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
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
    let words = operand_words(call);
    for verb in words.split(|arg| arg.text == "then") {
        let Some(name) = verb.first() else { continue };
        let shows = match name.text.as_str() {
            "filter" | "put" => verb.iter().skip(1).take(4).all(|arg| {
                arg.is_known()
                    && !["-f", "-s"].contains(&arg.text.as_str())
                    && !["system", "exec", "|", "tee", "emit", "dump", "print", ">>"]
                        .iter()
                        .any(|word| arg.text.contains(word))
                    && (name.text == "filter" || !arg.text.contains('>'))
            }),
            other => SHOWS.contains(&other),
        };
        if !shows {
            analysis.add_finding(
                Effect::Code,
                name.span,
                format!("`mlr` runs its command `{}`", name.text),
            );
        }
    }
    if words.is_empty() && !call.has_option(&["--version", "--help", "-h"]) {
        return analysis.with_effect(Effect::Unknown);
    }
    // The end of the verbs is not known, so the files are unknown.
    for word in words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-'))
    {
        analysis.read_file(word);
    }
    analysis.without_operands()
}

/// Analyzes a program with operands `FORMAT:FILE`: some formats are scripts, and some delete the
/// file after reading it.
pub(super) fn pictures(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        if let Some((format, _)) = operand.arg.text.split_once(':')
            && format.len() > 1
            && format.chars().all(|c| c.is_ascii_alphanumeric())
        {
            analysis.add_finding(
                Effect::Code,
                operand.arg.span,
                format!("`{format}:` may be a script"),
            );
        }
    }
    analysis
}
