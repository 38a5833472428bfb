//! Calls by table: a call in, the effects of its options and operands out.
//!
//! The effects follow from the call, the tables and the environment alone, so this file belongs to
//! `programs/` and not to the walk. An effect that depends on the result of another action is itself an
//! action that the walk performs.

use super::addresses::check_exfiltration;
use super::effect::{note_effect, note_unrecognized, operand_words, prints_help_or_version};
use super::file_roles::reads_recursively;
use super::known_output::known_output;
use super::project_files::{may_reveal_settings, printed_folder};
use super::requests::note_requests;
use super::roles::{note_option_values, note_role};
use super::words::{note_files_in_words, note_remotes, note_services};
use crate::analysis::{Analysis, Context, OutputAction};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Returns the findings before the effect of the program: printed help, and the files and requests
/// among the words of the call.
pub(crate) fn analyze_words(context: &Context<'_>, call: &Call, whole: Span) -> Analysis {
    let mut analysis = Analysis::new();
    if prints_help(call) {
        let reason = format!("`{} {}` prints help", call.path, call.args[0].text);
        analysis.add_finding(Effect::Read, whole, reason);
        return analysis.done();
    }
    note_files_in_words(&mut analysis, call);
    note_services(&mut analysis, call);
    note_requests(&mut analysis, context, call);
    note_found_files(&mut analysis, context, call);
    analysis
}

/// Returns the effects of the values of all options of a call.
pub(crate) fn analyze_option_values(context: &Context<'_>, call: &Call) -> Analysis {
    let mut analysis = Analysis::new();
    note_option_values(&mut analysis, context, call, &Input::Unknown);
    analysis
}

/// Returns findings for the words of a call that the table of the program does not know.
pub(crate) fn analyze_unrecognized(call: &Call) -> Analysis {
    let mut analysis = Analysis::new();
    note_unrecognized(&mut analysis, call);
    analysis
}

/// Returns `true` if a call only prints help, by a word that the program uses for nothing else.
fn prints_help(call: &Call) -> bool {
    let [arg] = call.args.as_slice() else {
        return false;
    };
    let aws = arg.text == "help" && call.path.starts_with("aws ");
    let git =
        arg.text == "-h" && call.path.starts_with("git ") && call.path.split(' ').count() == 2;
    aws || git || arg.is_known() && call.program.details.help.contains(&arg.text.as_str())
}

/// Notes the files that a program reads although no word names them.
fn note_found_files(analysis: &mut Analysis, context: &Context<'_>, call: &Call) {
    if let Some(folder) = &call.program.details.finds {
        analysis.add_pipeline_path(context.possible_path(folder));
    }
    for opt in &call.options {
        if opt.spec.role == Role::Folder
            && let Some(value) = &opt.value
        {
            analysis.add_printed_path(value);
        }
    }
}

/// Returns the analysis of a call by its table. `effect` is the effect that the function of the
/// program found. If `operands` is false, the function analyzed the operands.
pub(crate) fn analyze_by_table(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
    effect: Option<Effect>,
    operands: bool,
) -> Analysis {
    let mut analysis = Analysis::new();
    let options = |analysis: &mut Analysis| {
        note_unrecognized(analysis, call);
        note_effect(analysis, call, effect, whole);
        note_remotes(analysis, call);
        note_option_values(analysis, context, call, input);
        OutputAction::NONE
    };
    // A word that may be several may reach an operand that is written; if the call is known to
    // write anyway, that adds nothing.
    let many = call.operands.iter().find(|operand| operand.arg.may_split);
    match many.filter(|_| operands && writes_operand(call)) {
        Some(operand) => analysis.if_only_reads(options, |analysis| {
            let word = &operand.arg;
            let reason = format!(
                "`{}` writes an operand, and `{}` may be several",
                call.path,
                display_text(word)
            );
            analysis.add_finding(Effect::Unknown, word.span, reason);
            OutputAction::NONE
        }),
        None => drop(options(&mut analysis)),
    }
    let output = match operands {
        true => analyze_operands(&mut analysis, context, call, whole, input),
        false => OutputAction::NONE,
    };
    check_exfiltration(&mut analysis, call, whole);
    let program = &call.program;
    let with_operands = program.details.reveals_given.as_ref();
    let with_operands = with_operands.filter(|_| !call.operands.is_empty());
    let reveals = program
        .details
        .reveals
        .as_ref()
        .filter(|_| !prints_help_or_version(call))
        .filter(|_| may_reveal_settings(context, call));
    if let Some(what) = reveals.or(with_operands) {
        analysis.require_confirmation(whole, format!("`{}` shows {what}", call.path));
    }
    track_alias_file(&mut analysis, call);
    track_cd(&mut analysis, call);
    let known = known_output(call, input, &context.environment.files);
    analysis.known_output = known.or_else(|| printed_folder(context, call));
    analysis.done_with(output)
}

/// Returns `true` if a program writes one of its operands.
fn writes_operand(call: &Call) -> bool {
    let writes = |role: &Role| {
        matches!(
            role,
            Role::Output | Role::Append | Role::Update | Role::Delete
        )
    };
    call.program.operands.iter().any(|(role, _)| writes(role))
}

/// Notes the effects of the operands; returns the action whose output is printed.
fn analyze_operands(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> OutputAction {
    let (roles, extra) = call.roles();
    if let Some(extra) = extra.first() {
        let reason = format!("`{}` takes no operand `{}`", call.path, display_text(extra));
        analysis.add_finding(Effect::Unknown, extra.span, reason);
    }
    // A script does not run together with an option that prints something else.
    let prints_other = prints_help_or_version(call);
    // Without a folder it searches the current folder.
    let files = |role: &Role| matches!(role, Role::Name | Role::Input);
    let names_file = roles
        .iter()
        .any(|(role, args)| files(role) && !args.is_empty());
    let takes_files = call.program.operands.iter().any(|(role, _)| files(role));
    if takes_files && !names_file && input.may_be_absent() && reads_recursively(call) {
        let here = [Arg::new(".", whole)];
        note_role(analysis, context, call, Role::Name, &here, input);
    }
    let mut output = OutputAction::NONE;
    for (operand_role, args) in roles {
        if prints_other && operand_role == Role::Script(Language::Sql) {
            continue;
        }
        output = note_role(analysis, context, call, operand_role, &args, input);
    }
    output
}

/// Remembers that a file has the contents of another file after the call.
fn track_alias_file(analysis: &mut Analysis, call: &Call) {
    if matches!(call.path.as_str(), "ln" | "cp" | "mv" | "install")
        && let [source, target] = call.operands.as_slice()
        && source.arg.is_known()
        && target.arg.is_known()
    {
        analysis.copy_file(&source.arg, &target.arg);
    }
}

/// Remembers the folder that the shell changes to.
fn track_cd(analysis: &mut Analysis, call: &Call) {
    if call.path == "popd" {
        analysis.return_to_earlier_directory();
        return;
    }
    if !matches!(call.path.as_str(), "cd" | "chdir" | "pushd") {
        return;
    }
    let operands = operand_words(call);
    // A later command may print the name of the current folder.
    operands
        .iter()
        .for_each(|arg| analysis.add_printed_path(arg));
    let span = call.args.first().map_or(Span::default(), |arg| arg.span);
    match operands.iter().find(|arg| !arg.text.starts_with('-')) {
        Some(folder) => analysis.change_directory(folder),
        None if call.args.is_empty() && call.path != "pushd" => {
            analysis.change_directory(&Arg::new("~", span));
        }
        // `cd -`, `pushd +1`, `pushd` alone
        None => analysis.return_to_earlier_directory(),
    }
}
