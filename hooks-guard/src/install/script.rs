//! The scripts for an agent that runs a file for each event, identified by a hash in the second line.
//! In: the hook's command line. Out: the text of a script.

use super::plan::{HookCall, command_line, hash};
use crate::protocol::{AFTER_TOOL_TIMEOUT, Agent, ScriptRegistration};

/// First line of a script. Cline runs scripts without such a line with Bash.
pub(super) const SHEBANG: &str = "#!/bin/sh\n";
pub(super) const MARK: &str = "# Written by hooks-guard, sha256 ";

/// Denies if the hook cannot be run, is killed, or exits with a status other than 0. Cline ignores the
/// exit status. It prefers the last line with this word to the other output, which may be incomplete.
const OR_DENY: &str = r#"printf '\nHOOK_CONTROL\t%s\n' '{"cancel":true,"errorMessage":"hooks-guard failed: refused"}'"#;

/// Returns the text of the script before a tool.
pub(super) fn before(agent: Agent, scripts: &ScriptRegistration, call: HookCall<'_>) -> String {
    let line = command_line(agent, call, scripts.timeout);
    marked(&format!("{line} ||\n    {OR_DENY}\n"))
}

/// Returns the text of the script after a tool, which has nothing to deny.
pub(super) fn after(agent: Agent, call: HookCall<'_>) -> String {
    marked(&format!(
        "{}\n",
        command_line(agent, call, AFTER_TOOL_TIMEOUT)
    ))
}

fn marked(body: &str) -> String {
    format!("{SHEBANG}{MARK}{}\n{body}", hash(body))
}
