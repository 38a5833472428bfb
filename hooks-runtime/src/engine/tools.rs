//! What is known about tools: which are safe, which write files, which parameters name them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ToolRequest, ToolResult};
use super::patch;

/// Whether a tool only looks, or may change something. In JSON the names are in
/// capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum ToolClass {
    /// It only looks.
    Safe,
    /// It may change something. So may every tool that nobody has said anything about.
    Destructive,
}

impl ToolClass {
    /// The name in the JSON form, which is also the classification of a response.
    pub fn name(self) -> &'static str {
        match self {
            ToolClass::Safe => "SAFE",
            ToolClass::Destructive => "DESTRUCTIVE",
        }
    }
}

impl fmt::Display for ToolClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a tool does, as far as hooks treat it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolRole {
    /// It only looks, and nothing else is to be known.
    Look,
    /// It reads whole files, against which later writes are compared.
    Read,
    /// It chooses the intent that the session works on.
    SelectIntent,
    /// It says that the work on the intent is done.
    Complete,
    /// It changes files.
    Write,
    /// It runs a command.
    Command,
    /// It changes something else.
    Act,
}

impl ToolRole {
    /// Whether such a tool only looks.
    pub fn class(self) -> ToolClass {
        match self {
            ToolRole::Look | ToolRole::Read | ToolRole::SelectIntent | ToolRole::Complete => {
                ToolClass::Safe
            }
            ToolRole::Write | ToolRole::Command | ToolRole::Act => ToolClass::Destructive,
        }
    }
}

/// One tool.
#[derive(Debug, Clone)]
struct Tool {
    role: ToolRole,
    /// The parameters that name files; each holds a text, a list of texts, or a list of objects
    /// with a path.
    paths: Vec<String>,
    /// The parameters that hold a patch, whose headers name files. Where there are any, one of
    /// them has to be in the call.
    patches: Vec<String>,
}

/// Parameters that name a file.
const USUAL_PATHS: [&str; 3] = ["path", "file_path", "files"];

/// Parameters that hold a patch.
const USUAL_PATCHES: [&str; 2] = ["patch", "input"];

/// The fields of an object in a list that name a file.
const PATH_FIELDS: [&str; 2] = ["path", "file_path"];

/// No parameters.
const NONE: [&str; 0] = [];

/// The tools that a coding agent has, and what is known about each.
///
/// A tool that is not in the table changes files, so that every check applies to it;
/// which ones is not known, so a call of it is denied where files have owners.
///
/// ```
/// use hooks_runtime::engine::{ToolClass, ToolTable};
///
/// let tools = ToolTable::default().safe_tool("my_reader");
/// assert_eq!(tools.classify("my_reader"), ToolClass::Safe);
/// assert_eq!(tools.classify("read_file"), ToolClass::Safe);
/// assert_eq!(tools.classify("nobody_knows"), ToolClass::Destructive);
/// ```
#[derive(Debug, Clone)]
pub struct ToolTable {
    tools: BTreeMap<String, Tool>,
}

impl ToolTable {
    /// A table in which every tool is unknown.
    pub fn empty() -> Self {
        ToolTable {
            tools: BTreeMap::new(),
        }
    }

    /// Adds a tool that only looks.
    #[must_use]
    pub fn safe_tool(self, name: impl Into<String>) -> Self {
        self.tool(name, ToolRole::Look, NONE)
    }

    /// Adds a tool that changes files, which these parameters name.
    #[must_use]
    pub fn file_tool(
        self,
        name: impl Into<String>,
        paths: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.tool(name, ToolRole::Write, paths)
    }

    /// Adds a tool that changes files as a patch says, which one of these parameters holds. The
    /// headers of the patch name the files: `*** Update File: …` and its like, `--- a/…`,
    /// `+++ b/…`, and those of git.
    #[must_use]
    pub fn patch_tool(
        mut self,
        name: impl Into<String>,
        patches: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let tool = Tool {
            role: ToolRole::Write,
            paths: USUAL_PATHS.map(str::to_owned).into(),
            patches: patches.into_iter().map(Into::into).collect(),
        };
        self.tools.insert(name.into(), tool);
        self
    }

    /// Adds a tool, in the place of one with the same name: what it does, and the parameters
    /// that name its files. Such a parameter is a text, a list of texts, or a list of objects
    /// with a `path`, a `file_path`, or both.
    #[must_use]
    pub fn tool(
        mut self,
        name: impl Into<String>,
        role: ToolRole,
        paths: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let tool = Tool {
            role,
            paths: paths.into_iter().map(Into::into).collect(),
            patches: Vec::new(),
        };
        self.tools.insert(name.into(), tool);
        self
    }

    /// What a tool does; one that is not in the table writes files.
    pub fn role(&self, name: &str) -> ToolRole {
        self.tools
            .get(name)
            .map_or(ToolRole::Write, |tool| tool.role)
    }

    /// Whether a tool only looks; one that is not in the table does not.
    pub fn classify(&self, name: &str) -> ToolClass {
        self.role(name).class()
    }

    /// Whether a tool may change files through its parameters: not one that runs a command, or
    /// starts a task.
    pub fn is_file_destructive(&self, name: &str) -> bool {
        self.role(name) == ToolRole::Write
    }

    /// The files that the parameters of a call name, as they are spelled there.
    ///
    /// # Errors
    /// If a parameter that names files holds something else, if a patch names none, or if
    /// nobody knows the tool: what the call changes is then not known.
    pub fn paths(&self, request: &ToolRequest) -> Result<Vec<String>, UnreadablePath> {
        let Some(tool) = self.tools.get(&request.tool) else {
            return Err(UnreadablePath::Unknown(request.tool.clone()));
        };
        let mut found = Vec::new();
        for (name, value) in given(request, &tool.paths) {
            let fits = named(value, &mut found);
            fits.ok_or_else(|| UnreadablePath::Parameter(name.to_owned()))?;
        }
        let mut patches = given(request, &tool.patches).peekable();
        if !tool.patches.is_empty() && patches.peek().is_none() {
            return Err(UnreadablePath::NoPatch(tool.patches.clone()));
        }
        for (name, value) in patches {
            let text = value.as_str().ok_or("it is no text");
            let files = text.and_then(patch::files);
            found.extend(files.map_err(|why| UnreadablePath::Patch {
                parameter: name.to_owned(),
                why,
            })?);
        }
        Ok(unique(found))
    }

    /// The files that a call is known to name, of whatever tool; what else it names is not
    /// known.
    pub(crate) fn mentioned(&self, request: &ToolRequest) -> Vec<String> {
        self.paths(request).unwrap_or_else(|_| {
            let mut found = Vec::new();
            let names = self.tools.get(&request.tool).map(|tool| &tool.paths);
            let usual = || USUAL_PATHS.map(str::to_owned).into();
            for (_, value) in given(request, &names.cloned().unwrap_or_else(usual)) {
                // What cannot be read is nothing that is known.
                let _ = named(value, &mut found);
            }
            unique(found)
        })
    }

    /// The files of a result: those that the call named, and those that the tool has added.
    pub(crate) fn touched(&self, result: &ToolResult) -> Vec<String> {
        let mut found = self.mentioned(&result.request);
        found.extend(result.files.keys().cloned());
        unique(found)
    }
}

/// Why it is not known which files a call would change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadablePath {
    /// The parameter holds no path, no list of paths, and no list of objects with a path.
    #[error(
        "parameter `{0}` names no file; give it a text, a list of texts, or objects with a `path`"
    )]
    Parameter(String),
    /// None of the parameters is there that may hold the patch.
    #[error("there is no patch; give it in the parameter `{}`", .0.join("` or `"))]
    NoPatch(Vec<String>),
    /// It cannot be told which files the patch changes.
    #[error(
        "the patch in `{parameter}` cannot be read: {why}; name each file in a header of its own"
    )]
    Patch {
        /// The parameter.
        parameter: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nobody has said which parameters of the tool name files.
    #[error("nobody knows which files `{0}` changes; add it with `file_tool` or `safe_tool`")]
    Unknown(String),
}

fn unique(mut paths: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// Those of the parameters that the call has.
fn given<'a>(
    request: &'a ToolRequest,
    names: &'a [String],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let values = names
        .iter()
        .filter_map(|name| Some((&**name, request.params.get(name)?)));
    values.filter(|(_, value)| !value.is_null())
}

/// Adds the paths of a parameter, all of them; `None` if it holds anything else.
fn named(value: &Value, found: &mut Vec<String>) -> Option<()> {
    match value {
        Value::String(path) => found.push(path.clone()),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::Object(fields) => {
                        let paths: Vec<_> = PATH_FIELDS
                            .iter()
                            .filter_map(|field| fields.get(*field))
                            .collect();
                        if paths.is_empty() {
                            return None;
                        }
                        for path in paths {
                            found.push(path.as_str()?.to_owned());
                        }
                    }
                    other => found.push(other.as_str()?.to_owned()),
                }
            }
        }
        _ => return None,
    }
    Some(())
}

impl Default for ToolTable {
    fn default() -> Self {
        let mut table = ToolTable::empty();
        for name in [
            "list_files",
            "list_code_definition_names",
            "search_files",
            "codebase_search",
            "ask_followup_question",
            "switch_mode",
            "update_todo_list",
            "read_command_output",
            "access_mcp_resource",
        ] {
            table = table.safe_tool(name);
        }
        for name in [
            "write_to_file",
            "apply_diff",
            "edit",
            "edit_file",
            "insert_content",
            "search_and_replace",
            "search_replace",
            "delete_file",
        ] {
            table = table.file_tool(name, USUAL_PATHS);
        }
        table
            .patch_tool("apply_patch", USUAL_PATCHES)
            .tool("read_file", ToolRole::Read, USUAL_PATHS)
            .tool("select_active_intent", ToolRole::SelectIntent, NONE)
            .tool("attempt_completion", ToolRole::Complete, NONE)
            .tool("execute_command", ToolRole::Command, NONE)
            .tool("new_task", ToolRole::Act, NONE)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn r_32_commands_and_tasks_are_destructive_but_not_of_files() {
        let tools = ToolTable::default();
        for name in ["execute_command", "new_task"] {
            assert_eq!(tools.classify(name), ToolClass::Destructive);
            assert!(!tools.is_file_destructive(name));
        }
        for name in ["write_to_file", "apply_diff", "nobody_knows"] {
            assert_eq!(tools.classify(name), ToolClass::Destructive);
            assert!(tools.is_file_destructive(name));
        }
    }

    #[test]
    fn r_32_a_call_may_name_several_files_in_several_forms() {
        let request = ToolRequest::new("apply_diff")
            .param("path", "a")
            .param("files", json!(["b", {"path": "c"}, {"file_path": "a"}]));
        assert_eq!(
            ToolTable::default().paths(&request).unwrap(),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn r_32_a_parameter_that_hides_its_file_is_an_error() {
        for hidden in [
            json!(7),
            json!([7]),
            json!([{"name": "a"}]),
            json!({"path": "a"}),
        ] {
            let request = ToolRequest::new("apply_diff").param("files", hidden);
            assert!(ToolTable::default().paths(&request).is_err());
        }
    }
}
