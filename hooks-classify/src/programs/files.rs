//! Programs that handle files and texts: a call in, the files that it reads and writes out.

use super::effect::operand_words;
use super::file_roles::reads_recursively;
use super::roles::note_role;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::device::{is_device, is_unstored_output};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `cp`, which empties a file if it copies nothing onto it.
pub(super) fn cp(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let operands = operand_words(call);
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
        && !is_unstored_output(&last.text)
    {
        analysis.add_finding(
            Effect::Delete,
            whole,
            format!("`{}` empties `{}`", call.path, last.text),
        );
    }
    if let Some(last) = last
        && is_device(&last.text)
    {
        analysis.add_finding(
            Effect::Delete,
            last.span,
            format!("`{}` overwrites the device `{}`", call.path, last.text),
        );
    }
    analysis
}

/// Analyzes `truncate`, which discards contents if the size is smaller.
pub(super) fn truncate(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in call
        .options
        .iter()
        .filter(|g| g.name == "-s" || g.name == "--size")
    {
        let Some(value) = &opt.value else { continue };
        let text = value.text.trim();
        let only_grows = text.starts_with(['+', '>']);
        let size = text.trim_start_matches(['<', '/', '%', ' ']);
        let zero = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let empties = !zero.is_empty() && zero.chars().all(|c| c == '0');
        if !only_grows && (empties || text.starts_with('-') || text.contains(UNKNOWN)) {
            analysis.add_finding(
                Effect::Delete,
                whole,
                "`truncate` cuts the contents of the file",
            );
        }
    }
    analysis
}

/// Analyzes `dd`, which empties, changes or overwrites its output.
pub(super) fn dd(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let value = |key: &str| {
        call.options
            .iter()
            .rev()
            .find(|g| g.name == key)
            .and_then(|g| g.value.clone())
    };
    let Some(target) = value("of=") else {
        return analysis;
    };
    if is_unstored_output(&target.text) {
        return analysis;
    }
    let keeps_contents =
        value("conv=").is_some_and(|conv| conv.text.split(',').any(|c| c == "notrunc"));
    let empty = value("if=").is_some_and(|file| file.text == "/dev/null")
        || value("count=").is_some_and(|count| count.text == "0");
    if is_device(&target.text) {
        analysis.add_finding(
            Effect::Delete,
            target.span,
            format!("`dd` overwrites the device `{}`", target.text),
        );
    } else if keeps_contents {
        analysis.add_finding(
            Effect::Update,
            target.span,
            format!("`dd` changes `{}` in place", target.text),
        );
    } else if empty {
        analysis.add_finding(
            Effect::Delete,
            whole,
            format!("`dd` empties `{}`", target.text),
        );
    }
    analysis
}

/// Analyzes `date`, which sets the time if an operand is not a format.
pub(super) fn date(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let sets = call
        .operands
        .iter()
        .any(|operand| !operand.arg.text.starts_with('+'));
    if sets && !call.has_option(&["-j"]) {
        analysis.with_effect(Effect::Update)
    } else {
        analysis.without_operands()
    }
}

/// Analyzes `rename`, which runs its first operand as Perl.
pub(super) fn rename(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let Some(first) = call.operands.first() else {
        return analysis;
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
        analysis.add_finding(Effect::Code, first.arg.span, "`rename` runs this as Perl");
    }
    analysis
}

/// Analyzes a pager, for which an operand with `+` is a command.
pub(super) fn less(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        let arg = &operand.arg;
        if operand.after_double_dash || !arg.text.starts_with('+') {
            analysis.read_file(arg);
            continue;
        }
        let text = arg.text.trim_start_matches('+');
        let moves = text.is_empty()
            || ["F", "G", "g"].contains(&text)
            || text.starts_with(['/', '?', '&'])
            || text.chars().all(|c| c.is_ascii_digit());
        if !moves {
            analysis.add_finding(
                Effect::Unknown,
                arg.span,
                format!("`less` runs its command `{}`", arg.text),
            );
        }
    }
    analysis.without_operands()
}

/// Analyzes `man`, for which a page with `/` in its name is a file.
pub(super) fn man(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        let text = &operand.arg.text;
        if text.contains('/') || text.starts_with('~') {
            analysis.read_file(&operand.arg);
        }
    }
    analysis
}

/// Analyzes an editor, which may run commands.
pub(super) fn vim(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let values = call
        .options
        .iter()
        .filter(|g| ["-c", "--cmd", "-S"].contains(&g.name.as_str()))
        .filter_map(|g| g.value.clone());
    let plus = call
        .operands
        .iter()
        .filter(|o| o.arg.text.starts_with('+'))
        .map(|o| o.arg.with_text(&o.arg.text[1..]));
    for arg in values.chain(plus) {
        if ["delete(", "os.remove", "os.unlink", "fs_unlink", "fs_rmdir"]
            .iter()
            .any(|word| arg.text.contains(word))
        {
            analysis.add_finding(Effect::Delete, arg.span, "the editor deletes a file");
        }
        if let Some((_, command)) = arg.text.split_once('!')
            && !command.trim().is_empty()
        {
            analysis.run_shell_text(&arg.with_text(command), &Input::Unknown);
            analysis.add_finding(Effect::Code, arg.span, "the editor runs a shell");
        } else if arg.text.contains("system(") || arg.text.contains("exe") {
            analysis.add_finding(Effect::Code, arg.span, "the editor runs code");
        }
    }
    analysis
}

/// Analyzes a program that searches text: with the pattern in an option, all operands are files.
pub(super) fn pattern(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let has_pattern_option =
        call.has_option(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]);
    let searches = if call.path.ends_with(" grep") {
        true
    } else if call.path.ends_with("grep") && call.path != "rgrep" {
        reads_recursively(call)
    } else {
        input.may_be_absent()
    };
    // Without a file all below the folder is searched.
    if call.operands.len() <= usize::from(!has_pattern_option) && searches {
        note_role(
            &mut analysis,
            context,
            call,
            Role::Name,
            &[Arg::new(".", whole)],
            input,
        );
    }
    if has_pattern_option {
        let files: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
        note_role(&mut analysis, context, call, Role::Name, &files, input);
        return analysis.without_operands();
    }
    analysis
}

/// Analyzes a program that only reads if its last operand is `-`.
pub(super) fn stdout_last(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    match call.operands.last() {
        Some(last) if last.arg.text == "-" => {
            for operand in &call.operands {
                analysis.read_file(&operand.arg);
            }
            analysis.with_effect(Effect::Read)
        }
        _ => analysis,
    }
}
