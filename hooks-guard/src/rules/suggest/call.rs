//! Reads the calls of an approved command that need a rule. In: a request with its classification.
//! Out: the calls, or the reason why no rule is suggested for the command.

use crate::classify::{Crud, Part, PartCall, Script, Tables, Word};
use crate::rules::allow::parts_needing_rule;
use crate::rules::context::{RequestContext, name_of};
use crate::rules::cover::{arguments_after, substitutes};
use crate::shell_word::single_quoted;

/// Maximum number of characters of a word in a suggested rule.
const MAX_WORD_CHARS: usize = 200;

/// Options whose value is a text for people.
pub(super) const TEXT_OPTIONS: &[&str] = &[
    "-m",
    "--message",
    "--title",
    "--body",
    "--description",
    "--notes",
];

/// Call of a program in an approved command.
#[derive(Clone, Debug)]
pub(super) struct ApprovedCall {
    /// Index of the part.
    pub(super) part: usize,
    pub(super) program: String,
    /// Subcommand by the program's table.
    pub(super) subcommand: Vec<String>,
    /// Words after the subcommand, up to the first option.
    pub(super) operands: Vec<String>,
    /// The first option, and the words after it.
    pub(super) rest: Vec<String>,
    pub(super) class: Crud,
    /// Paths of redirections, as written.
    pub(super) redirections: Vec<String>,
    /// The files that the call names. Empty if a file is outside of the directory, or unknown.
    pub(super) files: Vec<NamedFile>,
    /// `true` if a call with fewer options, or with the operands of another call, may do something
    /// else: for all programs except build and test tools, which run the code of the project.
    pub(super) is_strict: bool,
    /// The words, quoted for a shell.
    pub(super) text: String,
}

/// File in the directory of the request or of its project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamedFile {
    /// The directory with a slash if the path is written as an absolute path; else empty.
    pub(super) prefix: String,
    /// Path below the directory.
    pub(super) path: String,
}

/// Returns the calls of a command that need a rule. An error holds the reason why no rule is
/// suggested.
pub(super) fn approved_calls(context: &RequestContext<'_>) -> Result<Vec<ApprovedCall>, String> {
    if !context.set.is_empty() {
        return Err("it sets a variable".to_owned());
    }
    let inside = |folder: &String| context.base.holds(folder);
    if !context.start.folders.iter().all(inside) {
        return Err("it changes to a directory outside of its directory".to_owned());
    }
    let parts = &context.parts().all;
    let needed = parts_needing_rule(context)?;
    if needed.is_empty() {
        return Err("no part of it needs a rule".to_owned());
    }
    let index_of = |part: &Part| parts.iter().position(|one| std::ptr::eq(one, part));
    let calls = needed.into_iter().map(|part| {
        let index = index_of(part).unwrap_or_default();
        approved_call(context, index, part)
    });
    calls.collect()
}

fn approved_call(
    context: &RequestContext<'_>,
    index: usize,
    part: &Part,
) -> Result<ApprovedCall, String> {
    check_features(context, index, part)?;
    let name = name_of(part);
    let program = part.program().unwrap_or_default().to_owned();
    let outside = |text: &str| relative_paths(context, text).is_none();
    let mut files = part.code_files.iter().chain(&part.settings_files);
    if (program.contains('/') && outside(&program)) || files.any(|file| outside(&file.text)) {
        return Err("it runs a file outside of its directory".to_owned());
    }
    let call = match part.calls.as_slice() {
        [call] if call.understood => Some(call),
        _ => None,
    };
    // Build and test tools run the code of a project, which they find by the name of a file.
    let runs_scripts = part.manifests.is_empty() && may_run_any_code(part, name);
    if runs_scripts {
        check_script(context, index, part, name)?;
    }
    let path = call.map_or(&[][..], |call| call.path.get(1..).unwrap_or_default());
    let mut subcommand = path.to_vec();
    let words = match arguments_after(part, Some(std::slice::from_ref(&subcommand))) {
        Some(words) => words,
        None => {
            subcommand.clear();
            arguments_after(part, None).unwrap_or_default()
        }
    };
    let unusable = |word: &&str| {
        word.is_empty()
            || (word.chars().count() > MAX_WORD_CHARS && !word.contains(' '))
            || word.contains(|c: char| c.is_control() && c != '\n' && c != '\t')
    };
    if words.iter().any(unusable) {
        return Err("a word of it is empty, too long, or contains control characters".to_owned());
    }
    check_packages(part, &words)?;
    let operand = |word: &&str| !word.starts_with('-') && !word.contains(char::is_whitespace);
    let count = words.iter().take_while(|word| operand(word)).count();
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let files = match call {
        Some(call) if !runs_scripts => named_files(context, part, call),
        _ => Vec::new(),
    };
    let is_build = call.is_some()
        && part.is_opaque
        && part.effect == Crud::Create
        && !part.manifests.is_empty()
        && part.hosts.is_empty()
        && !Tables::embedded().installs_packages(part);
    let mut redirections: Vec<String> = Vec::new();
    for touch in &part.redirections {
        if relative_paths(context, &touch.path.text).is_none() {
            return Err("a redirection leads outside of its directory".to_owned());
        }
        redirections.push(touch.path.text.clone());
    }
    Ok(ApprovedCall {
        part: index,
        text: quoted(part),
        program,
        operands: owned(&words[..count]),
        rest: owned(&words[count..]),
        subcommand,
        class: part.effect,
        redirections,
        files,
        is_strict: !is_build,
    })
}

/// Returns an error for features that no suggested rule accepts.
fn check_features(context: &RequestContext<'_>, index: usize, part: &Part) -> Result<(), String> {
    let name = name_of(part);
    let parts = &context.parts().all;
    let around = || std::iter::once(part).chain(context.around(part));
    if around().any(|part| !part.here_documents.is_empty()) {
        return Err("it has a here-document".to_owned());
    }
    if substitutes(context, part) {
        return Err("it has a substitution".to_owned());
    }
    if let Some(outer) = context.around(part).find(|outer| !outer.words.is_empty()) {
        return Err(format!("`{}` runs another program", name_of(outer)));
    }
    let runs = |inner: &Part| inner.parent == Some(index) && !inner.words.is_empty();
    if parts.iter().any(runs) {
        return Err(format!("`{name}` runs another program"));
    }
    if part.words.iter().any(|word| !word.known)
        || part.redirections.iter().any(|touch| !touch.path.known)
    {
        return Err("a word of it is only known when it runs".to_owned());
    }
    if let Some(code) = part.unseen_code {
        return Err(format!("it {}", code.reason()));
    }
    if around().any(|part| !part.assignments.is_empty()) {
        return Err("it sets a variable".to_owned());
    }
    if context
        .around(part)
        .any(|part| !part.redirections.is_empty())
    {
        return Err("a group of commands is redirected".to_owned());
    }
    if part.has_config_override {
        return Err("an option changes a setting that may change what runs".to_owned());
    }
    match part.effect_with_children {
        Crud::Delete => Err("it deletes".to_owned()),
        Crud::Read if part.ask => Err("it may read secrets".to_owned()),
        _ => Ok(()),
    }
}

/// Returns `true` for interpreters, shells and programs that run text of their input.
fn may_run_any_code(part: &Part, name: &str) -> bool {
    let tables = Tables::embedded();
    part.runs_input
        || tables.is_shell(name)
        || (part.calls.is_empty() && tables.is_interpreter(name))
}

/// Returns an error unless an interpreter runs a script file of the project.
fn check_script(
    context: &RequestContext<'_>,
    index: usize,
    part: &Part,
    name: &str,
) -> Result<(), String> {
    if part.input.is_some() {
        return Err(format!("`{name}` may run its input"));
    }
    let is_own = |script: &Script| script.part == Some(index);
    if context.parts().scripts.iter().any(is_own) {
        return Err(format!("`{name}` runs code in the command"));
    }
    match part.code_files.is_empty() {
        true => Err(format!("`{name}` may run any code")),
        false => Ok(()),
    }
}

/// Returns an error if a call may fetch code that it names, and run it.
fn check_packages(part: &Part, words: &[&str]) -> Result<(), String> {
    let tables = Tables::embedded();
    let names_package = |word: &&str| !word.starts_with(['-', '.']);
    let installs = tables.installs_packages(part) && words.iter().any(names_package);
    let remote =
        part.is_opaque && (!part.hosts.is_empty() || words.iter().any(|word| word.contains("://")));
    match tables.runs_packages(part) || installs || remote {
        true => Err("it may run code from the network".to_owned()),
        false => Ok(()),
    }
}

/// Returns the files that a call names, if all of them are known and inside the directory.
fn named_files(context: &RequestContext<'_>, part: &Part, call: &PartCall) -> Vec<NamedFile> {
    let touched = part.path_effects.iter().map(|touch| &touch.path);
    let adds = call.path.iter().map(String::as_str).eq(["git", "add"]);
    let is_file = |operand: &Word| adds || touched.clone().any(|path| path.text == operand.text);
    // Another operand, such as a script of `sed`, has no limits as a path.
    if !call.operands.iter().all(is_file) {
        return Vec::new();
    }
    let mut files = Vec::new();
    for word in touched.chain(&call.operands) {
        let paths = relative_paths(context, &word.text).filter(|_| word.known);
        let Some(paths) = paths else {
            return Vec::new();
        };
        let prefix = match word.text.starts_with('/') {
            true => format!("{}/", context.base.names[0].trim_end_matches('/')),
            false => String::new(),
        };
        files.extend(paths.into_iter().map(|path| NamedFile {
            prefix: prefix.clone(),
            path,
        }));
    }
    files
}

/// Returns the paths that a text may mean, relative to the directory of the request or of its
/// project; `None` if one of them is outside, or in another directory of the user's home by `~`.
fn relative_paths(context: &RequestContext<'_>, text: &str) -> Option<Vec<String>> {
    if text.starts_with('~') {
        return None;
    }
    let located = context.start.locate(text);
    if !located.known() {
        return None;
    }
    let inside = |name: &String| context.base.strip_prefix(name).map(str::to_owned);
    let mut paths: Vec<String> = located.names.iter().map(inside).collect::<Option<_>>()?;
    paths.dedup();
    Some(paths)
}

/// Returns the words of a part, quoted for a shell.
fn quoted(part: &Part) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=+,:@%".contains(c);
    let words = part.words.iter().map(|word| {
        let text = word.text.as_str();
        match !text.is_empty() && text.chars().all(is_plain) {
            true => text.to_owned(),
            false => single_quoted(text),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
