//! The table of tools: which are safe, which write files, which parameters name them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ToolRequest, ToolResult};
use super::patch;

/// Class of a tool: read-only or destructive. In JSON the names are in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum ToolClass {
    /// The tool only reads.
    Safe,
    /// The tool may change something, like every tool that is not in the table.
    Destructive,
}

impl ToolClass {
    /// Returns the name in JSON, which is also the classification of a response.
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

/// Role of a tool, as hooks distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolRole {
    /// Reads without further effect.
    Look,
    /// Reads whole files, against which later writes are compared.
    Read,
    /// Selects the intent that the session works on.
    SelectIntent,
    /// Completes the work on the intent.
    Complete,
    /// Changes files.
    Write,
    /// Runs a command.
    Command,
    /// Changes something else.
    Act,
}

impl ToolRole {
    /// Returns the class of the role.
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
    /// Parameters that name files; each contains a text, a list of texts, or a list of objects with
    /// a path.
    paths: Vec<String>,
    /// Parameters that contain a patch, whose headers name files. If there are any, the call has to
    /// have one of them.
    patches: Vec<String>,
}

/// Default parameters that name a file.
const USUAL_PATHS: [&str; 3] = ["path", "file_path", "files"];

/// Default parameters that contain a patch.
const USUAL_PATCHES: [&str; 2] = ["patch", "input"];

/// Fields that name a file in an object of a list.
const PATH_FIELDS: [&str; 2] = ["path", "file_path"];

/// No parameters.
const NONE: [&str; 0] = [];

/// The tools of a coding agent, and the role of each.
///
/// A tool that is not in the table changes files, so that every check applies to it; the files are
/// unknown, so its calls are denied if files have owners.
///
/// ```
/// use hooks_runtime::engine::{ToolClass, ToolTable};
///
/// let tools = ToolTable::default().safe_tool("my_reader");
/// assert_eq!(tools.classify("my_reader"), ToolClass::Safe);
/// assert_eq!(tools.classify("read_file"), ToolClass::Safe);
/// assert_eq!(tools.classify("unknown_tool"), ToolClass::Destructive);
/// ```
#[derive(Debug, Clone)]
pub struct ToolTable {
    tools: BTreeMap<String, Tool>,
}

impl ToolTable {
    /// Creates a table in which every tool is unknown.
    pub fn empty() -> Self {
        ToolTable {
            tools: BTreeMap::new(),
        }
    }

    /// Adds a read-only tool.
    #[must_use]
    pub fn safe_tool(self, name: impl Into<String>) -> Self {
        self.tool(name, ToolRole::Look, NONE)
    }

    /// Adds a tool that changes the files that these parameters name.
    #[must_use]
    pub fn file_tool(
        self,
        name: impl Into<String>,
        paths: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.tool(name, ToolRole::Write, paths)
    }

    /// Adds a tool that applies a patch, which one of these parameters contains. The headers of the
    /// patch name the files: `*** Update File: …` and similar ones, `--- a/…`, `+++ b/…`, and those
    /// of git.
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

    /// Adds a tool, replacing one with an equal name: its role, and the parameters that name its
    /// files. Such a parameter is a text, a list of texts, or a list of objects with a `path`, a
    /// `file_path`, or both.
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

    /// Returns the role of a tool; a tool that is not in the table writes files.
    pub fn role(&self, name: &str) -> ToolRole {
        self.tools
            .get(name)
            .map_or(ToolRole::Write, |tool| tool.role)
    }

    /// Returns the class of a tool; a tool that is not in the table is destructive.
    pub fn classify(&self, name: &str) -> ToolClass {
        self.role(name).class()
    }

    /// Returns `true` if a tool may change files through its parameters: not if it runs a command,
    /// or starts a task.
    pub fn is_file_destructive(&self, name: &str) -> bool {
        self.role(name) == ToolRole::Write
    }

    /// Returns the files that the parameters of a call name, in its spelling.
    ///
    /// # Errors
    /// If a parameter that names files contains anything else, if a patch names no file, or if the
    /// tool is unknown: the changes of the call are then unknown.
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
            let text = value.as_str().ok_or("it is not text");
            let files = text.and_then(patch::files);
            found.extend(files.map_err(|why| UnreadablePath::Patch {
                parameter: name.to_owned(),
                why,
            })?);
        }
        Ok(unique(found))
    }

    /// Returns the files that a call of any tool certainly names; there may be more.
    pub(crate) fn mentioned(&self, request: &ToolRequest) -> Vec<String> {
        self.paths(request).unwrap_or_else(|_| {
            let mut found = Vec::new();
            let names = self.tools.get(&request.tool).map(|tool| &tool.paths);
            let usual = || USUAL_PATHS.map(str::to_owned).into();
            for (_, value) in given(request, &names.cloned().unwrap_or_else(usual)) {
                // Ignore parameters that cannot be read.
                let _ = named(value, &mut found);
            }
            unique(found)
        })
    }

    /// Returns the files of a result: those that the call named, and those that the tool has added.
    pub(crate) fn touched(&self, result: &ToolResult) -> Vec<String> {
        let mut found = self.mentioned(&result.request);
        found.extend(result.files.keys().cloned());
        unique(found)
    }
}

/// Reason for which the files of a call are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadablePath {
    /// The parameter is not a path, a list of paths, or a list of objects with a path.
    #[error(
        "parameter `{0}` names no file; give it a text, a list of texts, or objects with a `path`"
    )]
    Parameter(String),
    /// The call has none of the parameters that contain the patch.
    #[error("there is no patch; give it in the parameter `{}`", .0.join("` or `"))]
    NoPatch(Vec<String>),
    /// The files that the patch changes are ambiguous.
    #[error(
        "the patch in `{parameter}` cannot be read: {why}; name each file in a header of its own"
    )]
    Patch {
        /// The parameter.
        parameter: String,
        /// Reason.
        why: &'static str,
    },
    /// The parameters of the tool that name files are unknown.
    #[error("the files that `{0}` changes are unknown; add it with `file_tool` or `safe_tool`")]
    Unknown(String),
}

fn unique(mut paths: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// Returns those of the parameters that the call has.
fn given<'a>(
    request: &'a ToolRequest,
    names: &'a [String],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let values = names
        .iter()
        .filter_map(|name| Some((&**name, request.params.get(name)?)));
    values.filter(|(_, value)| !value.is_null())
}

/// Adds all paths of a parameter; `None` if it contains anything else.
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
    fn r_32_commands_and_tasks_are_destructive_but_not_to_files() {
        let tools = ToolTable::default();
        for name in ["execute_command", "new_task"] {
            assert_eq!(tools.classify(name), ToolClass::Destructive);
            assert!(!tools.is_file_destructive(name));
        }
        for name in ["write_to_file", "apply_diff", "unknown_tool"] {
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
    fn r_32_a_file_parameter_of_an_unknown_form_is_an_error() {
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
