//! Operands and option values by role: words in, their effects out.

use super::code_roles::{load_modules, run_pagers};
use super::code_roles::{run_program, run_script, run_script_files, run_shell_text, run_words};
use super::config::note_setting;
use super::file_roles::{
    change_files, delete_files, read_files, read_listed_files, read_matching_files,
};
use super::file_roles::{read_settings, write_files};
use super::request_roles::send_words;
use super::request_roles::{check_endpoints, check_hosts, note_methods, note_requests_in_files};
use crate::analysis::{Analysis, Context, OutputAction};
use crate::model::arg::{Arg, display_text};
use crate::model::io::Input;
use crate::model::role::Role;
use crate::options::call::{Call, ParsedOption};

/// Notes the effects of words in a role; returns the action whose output is printed.
pub(super) fn note_role(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    role: Role,
    args: &[Arg],
    input: &Input,
) -> OutputAction {
    let path = call.path.as_str();
    analysis.record_role(role, args);
    // The functions of programs that search for files note the files themselves.
    let finds = matches!(call.program.function(), Some("find" | "fd"));
    if matches!(role, Role::Input | Role::Name) && !finds {
        args.iter().for_each(|arg| analysis.add_printed_path(arg));
    }
    match role {
        Role::Text | Role::Format | Role::Folder => {}

        Role::Input | Role::Name => read_files(analysis, context, call, role, args),
        Role::Filter => read_matching_files(analysis, context, call, args),
        Role::List => read_listed_files(analysis, call, args, input),
        Role::Settings => read_settings(analysis, path, args),
        Role::Output => write_files(analysis, context, call, args),
        Role::Append | Role::Update => change_files(analysis, call, args),
        Role::Delete => delete_files(analysis, path, args),

        Role::Argv { more } => return run_words(analysis, args, more, input),
        Role::Shell => return run_shell_text(analysis, args, input),
        Role::Module => load_modules(analysis, path, args),
        Role::Pager => run_pagers(analysis, context, path, args),
        Role::Program => args.iter().for_each(|arg| run_program(analysis, path, arg)),
        Role::Script(language) => run_script(analysis, language, args, call),
        Role::ScriptFile => run_script_files(analysis, path, args),

        Role::Host => check_hosts(analysis, context, args),
        Role::Url | Role::Send | Role::Header => send_words(analysis, context, path, role, args),
        Role::Endpoint => check_endpoints(analysis, context, path, args),
        Role::Request => note_requests_in_files(analysis, path, args),
        Role::Method => note_methods(analysis, path, args),

        Role::Config => args
            .iter()
            .for_each(|arg| note_setting(analysis, call, arg)),
        Role::Setting => args
            .iter()
            .for_each(|arg| analysis.check_printed_variable(&display_text(arg), arg.span)),
    }
    OutputAction::NONE
}

/// Notes the effects of the values of all options.
pub(super) fn note_option_values(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    input: &Input,
) {
    for opt in &call.options {
        // The function of the program reads it.
        if !reads_commands_from_input(call, opt) {
            note_option_value(analysis, context, call, opt, input);
        }
    }
}

/// Notes the effects of the value of an option.
pub(super) fn note_option_value(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    opt: &ParsedOption,
    input: &Input,
) {
    let option_role = opt.spec.role;
    if matches!(option_role, Role::Argv { .. }) {
        note_role(analysis, context, call, option_role, &opt.command, input);
    } else if let Some(value) = &opt.value {
        let values = std::slice::from_ref(value);
        note_role(analysis, context, call, option_role, values, input);
    }
}

/// Returns `true` if an option makes a client read commands from its standard input.
pub(super) fn reads_commands_from_input(call: &Call, opt: &ParsedOption) -> bool {
    call.path == "psql"
        && opt.spec.role == Role::ScriptFile
        && opt.value.as_ref().is_some_and(|value| value.text == "-")
}
