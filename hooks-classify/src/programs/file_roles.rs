//! Operands that name files: a role and its words in, the reads and writes of the files out.

use crate::analysis::{Analysis, Context, FileList};
use crate::model::arg::{Arg, UNKNOWN, display_text};
use crate::model::device::{is_device, is_kernel_setting};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::options::call::{Call, Operand};

/// Reads files, if the call prints their contents.
pub(super) fn read_files(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    role: Role,
    files: &[Arg],
) {
    if role == Role::Name && !prints_contents(call) {
        return;
    }
    let recursive = reads_recursively(call) && !reads_only_source(context, call);
    for file in files {
        analysis.read_path(file, recursive);
    }
}

/// Reads files whose names fit patterns.
pub(super) fn read_matching_files(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    filters: &[Arg],
) {
    if call.program.details.contents.is_some() && !prints_contents(call) {
        return;
    }
    for filter in filters {
        for pattern in patterns_of_filter(&filter.text) {
            analysis.read_file(&filter.with_text(&pattern));
            let name = pattern.rsplit('/').next().unwrap_or("");
            if context.tables.matches_secret_names(name) && !context.tables.is_source(name) {
                let reason = format!("reads files `{pattern}`, a name of secrets");
                analysis.require_confirmation(filter.span, reason);
            }
        }
    }
}

/// Reads the files that are named in files, or on the input where the name is `-`.
pub(super) fn read_listed_files(
    analysis: &mut Analysis,
    call: &Call,
    lists: &[Arg],
    input: &Input,
) {
    for list in lists {
        analysis.read_file_list(FileList {
            list: list.clone(),
            input: input.clone(),
            metadata_only: prints_only_metadata(call),
            recursive: reads_recursively(call),
        });
    }
}

/// Requires confirmation for files of settings, unless only the user puts files in their folder.
pub(super) fn read_settings(analysis: &mut Analysis, path: &str, files: &[Arg]) {
    for file in files.iter().filter(|file| !is_in_private_folder(file)) {
        let reason = format!(
            "`{path}` follows `{}`, which may name a program",
            display_text(file)
        );
        analysis.require_confirmation(file.span, reason);
    }
}

/// Writes files.
pub(super) fn write_files(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    files: &[Arg],
) {
    for file in files.iter().filter(|file| call.is_file(&file.text)) {
        let effect = if is_device(&file.text) {
            Effect::Delete
        } else if is_kernel_setting(&file.text)
            || is_also_operand(call, file)
            || context.names_existing_file(file.path())
        {
            Effect::Update
        } else {
            Effect::Create
        };
        let reason = format!("`{}` writes `{}`", call.path, display_text(file));
        analysis.add_finding(effect, file.span, reason);
        analysis.forget_file_contents(file);
    }
}

/// Returns `true` if a written file is also another operand, so that it already exists.
fn is_also_operand(call: &Call, file: &Arg) -> bool {
    let same = |operand: &&Operand| operand.arg.text == file.text && operand.arg.is_known();
    let count = call.operands.iter().filter(same).count();
    count > usize::from(is_written_operand(call, file))
}

/// Returns `true` if a written file is an operand rather than the value of an option.
fn is_written_operand(call: &Call, file: &Arg) -> bool {
    !call.options.iter().any(|opt| {
        let value = opt.value.as_ref();
        opt.spec.role == Role::Output && value.is_some_and(|value| value.text == file.text)
    })
}

/// Changes files.
pub(super) fn change_files(analysis: &mut Analysis, call: &Call, files: &[Arg]) {
    for file in files.iter().filter(|file| call.is_file(&file.text)) {
        let effect = match is_device(&file.text) {
            true => Effect::Delete,
            false => Effect::Update,
        };
        analysis.add_finding(
            effect,
            file.span,
            format!("`{}` changes `{}`", call.path, display_text(file)),
        );
    }
}

/// Deletes files.
pub(super) fn delete_files(analysis: &mut Analysis, path: &str, files: &[Arg]) {
    for file in files {
        let reason = format!("`{path}` deletes `{}`", display_text(file));
        analysis.add_finding(Effect::Delete, file.span, reason);
    }
}

/// Returns `true` if a call reads only source texts in the folders among its operands.
fn reads_only_source(context: &Context<'_>, call: &Call) -> bool {
    let filters = call
        .options
        .iter()
        .filter(|opt| opt.spec.role == Role::Filter);
    let values = filters.filter_map(|opt| opt.value.as_ref());
    // A filter that leaves files out allows any other file.
    let mut values = values
        .filter(|value| !value.text.starts_with('!'))
        .peekable();
    values.peek().is_some()
        && values.all(|value| {
            let patterns = patterns_of_filter(&value.text);
            let is_source = |pattern: &String| context.tables.is_source(pattern);
            patterns.iter().all(is_source)
        })
}

/// Returns `true` if a call prints the contents of the files that it names.
fn prints_contents(call: &Call) -> bool {
    // Options before the name of a command do not belong to the command.
    let own_options = || {
        let options = call.options.iter();
        options.filter(|opt| opt.index_in(call).is_some())
    };
    let has_any = |names: &[&str]| own_options().any(|opt| names.contains(&opt.name.as_str()));
    call.program
        .details
        .contents
        .as_ref()
        .is_some_and(|contents| {
            let name = call.path.rsplit(' ').next().unwrap_or("");
            let by_itself = !contents.only_on.contains(&name);
            has_any(contents.on) || by_itself && !has_any(contents.off)
        })
}

/// Returns `true` if a call reads all files below the folders that it names.
pub(crate) fn reads_recursively(call: &Call) -> bool {
    let has_any = |names: &[&str]| {
        call.options
            .iter()
            .any(|opt| names.contains(&opt.name.as_str()))
    };
    let rule = call.program.details.recurses.as_ref();
    rule.is_some_and(|own| {
        let always = own.on.is_empty() || own.names.contains(&call.path.as_str());
        !has_any(own.off) && (always || has_any(own.on))
    })
}

/// Returns `true` if a program prints only metadata of its files, such as their number of lines,
/// and no contents.
pub(crate) fn prints_only_metadata(call: &Call) -> bool {
    let takes = |role: Role| {
        call.program
            .operands
            .iter()
            .any(|(other, _)| *other == role)
    };
    takes(Role::Name) && !takes(Role::Input) && !prints_contents(call)
}

/// Returns the patterns of names that a filter of files consists of; none if it leaves files out.
fn patterns_of_filter(filter: &str) -> Vec<String> {
    if filter.starts_with('!') {
        return Vec::new();
    }
    // A regular expression is reduced to the name that is likely meant.
    let filter = filter.replace(['\\', '^', '$'], "");
    match filter.split_once('{').and_then(|(before, rest)| {
        let (choice, after) = rest.split_once('}')?;
        Some((before, choice, after))
    }) {
        Some((before, choice, after)) => choice
            .split(',')
            .map(|one| format!("{before}{one}{after}"))
            .collect(),
        None => vec![filter],
    }
}

/// Returns `true` if only the user puts files in the folder of a file.
pub(crate) fn is_in_private_folder(file: &Arg) -> bool {
    let text = file.path();
    !text.contains(UNKNOWN)
        && !text.split('/').any(|part| part == "..")
        && text.starts_with(['/', '~'])
        && !["/tmp/", "/var/tmp/", "/dev/"]
            .iter()
            .any(|shared| text.starts_with(shared))
}
