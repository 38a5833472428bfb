//! The agents' tools. In: the name of a tool, and its input. Out: whether it runs a command or
//! touches files, and which files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use hooks_runtime::display::shorten;
use serde_json::Value;

use super::agent::Agent;
use super::agents::OTHER_TOOLS;
use super::description::ToolKind;
use super::error::Problem;
use super::input::{self, JsonObject};
use super::patch;
use crate::classify::{Crud, MAX_COMMAND_CHARS, Tables};
use crate::request::FileAccess;

/// All known tools: those of each agent, and those that no agent registers. A tool is recognised
/// from any agent, because agents run the hooks of other agents.
fn all() -> impl Iterator<Item = (&'static str, ToolKind)> {
    let tools = Agent::ALL
        .into_iter()
        .map(|agent| agent.description().tools);
    tools.chain([OTHER_TOOLS]).flatten().copied()
}

/// Returns the effect of the tool with this name, if it is known. Agents spell names in several
/// ways.
pub(crate) fn tool(name: &str) -> Option<ToolKind> {
    let known = all().find(|(known, _)| plain_chars(known).eq(plain_chars(name)));
    known.map(|(_, tool)| tool)
}

/// Returns `true` if a tool prints the content of a directory's files: it searches them, or reads
/// all of them.
pub(crate) fn searches(name: &str) -> bool {
    tool(name) == Some(ToolKind::Searches) || plain(name) == "readmanyfiles"
}

/// Returns `true` if a tool prints names of files only.
pub(crate) fn lists(name: &str) -> bool {
    tool(name) == Some(ToolKind::Lists)
}

/// Returns `true` for a known tool that runs commands or names files.
pub(crate) fn names_files(name: &str) -> bool {
    tool(name).is_some()
}

/// Returns a name in normalized spelling.
pub(crate) fn plain(name: &str) -> String {
    plain_chars(name).collect()
}

fn plain_chars(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | '.'));
    letters.flat_map(char::to_lowercase)
}

/// Fields in which tools name files.
pub(super) const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "notebookPath",
    "target_file",
    "target_notebook",
    "target_directory",
    "directory_absolute_path",
    "dir_path",
    "dirPath",
    "uri",
    "TargetFile",
    "AbsolutePath",
    "DirectoryPath",
    "SearchPath",
    "SearchDirectory",
];

/// Fields with lists of files.
const LISTS: &[&str] = &["paths", "files", "filePaths", "file_paths", "include"];

/// Fields with lists of objects that may name files.
pub(super) const PARTS: &[&str] = &["edits", "replacements", "operations", "snippets"];

/// Fields in which a patch may be.
pub(super) const PATCHES: &[&str] = &[
    "command",
    "input",
    "patch",
    "patchText",
    "patch_text",
    "diff",
];

/// Maximum number of files of one tool call.
const MAX_FILES: usize = 1_000;

/// Returns the effect of a tool call and its files.
///
/// A search or a list without a path applies to the agent's directory.
pub(crate) fn access(
    name: &str,
    tool: ToolKind,
    arguments: &JsonObject,
    cwd: Option<&Path>,
) -> Result<FileAccess, Problem> {
    let (effect, mut files) = match tool {
        ToolKind::Patch => {
            let text = input::text_of_spellings(arguments, PATCHES)?;
            patch::files(text.ok_or(Problem::Missing { field: "patch" })?)?
        }
        ToolKind::Changes(effect) => (effect, files(tool, arguments)?),
        _ => (Crud::Read, files(tool, arguments)?),
    };
    if matches!(tool, ToolKind::Searches | ToolKind::Lists) {
        // `include` limits a search to file names and does not name the directory.
        let mut others = arguments.clone();
        others.remove("include");
        let names_folder = !self::files(tool, &others)?.is_empty();
        match cwd.and_then(Path::to_str) {
            Some(cwd) if !names_folder => files.push(cwd.to_owned()),
            None if !names_folder && !files.is_empty() => files.push(".".to_owned()),
            _ => {}
        }
    }
    let files = match tool {
        ToolKind::Searches => with_filters(files, arguments)?,
        _ => files,
    };
    if files.is_empty() && !tool.reads() {
        return Err(Problem::Missing { field: "file_path" });
    }
    if files.len() > MAX_FILES {
        return Err(Problem::LongField {
            field: "files",
            most: MAX_FILES,
        });
    }
    Ok(FileAccess {
        tool: name.to_owned(),
        effect,
        paths: files
            .iter()
            .map(|file| plain_path(file))
            .collect::<Result<_, _>>()?,
        input_hash: Some(input::hash(arguments)),
    })
}

/// Describes a file access on one line of at most the length of a command; omitted files are
/// counted.
pub(crate) fn line(access: &FileAccess) -> String {
    let paths = access.paths.iter().map(|path| path.to_string_lossy());
    let words: Vec<_> = std::iter::once(access.tool.as_str().into())
        .chain(paths)
        .collect();
    let whole = words.join(" ");
    if whole.chars().count() <= MAX_COMMAND_CHARS {
        return whole;
    }
    // Reserve space for the number of omitted files.
    let most = MAX_COMMAND_CHARS - format!(" … and {} more", words.len()).chars().count();
    let mut length = 0;
    let fits = |word: &&Cow<'_, str>| {
        length += word.chars().count() + 1;
        length <= most
    };
    // If the first file does not fit, show its beginning.
    let shown_words = words.iter().take_while(fits).count().max(2);
    let shown_words = shown_words.min(words.len());
    let line = shorten(&words[..shown_words].join(" "), most);
    match words.len() - shown_words {
        0 => line,
        more => format!("{line} … and {more} more"),
    }
}

fn files(tool: ToolKind, arguments: &JsonObject) -> Result<Vec<String>, Problem> {
    let mut files = Vec::new();
    add(arguments, &mut files)?;
    for &field in PARTS {
        // Other contents of these objects are ignored.
        let Some(Value::Array(parts)) = arguments.get(field) else {
            continue;
        };
        for part in parts.iter().filter_map(Value::as_object) {
            add(part, &mut files)?;
        }
    }
    // A file name pattern may lead out of the directory, and so may a path; the pattern of a search
    // applies to file contents.
    if files.is_empty()
        && tool != ToolKind::Searches
        && let Some(pattern) = input::text(arguments, "pattern")?
        && (pattern.starts_with(['/', '~']) || pattern.contains(".."))
    {
        files.push(pattern.to_owned());
    }
    Ok(files)
}

/// Adds the file name pattern of a search, if it is one that secrets have.
fn with_filters(mut files: Vec<String>, arguments: &JsonObject) -> Result<Vec<String>, Problem> {
    for field in ["glob", "include_pattern", "includePattern", "glob_pattern"] {
        let pattern = input::text(arguments, field)?;
        let secret = |pattern: &&str| {
            let tables = Tables::embedded();
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            tables.may_read_secrets(pattern) || tables.matches_secret_names(name)
        };
        files.extend(pattern.filter(secret).map(str::to_owned));
    }
    Ok(files)
}

fn add(object: &JsonObject, files: &mut Vec<String>) -> Result<(), Problem> {
    let mut push = |file: &str| {
        if !file.is_empty() && !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    };
    for &field in PATHS {
        if let Some(file) = input::text(object, field)? {
            push(file);
        }
    }
    for &field in LISTS {
        let wanted = "a list of texts";
        match object.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::String(file)) => push(file),
            Some(Value::Array(list)) => {
                for file in list {
                    push(listed_file(file)?.ok_or(Problem::Type { field, wanted })?);
                }
            }
            // Cline also reads a file that is not in a list.
            Some(file @ Value::Object(_)) => {
                push(listed_file(file)?.ok_or(Problem::Type { field, wanted })?);
            }
            Some(_) => return Err(Problem::Type { field, wanted }),
        }
    }
    Ok(())
}

/// Returns the file in an item of a list: a text, or an object with its path and the lines to read.
fn listed_file(item: &Value) -> Result<Option<&str>, Problem> {
    match item {
        Value::Object(item) => input::text_of_spellings(item, &["path", "file_path", "filePath"]),
        item => Ok(item.as_str()),
    }
}

/// Returns a path, also from a `file:` URI.
pub(super) fn plain_path(file: &str) -> Result<PathBuf, Problem> {
    let Some((scheme, rest)) = file.split_once("://") else {
        return Ok(file.into());
    };
    if scheme == "file" && rest.starts_with('/') && !rest.contains(['%', '?', '#']) {
        return Ok(rest.into());
    }
    Err(Problem::Uri {
        uri: file.chars().take(200).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Agent, all, plain, tool};

    #[test]
    fn a_name_has_the_same_effect_in_every_agent() {
        for (name, kind) in all() {
            assert_eq!(tool(name), Some(kind), "{name}");
        }
    }

    #[test]
    fn an_agent_lists_each_tool_once() {
        for agent in Agent::ALL {
            let mut names: Vec<_> = agent
                .description()
                .tools
                .iter()
                .map(|(name, _)| plain(name))
                .collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{agent}");
        }
    }

    #[test]
    fn tools_of_servers_are_not_built_in_tools() {
        for name in [
            "mcp__files__write",
            "mcp__x__bash",
            "WebFetch",
            "BashOutput",
            "",
        ] {
            assert_eq!(tool(name), None, "{name}");
        }
    }
}
