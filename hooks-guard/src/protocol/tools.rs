//! The agents' tools. In: the name of a tool, and its input. Out: whether it runs a command or
//! touches files, and which files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use hooks_runtime::display::shorten;
use serde_json::Value;

use super::agent::Agent;
use super::error::Problem;
use super::input::{self, JsonObject};
use super::patch;
use crate::classify::{Crud, MAX_COMMAND_CHARS, Tables};
use crate::request::FileAccess;

/// Effect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command of a POSIX shell.
    Shell,
    /// Runs a command of PowerShell.
    PowerShell,
    /// Reads files; without a path, those of the directory.
    Reads,
    /// Searches the content of files in a directory; without a path, in the current one.
    Searches,
    /// Lists names of files; without a path, those of the directory.
    Lists,
    /// Changes files, which it must name.
    Changes(Crud),
    /// Applies a patch.
    Patch,
}

impl ToolKind {
    /// Returns `true` if the tool only reads.
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::Searches | Self::Lists)
    }
}

use Agent::{ClaudeCode, Codex, Copilot, Cursor, Gemini, OpenCode, VsCode};
use ToolKind::{Changes, Lists, Patch, PowerShell, Reads, Searches, Shell};

/// The known tools, by name, and the agents that have them.
///
/// A tool is recognised from any agent, because agents run the hooks of other agents; the agents
/// here are those that `install` registers it for.
const TOOLS: &[(&str, ToolKind, &[Agent])] = &[
    ("Bash", Shell, &[ClaudeCode, Codex, Copilot, OpenCode]),
    ("Monitor", Shell, &[ClaudeCode]),
    ("Shell", Shell, &[Cursor]),
    ("run_shell_command", Shell, &[Gemini]),
    ("runTerminalCommand", Shell, &[VsCode]),
    ("run_in_terminal", Shell, &[VsCode]),
    ("run_terminal_cmd", Shell, &[]),
    ("terminal", Shell, &[]),
    ("execute", Shell, &[]),
    ("exec_command", Shell, &[]),
    ("shell_command", Shell, &[]),
    ("local_shell", Shell, &[]),
    ("PowerShell", PowerShell, &[ClaudeCode, Copilot]),
    ("pwsh", PowerShell, &[]),
    (
        "Write",
        Changes(Crud::Create),
        &[ClaudeCode, Cursor, OpenCode],
    ),
    ("write_file", Changes(Crud::Create), &[Gemini]),
    ("create", Changes(Crud::Create), &[Copilot]),
    ("create_file", Changes(Crud::Create), &[VsCode]),
    ("create_directory", Changes(Crud::Create), &[VsCode]),
    ("TabWrite", Changes(Crud::Update), &[Cursor]),
    (
        "Edit",
        Changes(Crud::Update),
        &[ClaudeCode, Cursor, Copilot, OpenCode],
    ),
    ("MultiEdit", Changes(Crud::Update), &[ClaudeCode, OpenCode]),
    ("NotebookEdit", Changes(Crud::Update), &[ClaudeCode]),
    ("StrReplace", Changes(Crud::Update), &[Cursor]),
    ("EditNotebook", Changes(Crud::Update), &[Cursor]),
    ("replace", Changes(Crud::Update), &[Gemini]),
    ("insert", Changes(Crud::Update), &[Copilot]),
    ("str_replace_editor", Changes(Crud::Update), &[Copilot]),
    ("search_replace", Changes(Crud::Update), &[]),
    ("edit_file", Changes(Crud::Update), &[]),
    ("editFiles", Changes(Crud::Update), &[VsCode]),
    ("insert_edit_into_file", Changes(Crud::Update), &[VsCode]),
    ("replace_string_in_file", Changes(Crud::Update), &[VsCode]),
    (
        "multi_replace_string_in_file",
        Changes(Crud::Update),
        &[VsCode],
    ),
    ("edit_notebook_file", Changes(Crud::Update), &[VsCode]),
    ("Delete", Changes(Crud::Delete), &[Cursor]),
    ("delete_file", Changes(Crud::Delete), &[]),
    ("apply_patch", Patch, &[Codex, Copilot, VsCode, OpenCode]),
    ("patch", Patch, &[OpenCode]),
    ("Read", Reads, &[ClaudeCode, Cursor, OpenCode]),
    ("Glob", Lists, &[ClaudeCode, Gemini, Copilot, OpenCode]),
    ("Grep", Searches, &[ClaudeCode, Cursor, Copilot, OpenCode]),
    ("LS", Lists, &[ClaudeCode]),
    ("list", Lists, &[OpenCode]),
    ("view", Reads, &[Copilot]),
    ("view_image", Reads, &[]),
    ("NotebookRead", Reads, &[ClaudeCode]),
    ("read_file", Reads, &[Gemini, VsCode]),
    ("read_many_files", Reads, &[Gemini]),
    ("list_directory", Lists, &[Gemini]),
    ("list_dir", Lists, &[VsCode]),
    ("search_file_content", Searches, &[Gemini]),
    ("grep_search", Searches, &[Gemini, VsCode]),
    ("file_search", Lists, &[VsCode]),
];

/// Returns the effect of the tool with this name, if it is known. Agents spell names in several
/// ways.
pub(crate) fn tool(name: &str) -> Option<ToolKind> {
    let plain = plain(name);
    let known = TOOLS.iter().find(|(known, ..)| self::plain(known) == plain);
    known.map(|&(_, tool, _)| tool)
}

/// Returns `true` if a tool prints the content of a directory's files: it searches them, or reads
/// all of them.
pub(crate) fn searches(name: &str) -> bool {
    tool(name) == Some(Searches) || plain(name) == "readmanyfiles"
}

/// Returns `true` if a tool prints names of files only.
pub(crate) fn lists(name: &str) -> bool {
    tool(name) == Some(Lists)
}

/// Returns a name in normalized spelling.
pub(crate) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the tools that `install` registers for an agent, shells first, in the agent's spelling.
#[cfg(feature = "cli")]
pub(crate) fn names(agent: Agent) -> impl Iterator<Item = (String, ToolKind)> {
    let of_it = TOOLS
        .iter()
        .filter(move |(.., agents)| agents.contains(&agent));
    of_it.map(move |&(name, tool, _)| match agent {
        Copilot | OpenCode | Gemini => (name.to_lowercase(), tool),
        _ => (name.to_owned(), tool),
    })
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
    "dir_path",
    "dirPath",
    "uri",
];

/// Fields with lists of files.
const LISTS: &[&str] = &["paths", "files", "filePaths", "file_paths", "include"];

/// Fields with lists of objects that may name files.
pub(super) const PARTS: &[&str] = &["edits", "replacements"];

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
        Patch => {
            let text = input::text_of_spellings(arguments, PATCHES)?;
            patch::files(text.ok_or(Problem::Missing { field: "patch" })?)?
        }
        Changes(effect) => (effect, files(tool, arguments)?),
        _ => (Crud::Read, files(tool, arguments)?),
    };
    if matches!(tool, Searches | Lists) {
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
        Searches => with_filters(files, arguments)?,
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
        && tool != Searches
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
                    push(file.as_str().ok_or(Problem::Type { field, wanted })?);
                }
            }
            Some(_) => return Err(Problem::Type { field, wanted }),
        }
    }
    Ok(())
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
    use super::{TOOLS, plain, tool};

    #[test]
    fn every_tool_is_listed_once() {
        for (index, (name, ..)) in TOOLS.iter().enumerate() {
            let same = TOOLS
                .iter()
                .position(|(other, ..)| plain(other) == plain(name));
            assert_eq!(same, Some(index), "{name}");
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
