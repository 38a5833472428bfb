//! Suggests rules for tools of MCP servers. In: the answers about their calls. Out: a rule for each
//! tool that was approved often enough and never denied, with its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;

use super::answer::{PastAnswer, Rejections};
use super::draft::string;
use crate::protocol::mcp_separators;
use crate::request::{McpCall, McpTool, PermissionRequest};
use crate::rules::book::RuleBook;
use crate::rules::rule::mcp_tool;
use crate::rules::set::Rules;
use crate::rules::verdict::{RuleDecision, RuleEffect};

/// Maximum number of examples of a tool.
const MAX_EXAMPLES: usize = 3;

/// The answers about tools of MCP servers.
#[derive(Debug, Default)]
pub(super) struct ToolAnswers {
    approved: BTreeMap<String, ApprovedTool>,
    /// Names in denied calls.
    denied: BTreeSet<String>,
    /// Number of approvals of tools that were approved too seldom.
    pub(super) rare: usize,
}

/// A tool that was approved.
#[derive(Debug)]
pub(super) struct ApprovedTool {
    /// The server and the tool.
    pub(super) tool: McpTool,
    pub(super) count: usize,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// The directories and agents of the calls.
    places: BTreeSet<(Option<PathBuf>, Option<String>)>,
    /// Descriptions of calls, the first ones.
    pub(super) examples: Vec<String>,
}

impl ApprovedTool {
    /// Returns the tool as a rule names it.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.tool.server, self.tool.tool)
    }

    /// Returns the rule with its tests in TOML.
    pub(super) fn text(&self, comment: &str) -> String {
        let name = string(&self.name());
        let other = string(&self.near_miss());
        format!(
            "# {comment}\n[[rule]]\neffect = \"allow\"\nmcp = {name}\n\n\
             [[rule.test]]\nmcp = {name}\nexpect = \"allow\"\n\n\
             [[rule.test]]\nmcp = {other}\nexpect = \"ask\"\n"
        )
    }

    /// Returns `true` if a name in the trail may name the tool.
    fn may_be(&self, name: &str) -> bool {
        let McpTool { server, tool } = &self.tool;
        let mut joined = mcp_separators().map(|join| format!("{server}{join}{tool}"));
        // An agent may add a prefix.
        name == self.name() || joined.any(|joined| name.ends_with(&joined))
    }

    /// Returns the decision of rules about a call of the tool.
    fn decision(
        &self,
        rules: &Rules,
        cwd: &Option<PathBuf>,
        agent: &Option<String>,
    ) -> Option<RuleDecision> {
        let call = McpCall {
            tools: vec![self.tool.clone()],
            runs_command: false,
            input_hash: None,
        };
        let what = self.tool.description();
        let found = call.analyze(&what);
        let request = PermissionRequest {
            mcp: Some(call),
            agent: agent.clone(),
            cwd: cwd.clone(),
            ..PermissionRequest::new(what)
        };
        rules.decide(&request, &found)
    }

    /// Returns a tool with a longer name, which no rule for this tool allows.
    pub(super) fn near_miss(&self) -> String {
        format!("{}_x", self.name())
    }
}

impl ToolAnswers {
    /// Adds an answer. Returns `false` if it is not about a tool of an MCP server.
    pub(super) fn add(&mut self, answer: &PastAnswer, unsuitable: &mut Rejections) -> bool {
        let Some(name) = &answer.mcp else {
            return false;
        };
        if !answer.approved {
            self.denied.insert(name.clone());
            return true;
        }
        if let Some(reason) = &answer.unsuitable {
            unsuitable.add(&answer.command, 1, reason);
            return true;
        }
        if answer.masked {
            unsuitable.add(&answer.command, 1, "its secrets are masked in the trail");
            return true;
        }
        let tool = match unambiguous(name) {
            Ok(tool) => tool,
            Err(reason) => {
                unsuitable.add(&answer.command, 1, reason);
                return true;
            }
        };
        let approved = self.approved.entry(name.clone());
        let approved = approved.or_insert_with(|| ApprovedTool {
            tool,
            count: 0,
            first: answer.at,
            last: answer.at,
            places: BTreeSet::new(),
            examples: Vec::new(),
        });
        approved.count += 1;
        approved.first = approved.first.min(answer.at);
        approved.last = approved.last.max(answer.at);
        let place = (answer.cwd.clone(), answer.agent.clone());
        approved.places.insert(place);
        let is_new = !approved.examples.contains(&answer.command);
        if is_new && approved.examples.len() < MAX_EXAMPLES {
            approved.examples.push(answer.command.clone());
        }
        true
    }

    /// Returns the tools for which a rule is suggested. `user` are the user's rules.
    pub(super) fn suitable(
        &mut self,
        book: &RuleBook,
        user: &Rules,
        min: usize,
        unsuitable: &mut Rejections,
    ) -> Vec<ApprovedTool> {
        let approved = std::mem::take(&mut self.approved);
        let mut suitable = Vec::new();
        for tool in approved.into_values() {
            match self.check(book, user, &tool) {
                Ok(false) => {}
                Ok(true) if tool.count < min => self.rare += tool.count,
                Ok(true) => suitable.push(tool),
                Err(reason) => {
                    let command = tool.tool.description();
                    unsuitable.add(&command, tool.count, &reason);
                }
            }
        }
        suitable
    }

    /// Returns `true` if a tool needs a rule. An error holds the reason why none is suggested.
    fn check(&self, book: &RuleBook, user: &Rules, tool: &ApprovedTool) -> Result<bool, String> {
        if self.denied.iter().any(|denied| tool.may_be(denied)) {
            return Err("a call of it was denied".to_owned());
        }
        let mut needs_rule = false;
        for (cwd, agent) in &tool.places {
            let rules = book.rules_in(cwd.as_deref());
            let rules =
                rules.map_err(|_| "the rules of its directory cannot be read".to_owned())?;
            for rules in [&rules, user] {
                match tool.decision(rules, cwd, agent) {
                    None => needs_rule = true,
                    Some(decision) if decision.effect == RuleEffect::Allow => {}
                    Some(decision) => {
                        return Err(format!("a stricter rule applies: {}", decision.rule));
                    }
                }
            }
        }
        Ok(needs_rule)
    }
}

/// Returns the tool with this name in the trail, if a pattern can name it alone.
fn unambiguous(name: &str) -> Result<McpTool, &'static str> {
    let Some((server, tool)) = mcp_tool(name) else {
        return Err("the agent's name of the tool can be read in several ways");
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !server.chars().all(is_plain) || !tool.chars().all(is_plain) {
        return Err("a character in its name has another meaning in a pattern");
    }
    Ok(McpTool {
        server: server.to_owned(),
        tool: tool.to_owned(),
    })
}
