//! Interpreters: from a call and its input to the script that runs.

use super::effect::{note_option_effects, note_unrecognized};
use super::roles::option_values;
use crate::model::analysis::{Analysis, Context};
use crate::model::arg::{Arg, shown};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::environment::Contents;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// Returns the language of an interpreter by its name.
fn language(name: &str) -> Option<Language> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "py" | "ipython" | "bpython" | "ptpython" => Language::Python,
        "node" | "nodejs" | "tsx" | "ts-node" | "bun" | "deno" => Language::Node,
        "perl" => Language::Perl,
        "ruby" | "irb" | "jruby" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        _ => return None,
    })
}

/// Runs a text in the language of the interpreter.
fn run_code(analysis: &mut Analysis, call: &Call, text: &str, span: Span) {
    match language(&call.path) {
        Some(language) => analysis.script(language, &Arg::new(text, span), &call.path),
        None => analysis.script(Language::Code, &Arg::new(text, span), &call.path),
    }
}

/// Returns whether Perl takes a value of `-F` for a separator of fields alone.
fn is_field_separator(text: &str) -> bool {
    let inner = match text.strip_prefix('/') {
        Some(rest) => match rest.strip_suffix('/') {
            Some(inner) => inner,
            None => return rest.is_empty(),
        },
        None => text,
    };
    !inner
        .contains(|c: char| c.is_whitespace() || c.is_control() || "/'\"`()[]{}<>;$@#&".contains(c))
}

/// Analyzes an interpreter: without a script in an option, the first operand is the file of a
/// script, or the input is the script.
pub(super) fn interpreter(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let given = call
        .options
        .iter()
        .any(|g| matches!(g.option.role, Role::Script(_)));
    let only = call
        .options
        .iter()
        .any(|g| matches!(g.option.effect, Some(OptionEffect::Forces(_))))
        || (call.operands.is_empty()
            && call
                .options
                .iter()
                .any(|g| matches!(g.option.effect, Some(OptionEffect::Replaces(_)))));
    for value in call
        .options
        .iter()
        .filter(|g| g.name == "-F" && call.path.contains("perl"))
        .filter_map(|g| g.value.as_ref())
    {
        if !is_field_separator(&value.text) || !value.known() {
            analysis.find(
                Effect::Code,
                value.span,
                "`perl` makes the value of `-F` a part of the program",
            );
        }
    }
    // To Lua the first operand is a script, whatever else it ran.
    if given && language(&call.path) == Some(Language::Lua) && !call.operands.is_empty() {
        option_values(&mut analysis, context, call, input);
        return analysis.then(program(context, call, whole, input));
    }
    if given || only {
        for operand in &call.operands {
            analysis.input_file(&operand.arg);
            // Perl opens what `-n` and `-p` read in its old way: a name may be a command.
            let text = &operand.arg.text;
            if call.path.ends_with("perl")
                && (text.contains(['|', '>', '<']) || text.starts_with(char::is_whitespace))
            {
                analysis.find(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs or writes a name with `|` or `>`",
                );
                analysis.shell_text(
                    &operand.arg.with(text.trim_matches(['|', '>', '<', ' '])),
                    &Input::Unknown,
                );
            } else if call.path.ends_with("perl") && may_be_command(&operand.arg) {
                analysis.find(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs names that end in `|`, and these names are unknown",
                );
            }
        }
        // The texts decide: a plain call would run code.
        if given
            && !only
            && !call
                .options
                .iter()
                .any(|g| matches!(g.option.effect, Some(OptionEffect::Replaces(_))))
        {
            return analysis.with_effect(Effect::Read);
        }
        return analysis.without_operands();
    }
    analysis.then(program(context, call, whole, input))
}

/// Analyzes an interpreter without a script in an option.
pub(super) fn program(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_option_effects(&mut analysis, call);
    match call.operands.first() {
        Some(file) if file.arg.text != "-" => {
            analysis.code_file(&file.arg);
            if let Some(Contents::Text(text)) =
                context.environment.files.get(&file.arg.text).cloned()
            {
                run_code(&mut analysis, call, &text, file.arg.span);
            } else {
                analysis.find(
                    Effect::Code,
                    file.arg.span,
                    format!("`{}` runs the file `{}`", call.path, shown(&file.arg)),
                );
            }
        }
        _ => match input {
            Input::Known(text) => run_code(&mut analysis, call, text, whole),
            _ => analysis.runs_unseen(
                whole,
                UnseenCode::Input,
                format!("`{}` runs its input", call.path),
            ),
        },
    }
    note_unrecognized(&mut analysis, call);
    analysis.done()
}

/// Returns whether the unknown name of a file may be a command, by its known first and last
/// character.
fn may_be_command(name: &Arg) -> bool {
    if name.known() && !name.glob {
        return false;
    }
    let text = name.text.as_str();
    let letter = |c: char| c.is_alphanumeric() || "._/-~".contains(c);
    !(text.starts_with(letter) && text.ends_with(letter))
}
