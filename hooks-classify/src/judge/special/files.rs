//! Judges of programs that handle files.

use super::{Outcome, args};
use crate::judge::Judge;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::device::{device, nowhere};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

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
        if operand.after_double_dash || !arg.text.starts_with('+') {
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
pub(super) fn pattern(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let given = call.has(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]);
    let searches = if call.path.ends_with(" grep") {
        true
    } else if call.path.ends_with("grep") && call.path != "rgrep" {
        super::super::table::roles::recurses(call)
    } else {
        *input == Input::Inherited
    };
    // Without a file all below the folder is searched.
    if call.operands.len() <= usize::from(!given) && searches {
        judge.role(call, Role::Name, &[Arg::new(".", whole)], input);
    }
    if given {
        let files: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
        judge.role(call, Role::Name, &files, input);
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
