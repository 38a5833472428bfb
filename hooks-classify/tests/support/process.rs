//! Starting installed programs.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::required::find;

/// Returns the command of a program in `PATH`, by its file. If the command changes `PATH`, the standard
/// library searches a name in a copy of this process, and copying takes longer than many programs.
pub(crate) fn installed(program: &str) -> Command {
    let Some(file) = find(program) else {
        return Command::new(program);
    };
    let mut command = Command::new(file);
    command.arg0(program);
    command
}
