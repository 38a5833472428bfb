//! Past answers. In: a record of the trail. Out: the answer to a shell command or to a call of an MCP
//! tool, which rules are suggested from.

use super::record::{AuditRecord, UserResponse};
use crate::gate::LEFT_TO_AGENT;
use crate::mask;
use crate::request::{McpTool, NetworkAccess};
use crate::rules::{PastAnswer, RuleDecision};

impl AuditRecord {
    /// Returns the answer in the record; `None` if no person approved, or if the request is neither a
    /// shell command nor a call of an MCP tool.
    #[must_use]
    pub fn past_answer(self) -> Option<PastAnswer> {
        let approved = match self.user_response? {
            UserResponse::Approved => true,
            UserResponse::Denied => false,
            UserResponse::Timeout => return None,
        };
        if approved && self.reasoning.starts_with(LEFT_TO_AGENT) {
            return None;
        }
        let is_shown = self.shows_whole_command();
        let masked = !is_shown && mask::has_label(&self.command);
        // The hash of a call of a file tool covers more than the text.
        let mcp = McpTool::described_name(&self.command).map(str::to_owned);
        let is_known = match &mcp {
            // A shell command may have the text of such a description.
            Some(_) => !is_shown,
            None => is_shown || masked,
        };
        if !is_known || NetworkAccess::is_described_by(&self.command) {
            return None;
        }
        let rule = self.rule.as_deref();
        let unsuitable = if let Some(protection) = rule.and_then(RuleDecision::protection_of) {
            Some(format!("it touched a protection:{protection}"))
        } else if rule.is_some_and(RuleDecision::is_from_hook) {
            Some("a hook required approval".to_owned())
        } else if self.error.is_some() || (mcp.is_none() && self.has_failed_analysis()) {
            Some("it was not classified".to_owned())
        } else {
            None
        };
        Some(PastAnswer {
            command: self.command,
            cwd: self.cwd,
            agent: self.agent,
            approved,
            at: self.timestamp,
            masked,
            unsuitable,
            mcp,
        })
    }
}
