//! [`TerminalInput`]: further commands that a program takes from its terminal.

use serde::{Deserialize, Serialize};

/// Further commands that a program takes from its terminal.
///
/// The decision does not depend on it: `less notes.txt` reads, although its user may type
/// `!rm notes.txt`. If an agent can write to the terminal of a running command, its caller has to
/// ask about such commands, because the text that the agent writes later is not classified.
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum TerminalInput {
    /// No program takes commands from the terminal.
    #[default]
    None,
    /// A program, such as `git log`, starts the pager that its environment or settings name. With
    /// `PAGER=cat` and the variable of the program (`GIT_PAGER=cat`), no pager takes commands.
    Pager,
    /// A program takes commands itself: a pager, an editor, a REPL, a debugger, a shell.
    Commands,
}
