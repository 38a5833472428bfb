//! Starting installed programs.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Returns the command of a program in `PATH`, by its file. With a changed environment, the standard
/// library searches a name in a copy of this process, and copying takes longer than many programs.
pub(crate) fn installed(program: &str) -> Command {
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(&paths).map(|path| path.join(program));
    let Some(file) = files.find(|file| file.is_file()) else {
        return Command::new(program);
    };
    let mut command = Command::new(file);
    command.arg0(program);
    command
}
