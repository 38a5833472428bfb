//! Scripts of a package: a call that runs one by its name in, the text of the script out, from the
//! file of the package in the workspace.

use serde_json::Value;

use super::effect::operand_words;
use crate::analysis::Context;
use crate::model::arg::shell_quoted;
use crate::model::workspace_view::{ancestors, join};
use crate::options::call::Call;
use crate::workspace::Answer;

/// File with the scripts of a package.
const PACKAGE: &str = "package.json";
/// Folder with the programs of installed packages, which scripts find before those of the system.
const PROGRAMS: &str = "node_modules/.bin";
/// Folders with the programs of the system.
const SYSTEM_PROGRAMS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// Scripts that a call runs.
pub(crate) struct PackageScripts {
    /// Folder in which they run.
    pub(crate) folder: String,
    /// The file with the scripts.
    pub(crate) file: String,
    /// Line of the script that the call names.
    pub(crate) line: usize,
    /// Text of the script that the call names.
    pub(crate) text: String,
    /// Text of all scripts in their order, for a shell.
    pub(crate) all: String,
}

/// Returns the scripts that a call runs; `None` if they are not known.
pub(crate) fn package_scripts(context: &Context<'_>, call: &Call) -> Option<PackageScripts> {
    let details = call.program.details;
    if !details.runs_scripts || !context.workspace.is_known() {
        return None;
    }
    let folders = context.working_folders()?;
    let [start] = folders.as_slice() else {
        return None;
    };
    let mut words = operand_words(call);
    let names: Vec<String> = match details.package_scripts {
        ["operand"] => {
            let at = words.iter().position(|word| !word.text.starts_with('-'))?;
            words.drain(..at);
            vec![words.remove(0).text]
        }
        ["command"] => vec![call.path.rsplit(' ').next()?.to_owned()],
        names => names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut files = ancestors(start).map(|folder| (folder, join(folder, PACKAGE)));
    let (folder, file, text) =
        files.find_map(|(folder, file)| match context.workspace.text(&file) {
            Answer::Known(text) => Some(Some((folder, file, text))),
            Answer::Absent => None,
            Answer::Unknown => Some(None),
        })??;
    let package: Value = serde_json::from_str(&text).ok()?;
    let script = |name: &str| package["scripts"][name].as_str().map(str::to_owned);
    let mut all = Vec::new();
    let mut named = None;
    for name in &names {
        all.extend(script(&format!("pre{name}")));
        let text = script(name)?;
        let given: String = words
            .iter()
            .map(|word| format!(" {}", shell_quoted(word)))
            .collect();
        all.push(text.clone() + &given);
        all.extend(script(&format!("post{name}")));
        named.get_or_insert((name, text));
    }
    let (name, script) = named?;
    let all = all.join("\n");
    if shadows_system_program(context, folder, &all)? {
        return None;
    }
    let key = format!("\"{name}\"");
    let line = text.lines().position(|line| line.contains(&key));
    Some(PackageScripts {
        folder: folder.to_owned(),
        file,
        line: line.map_or(1, |at| at + 1),
        text: script,
        all,
    })
}

/// Returns `true` if a script names a program of the system that an installed package replaces; `None`
/// if it is not known.
fn shadows_system_program(context: &Context<'_>, folder: &str, text: &str) -> Option<bool> {
    let is_name = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let words: Vec<&str> = text
        .split(|c| !is_name(c))
        .filter(|word| !word.is_empty())
        .collect();
    for above in ancestors(folder) {
        let names = match context.workspace.names(&join(above, PROGRAMS)) {
            Answer::Known(names) => names,
            Answer::Absent => continue,
            Answer::Unknown => return None,
        };
        let mut used = names.iter().filter(|name| words.contains(&name.as_str()));
        let is_known = |path: String| matches!(context.workspace.entry(&path), Answer::Known(_));
        let of_system = |name: &String| {
            SYSTEM_PROGRAMS
                .iter()
                .any(|folder| is_known(join(folder, name)))
        };
        if used.any(of_system) {
            return Some(true);
        }
    }
    Some(false)
}
