//! Operands that contain or name code: a role and its words in, the code that runs out.

use super::words_as_text::join_words;
use crate::analysis::{Analysis, Context, OutputAction};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Runs a command; with `more`, words follow that are only known when it runs.
pub(super) fn run_words(
    analysis: &mut Analysis,
    words: &[Arg],
    more: bool,
    input: &Input,
) -> OutputAction {
    let mut words = words.to_vec();
    if more {
        let last = words.last().map_or(Span::default(), |word| word.span);
        words.push(Arg::unknown(last));
    }
    match words.is_empty() {
        true => OutputAction::NONE,
        false => analysis.run_words(words, input),
    }
}

/// Runs words as a text of the shell.
pub(super) fn run_shell_text(
    analysis: &mut Analysis,
    words: &[Arg],
    input: &Input,
) -> OutputAction {
    match join_words(words) {
        Some(text) => analysis.run_shell_text(&text, input),
        None => OutputAction::NONE,
    }
}

/// Loads code from files.
pub(super) fn load_modules(analysis: &mut Analysis, path: &str, modules: &[Arg]) {
    for module in modules {
        let text = &module.text;
        // A version is not a path.
        let is_named = text.contains('.') && text.contains(char::is_alphabetic);
        if !module.is_known() || is_named || text.contains(['/', '\\', ':']) {
            analysis.record_code_file(module);
            let reason = format!("`{path}` loads code from `{}`", display_text(module));
            analysis.add_finding(Effect::Code, module.span, reason);
        }
    }
}

/// Runs programs that show text page by page, unless they only do that.
pub(super) fn run_pagers(
    analysis: &mut Analysis,
    context: &Context<'_>,
    path: &str,
    pagers: &[Arg],
) {
    for pager in pagers {
        let variable = context.tables.variable_rule("PAGER", Some(&pager.text));
        if !pager.is_known() || variable.is_some() {
            analysis.record_role(Role::Program, std::slice::from_ref(pager));
            run_program(analysis, path, pager);
        }
    }
}

/// Runs a program with words that are only known when it runs.
pub(super) fn run_program(analysis: &mut Analysis, path: &str, program: &Arg) {
    let reason = format!("`{path}` runs `{}`", display_text(program));
    analysis.add_finding(Effect::Code, program.span, reason);
    let text = program.with_text(&format!("{} \"$_\"", program.text));
    analysis.run_shell_text(&text, &Input::Unknown);
}

/// Runs scripts; in some languages all words are one script.
pub(super) fn run_script(
    analysis: &mut Analysis,
    language: Language,
    scripts: &[Arg],
    call: &Call,
) {
    let is_joined = matches!(
        language,
        Language::Redis | Language::PowerShell | Language::Mongo | Language::Cmd
    );
    if !is_joined {
        for script in scripts {
            analysis.run_script(language, script, call);
        }
    } else if let Some(script) = join_words(scripts) {
        analysis.run_script(language, &script, call);
    }
}

/// Returns the language of the scripts that a program takes by its options or operands.
pub(super) fn script_language(call: &Call) -> Option<Language> {
    let options = call.program.options.values().map(|option| option.role);
    let operands = call.program.operands.iter().map(|(role, _)| *role);
    options.chain(operands).find_map(|role| match role {
        Role::Script(language) => Some(language),
        _ => None,
    })
}

/// Runs the scripts in files.
pub(super) fn run_script_files(analysis: &mut Analysis, path: &str, files: &[Arg]) {
    for file in files {
        analysis.record_code_file(file);
        let reason = format!("`{path}` runs the file `{}`", display_text(file));
        analysis.add_finding(Effect::Code, file.span, reason);
    }
}
