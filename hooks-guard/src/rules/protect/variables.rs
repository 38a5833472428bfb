//! Variables that a file of the project sets for the commands of an agent. In: a request. Out: the
//! name of the variable and the file.

use std::path::Path;

use super::super::context::RequestContext;
use crate::classify::Classifier;
use crate::files;
use crate::protocol::Agent;
use crate::protocol::variable_files::{VariableFile, deciding};

/// Returns the file of the project that sets a variable on which it depends what the commands of the
/// request's agent run: `BASH_ENV in .claude/settings.json`.
pub(super) fn set_by_project(context: &RequestContext<'_>) -> Option<String> {
    let agent: Agent = context.request.agent.as_deref()?.parse().ok()?;
    let cwd = context.request.cwd.as_deref()?;
    let home = Path::new(&context.start.home);
    let inside = |folder: &&Path| {
        let name = folder.to_string_lossy();
        *folder == cwd || context.project().holds_name(&name)
    };
    // The files in the home directory are the user's own.
    let folders = cwd.ancestors().take_while(inside);
    let folders = folders.filter(|folder| *folder != home);
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
