//! The supported agents, one file each. In: nothing; plain data. Out: the description of each agent.
//!
//! A new agent is a file with its description, a variant of [`Agent`](super::Agent), and samples of
//! its inputs in `tests/protocol`.

mod antigravity;
mod auggie;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod grok;
mod kilo_code;
mod kimi_code;
mod kiro;
mod letta_code;
mod mistral_vibe;
mod opencode;
mod openhands;
mod pi;
mod qwen_code;
mod vscode;
mod windsurf;

use std::time::Duration;

use super::description::ToolKind;
use crate::classify::Shells;

pub(super) use antigravity::ANTIGRAVITY;
pub(super) use auggie::AUGGIE;
pub(super) use claude_code::CLAUDE_CODE;
pub(super) use cline::CLINE;
pub(super) use codex::CODEX;
pub(super) use copilot::COPILOT;
pub(super) use crush::CRUSH;
pub(super) use cursor::CURSOR;
pub(super) use droid::DROID;
pub(super) use gemini::GEMINI;
pub(super) use goose::GOOSE;
pub(super) use grok::GROK;
pub(super) use kilo_code::KILO_CODE;
pub(super) use kimi_code::KIMI_CODE;
pub(super) use kiro::KIRO;
pub(super) use letta_code::LETTA_CODE;
pub(super) use mistral_vibe::MISTRAL_VIBE;
pub(super) use opencode::OPENCODE;
pub(super) use openhands::OPENHANDS;
pub(super) use pi::PI;
pub(super) use qwen_code::QWEN_CODE;
pub(super) use vscode::VSCODE;
pub(super) use windsurf::WINDSURF;

/// Modes of Claude Code in which it shows its prompt; other agents use the same names.
const PROMPTING_MODES: &[&str] = &["default", "acceptEdits", "plan", "auto", "manual"];

/// The shells of an agent that runs commands in the user's bash or zsh, and in bash if the user has
/// another shell.
const USERS_SHELLS: Shells = Shells::BASH.union(Shells::ZSH);

/// Assumed timeout of hand-written settings.
const MANUAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Tools that are recognised from any agent, but that `install` registers for none.
pub(super) const OTHER_TOOLS: &[(&str, ToolKind)] = &[
    ("run_terminal_cmd", ToolKind::Shell),
    ("exec_command", ToolKind::Shell),
    ("shell_command", ToolKind::Shell),
    ("local_shell", ToolKind::Shell),
    ("pwsh", ToolKind::PowerShell),
    ("edit_file", ToolKind::UPDATES),
    ("delete_file", ToolKind::DELETES),
    ("view_image", ToolKind::Reads),
    // Grok has them with another set of tools.
    ("hashline_edit", ToolKind::UPDATES),
    ("hashline_read", ToolKind::Reads),
    ("hashline_grep", ToolKind::Searches),
    ("grep_files", ToolKind::Searches),
];
