//! Tells where a request makes changes. In: a request with its classification. Out: whether it only
//! edits named files of the project, changes something outside of it, or neither is certain.

use std::path::Path;

use super::allow;
use super::context::{RequestContext, base_name, candidates};
use super::packages::downloaded_package;
use super::protect::display_text;
use super::verdict::changes;
use crate::classify::{
    CommandAnalysis, Crud, FileOperation, Part, PathEffect, SlashWords, Tables, UNKNOWN, Word,
};
use crate::request::{AgentToolEffect, PermissionRequest};

/// Variables that name a directory in which a program makes its changes.
const CHOOSE_DIRECTORIES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "CARGO_TARGET_DIR", "DESTDIR"];

/// Place of the changes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeScope {
    /// The request only creates or updates files and folders that it names and that are inside the
    /// project.
    ProjectEdit,
    /// The request changes something outside of the project, or runs code from the network: the
    /// reason.
    Outside(String),
    /// The request changes other things, or it is unknown what it changes.
    Other,
}

/// Returns the place of the changes of a request. `home` is the user's home directory.
pub(crate) fn change_scope(
    request: &PermissionRequest,
    found: &CommandAnalysis,
    home: &Path,
) -> ChangeScope {
    if let Some(AgentToolEffect::Does(does)) =
        request.tool.as_ref().and_then(|tool| tool.effect.as_ref())
    {
        return ChangeScope::Outside(format!("it {does}"));
    }
    if request.file.is_none() && !request.is_command() {
        return ChangeScope::Other;
    }
    let context = RequestContext::new(request, found, None, home);
    let outside = match &request.file {
        Some(file) if file.effect > Crud::Read => {
            let mut paths = file.paths.iter().map(|path| path.to_string_lossy());
            let path = paths.find(|path| !context.is_project_file(&context.start.locate(path)));
            path.map(|path| outside_file(&path))
        }
        Some(_) => None,
        None => outside_command(&context),
    };
    if let Some(why) = outside {
        return ChangeScope::Outside(why);
    }
    let changes = matches!(found.classification.crud, Crud::Create | Crud::Update);
    let edits = match &request.file {
        Some(file) => {
            let mut paths = file.paths.iter().map(|path| path.to_string_lossy());
            !file.paths.is_empty() && !paths.any(|path| Tables::embedded().is_secret(&path))
        }
        None => edits_named_files(&context),
    };
    match changes && edits && request.cwd.is_some() {
        true => ChangeScope::ProjectEdit,
        false => ChangeScope::Other,
    }
}

fn outside_file(path: &str) -> String {
    format!("`{}` is outside of the project", display_text(path))
}

/// Returns why a command changes something outside of the project, if that is known.
fn outside_command(context: &RequestContext<'_>) -> Option<String> {
    let parts = &context.parts().all;
    let is_changing = |part: &Part| part.ask && changes(part.effect);
    let changing = || parts.iter().filter(|part| is_changing(part));
    let file = changing().flat_map(changed_files).find(|file| {
        let folder = folder_of_pattern(&file.path);
        let path = match folder {
            Some(folder) => context.start.locate(folder),
            None => context.locate(&file.path),
        };
        // The home directory of another user is unknown, but outside.
        let is_of_other_user = file.path.text.starts_with('~') && !path.known();
        is_of_other_user || path.known() && !context.is_project_file(&path)
    });
    if let Some(file) = file {
        return Some(outside_file(&file.path.text));
    }
    let named = changing().flat_map(words_that_are_paths);
    let assigned = parts.iter().flat_map(|part| &part.assignments);
    let assigned = assigned
        .filter(|one| CHOOSE_DIRECTORIES.contains(&one.name.as_str()))
        .map(|one| one.value.text.as_str())
        .filter(|_| changing().next().is_some());
    let scripts = context.parts().scripts.iter();
    let scripts = scripts
        .filter(|script| {
            let part = script.part.and_then(|at| parts.get(at));
            part.is_none_or(is_changing)
        })
        .flat_map(|script| paths_in_script(&script.text));
    let mut named = named.chain(assigned).chain(scripts).filter(|word| {
        let path = context.start.locate(word);
        path.known() && !context.project().holds(&path)
    });
    if let Some(word) = named.next() {
        return Some(outside_file(word));
    }
    let works_outside = |part: &&Part| Tables::embedded().works_outside(part);
    if let Some(part) = parts.iter().find(works_outside) {
        let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
        let words = display_text(&words.join(" "));
        return Some(format!("`{words}` works outside of the project"));
    }
    let mut folders = context.start.folders.iter();
    if let Some(folder) = folders.find(|folder| !context.project().holds_name(folder))
        && changing().next().is_some()
    {
        return Some(match folder.contains(UNKNOWN) {
            true => "it runs in a directory that is unknown until it runs".to_owned(),
            false => format!("it runs in {}", outside_file(folder)),
        });
    }
    let mut downloaded = parts
        .iter()
        .filter_map(|part| downloaded_package(context, part));
    if let Some(run) = downloaded.next() {
        return Some(match run.package {
            Some(name) => format!(
                "it may download the package `{}` and run its code",
                display_text(name)
            ),
            None => "it may download a package and run its code".to_owned(),
        });
    }
    let downloads: Vec<&Part> = parts
        .iter()
        .filter(|part| part.names_other_host())
        .collect();
    let runs_code = changing().filter(|part| part.is_opaque);
    let runs_download = runs_code
        .into_iter()
        .any(|part| downloads.iter().any(|other| other.start < part.end));
    runs_download.then(|| "it may run code from the network".to_owned())
}

/// Returns the texts in a script that can only be paths: they begin with a directory of the root that
/// exists, the home directory or the parent directory.
fn paths_in_script(script: &str) -> impl Iterator<Item = &str> {
    let is_of_path = |c: char| c.is_alphanumeric() || "._-/~+".contains(c);
    let is_path = |token: &&str| {
        let root = token
            .strip_prefix('/')
            .and_then(|rest| rest.split_once('/'));
        let is_folder = |(first, _): (&str, &str)| Path::new("/").join(first).is_dir();
        token.starts_with("../")
            || token.starts_with("~/")
            || root.is_some_and(|root| !root.0.is_empty() && is_folder(root))
    };
    script
        .split(move |c| !is_of_path(c))
        .filter(is_path)
        .take(200)
}

/// Returns the files that a part changes. If a program changes the files that its table calls
/// input, such as `sed -i`, these are the files.
fn changed_files(part: &Part) -> impl Iterator<Item = &PathEffect> {
    let is_changed = |file: &&PathEffect| file.effect > Crud::Read;
    let is_named = |file: &PathEffect| file.effect > Crud::Read && file.effect >= part.effect;
    let names_changed = part.path_effects.iter().any(is_named);
    let edits_input = part.asks_by_program && !part.is_opaque && !names_changed;
    let files = part.path_effects.iter();
    files
        .filter(move |file| edits_input || is_changed(file))
        .chain(part.redirections.iter().filter(is_changed))
}

/// Returns the words of a part that can only be paths and that the tables do not call a file to read:
/// the program may change what they name.
fn words_that_are_paths(part: &Part) -> impl Iterator<Item = &str> {
    let name = part.program().map_or("", base_name);
    let is_known = part.asks_by_program
        && !part.is_opaque
        && Tables::embedded().slash_words(name) != Some(SlashWords::Patterns);
    let is_read = |word: &str| part.path_effects.iter().any(|file| file.path.text == word);
    let words = part.words.iter().skip(1).filter(|word| word.known);
    let words = words.flat_map(|word| candidates(&word.text));
    let is_path = |word: &&str| {
        word.starts_with(['/', '~']) || word.split('/').any(|component| component == "..")
    };
    words
        .filter(move |_| is_known)
        .filter(is_path)
        .filter(move |word| !is_read(word))
}

/// Returns the folder before the first wildcard of a pattern of file names.
fn folder_of_pattern(word: &Word) -> Option<&str> {
    if !word.is_glob || word.text.contains(UNKNOWN) {
        return None;
    }
    let at = word.text.find(['*', '?', '[', '{'])?;
    match word.text[..at].rfind('/') {
        Some(0) => Some("/"),
        Some(end) => Some(&word.text[..end]),
        None => Some("."),
    }
}

/// Returns `true` if a command only creates or updates files that it names, all inside the project.
fn edits_named_files(context: &RequestContext<'_>) -> bool {
    let parts = context.parts();
    if allow::opaque_reason(context).is_some() || !context.set.is_empty() {
        return false;
    }
    let is_inside = |file: &PathEffect| {
        file.path.known
            && context.is_project_file(&context.locate(&file.path))
            && !Tables::embedded().is_secret(&file.path.text)
    };
    let mut may_lead_outside = false;
    for part in &parts.all {
        let written = || {
            let files = part.redirections.iter();
            files.filter(|file| file.effect > Crud::Read)
        };
        if !part.ask && written().next().is_none() {
            continue;
        }
        let is_wrapped = context.around(part).any(|around| !around.words.is_empty());
        let is_edit = !may_lead_outside
            && !is_wrapped
            && !part.is_opaque
            && part.effect < Crud::Delete
            && part.assignments.is_empty()
            && written().all(is_inside)
            && (!part.asks_by_program
                || is_editor(part) && part.path_effects.iter().all(is_inside));
        if !is_edit {
            return false;
        }
        // A later write could lead through the link.
        may_lead_outside |= part.asks_by_program && Tables::embedded().places_links(part);
    }
    true
}

/// Returns `true` if a part is an editor, and its words name every file that it changes.
fn is_editor(part: &Part) -> bool {
    let Some(name) = part.program() else {
        return false;
    };
    let tables = Tables::embedded();
    let is_copy = tables.file_operation(name) == Some(FileOperation::Copy);
    tables.edits_named_files(name)
        && part.words.iter().all(|word| word.known)
        && !part.path_effects.is_empty()
        && !part.has_config_override
        && part.is_understood()
        && !(is_copy && tables.places_links(part))
}
