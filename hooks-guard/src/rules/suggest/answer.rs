//! Answers of a trail, and the approved commands that no rule is suggested for. Plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

/// A shell command, or a call of an MCP tool, that was approved or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastAnswer {
    /// The command or the description of the call, as the trail has it.
    pub command: String,
    /// Directory of the request.
    pub cwd: Option<PathBuf>,
    /// Agent that sent the request.
    pub agent: Option<String>,
    /// `true` if the command was approved, `false` if it was denied.
    pub approved: bool,
    /// Time of the decision.
    pub at: Timestamp,
    /// `true` if secrets in the command are masked. No rule is suggested from such a command, nor a
    /// rule for a program in it if it was denied.
    pub masked: bool,
    /// Reason why the approval justifies no rule, if there is one.
    pub unsuitable: Option<String>,
    /// The tool of an MCP server, as `SERVER/TOOL`, or by the agent's name if the name can be read in
    /// several ways; `None` for a shell command.
    pub mcp: Option<String>,
}

/// An approved command that no rule is suggested for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnsuitableCommand {
    /// The command.
    pub command: String,
    /// Number of its approvals.
    pub approvals: usize,
    /// Reason why no rule is suggested.
    pub reason: String,
}

/// Approved commands that no rule is suggested for.
#[derive(Debug, Default)]
pub(super) struct Rejections(BTreeMap<String, UnsuitableCommand>);

impl Rejections {
    /// Adds approvals of a command. The first reason for a command counts.
    pub(super) fn add(&mut self, command: &str, count: usize, reason: &str) {
        let entry = self.0.entry(command.to_owned());
        let entry = entry.or_insert_with(|| UnsuitableCommand {
            command: command.to_owned(),
            approvals: 0,
            reason: reason.to_owned(),
        });
        entry.approvals += count;
    }

    pub(super) fn contains(&self, command: &str) -> bool {
        self.0.contains_key(command)
    }

    pub(super) fn into_commands(self) -> Vec<UnsuitableCommand> {
        self.0.into_values().collect()
    }
}
