//! Variables that a file of the project sets for the commands of an agent. In: a request. Out: the
//! name of the variable and the file.

use std::path::Path;

use super::super::context::RequestContext;
use super::super::paths::Directory;
use crate::classify::Classifier;
use crate::files;
use crate::protocol::Agent;
use crate::protocol::variable_files::{VariableFile, deciding};

/// Returns the file of the project that sets a variable on which it depends what the commands of the
/// request's agent run: `BASH_ENV in .claude/settings.json`.
pub(super) fn set_by_project(context: &RequestContext<'_>) -> Option<String> {
    let agent: Agent = context.request.agent.as_deref()?.parse().ok()?;
    let names = Directory::new(context.request.cwd.as_deref()?).names;
    let inside = |name: &str, folder: &Path| {
        let folder = folder.to_string_lossy();
        folder == name || context.project().holds_name(&folder)
    };
    // The files in the home directory are the user's own.
    let is_home = |folder: &Path| {
        let mut homes = context.homes.iter();
        homes.any(|home| Path::new(home) == folder)
    };
    let folders = names.iter().flat_map(|name| {
        let around = Path::new(name).ancestors();
        around.take_while(move |folder| inside(name, folder))
    });
    let folders = folders.filter(|folder| !is_home(folder));
    let mut given = folders.flat_map(|folder| {
        let files = VariableFile::of_agent(agent, folder);
        files.map(move |(file, format)| (folder, file, format))
    });
    given.find_map(|(folder, file, format)| {
        let text = String::from_utf8(files::read(&file).ok()?).ok()?;
        let variables = format.variables(&text);
        if variables.is_empty() {
            return None;
        }
        let variable = deciding(&Classifier::new(), &variables)?.name;
        let file = file.strip_prefix(folder).unwrap_or(&file);
        Some(format!("{variable} in {}", file.display()))
    })
}
