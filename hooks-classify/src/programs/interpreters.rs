//! Interpreters: a call and its input in, the script that runs out.

use super::code_roles::script_language;
use super::effect::{note_option_effects, note_unrecognized, operand_words};
use super::packages::program_of_file;
use super::roles::note_option_values;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// Runs a text in the language of the interpreter.
fn run_code(analysis: &mut Analysis, call: &Call, text: &str, span: Span) {
    let language = script_language(call).unwrap_or(Language::Code);
    analysis.run_script(language, &Arg::new(text, span), call);
}

/// Returns `true` if Perl reads a value of `-F` harmless as a separator of fields.
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
    let language = script_language(call);
    let is_perl = language == Some(Language::Perl);
    let has_script_option = call
        .options
        .iter()
        .any(|opt| matches!(opt.spec.role, Role::Script(_)));
    let harmless = call
        .options
        .iter()
        .any(|opt| matches!(opt.spec.effect, Some(OptionEffect::Forces(_))))
        || (call.operands.is_empty()
            && call
                .options
                .iter()
                .any(|opt| matches!(opt.spec.effect, Some(OptionEffect::Replaces(_)))));
    for value in call
        .options
        .iter()
        .filter(|opt| is_perl && opt.name == "-F")
        .filter_map(|opt| opt.value.as_ref())
    {
        if !is_field_separator(&value.text) || !value.is_known() {
            analysis.add_finding(
                Effect::Code,
                value.span,
                "`perl` makes the value of `-F` a part of the program",
            );
        }
    }
    // The first operand of Lua is a script, also after `-e`.
    if has_script_option && language == Some(Language::Lua) && !call.operands.is_empty() {
        note_option_values(&mut analysis, context, call, input);
        return analysis.then(analyze_script_file(context, call, whole, input));
    }
    if has_script_option || harmless {
        for operand in &call.operands {
            analysis.read_file(&operand.arg);
            // Perl opens the inputs of `-n` and `-p` with the two-argument `open`: a name may be a
            // command.
            let text = &operand.arg.text;
            if is_perl && (text.contains(['|', '>', '<']) || text.starts_with(char::is_whitespace))
            {
                analysis.add_finding(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs or writes a name with `|` or `>`",
                );
                analysis.run_shell_text(
                    &operand
                        .arg
                        .with_text(text.trim_matches(['|', '>', '<', ' '])),
                    &Input::Unknown,
                );
            } else if is_perl && may_be_command(&operand.arg) {
                analysis.add_finding(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs names that end in `|`, and these names are unknown",
                );
            }
        }
        // The texts decide; without them the call runs code.
        if has_script_option
            && !harmless
            && !call
                .options
                .iter()
                .any(|opt| matches!(opt.spec.effect, Some(OptionEffect::Replaces(_))))
        {
            return analysis.with_effect(Effect::Read);
        }
        return analysis.without_operands();
    }
    analysis.then(analyze_script_file(context, call, whole, input))
}

/// Analyzes an interpreter without a script in an option.
pub(super) fn analyze_script_file(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    note_option_effects(&mut analysis, call);
    match call.operands.first() {
        Some(file) if file.arg.text != "-" => {
            analysis.record_code_file(&file.arg);
            if let Some(FileContents::Text(text)) =
                context.environment.files.get(&file.arg.text).cloned()
            {
                run_code(&mut analysis, call, &text, file.arg.span);
            } else {
                analysis.add_finding(
                    Effect::Code,
                    file.arg.span,
                    format!(
                        "`{}` runs the file `{}`",
                        call.path,
                        display_text(&file.arg)
                    ),
                );
                run_program_of_file(&mut analysis, context, call, whole, input);
            }
        }
        _ => match input {
            Input::Known(text) => run_code(&mut analysis, call, text, whole),
            _ => analysis.add_unseen_code(
                whole,
                UnseenCode::Input,
                format!("`{}` runs its input", call.path),
            ),
        },
    }
    note_unrecognized(&mut analysis, call);
    analysis.done()
}

/// Runs the call of the program that the file of a script probably contains. The command is confirmed in
/// any case.
fn run_program_of_file(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) {
    let words = operand_words(call);
    if let Some((file, rest)) = words.split_first()
        && file.is_known()
        && let Some(name) = program_of_file(context.tables, &file.text)
        && let Some(program) = context.tables.program(name)
    {
        analysis.run_call(Call::read(name, program, rest), whole, input);
    }
}

/// Returns `true` if the unknown name of a file may be a command, by its known first and last
/// character.
fn may_be_command(name: &Arg) -> bool {
    if name.is_known() && !name.glob {
        return false;
    }
    let text = name.text.as_str();
    let letter = |c: char| c.is_alphanumeric() || "._/-~".contains(c);
    !(text.starts_with(letter) && text.ends_with(letter))
}

#[cfg(test)]
mod tests {
    use crate::{Classifier, Crud};

    fn class(command: &str) -> Crud {
        Classifier::new().classify(command).unwrap().crud
    }

    #[test]
    fn every_name_of_an_interpreter_selects_its_language() {
        for name in ["perl", "perl5"] {
            assert_eq!(class(&format!("{name} -ne 'print' a.txt")), Crud::Read);
            assert_eq!(
                class(&format!("{name} -ne 'print' 'rm a|'")),
                Crud::Delete,
                "{name} runs a file name with a bar as a command"
            );
            let separator = format!("{name} -F'/;unlink q(a);/' -ane 'print' a.txt");
            assert_ne!(class(&separator), Crud::Read, "{name}");
        }
        for name in ["ruby", "truffleruby"] {
            assert_eq!(class(&format!("echo 'puts 1' | {name}")), Crud::Read);
            assert_eq!(
                class(&format!("echo 'File.delete(%q(a))' | {name}")),
                Crud::Delete
            );
        }
    }
}
