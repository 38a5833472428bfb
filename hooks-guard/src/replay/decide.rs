//! The decision about a call of the past. In: a call, and the gate of this machine's settings. Out: what the hook
//! would have decided, with secrets masked.

use serde::Serialize;

use super::call::TranscriptCall;
use crate::classify::{Crud, Parts};
use crate::gate::{Gate, GateDecision};
use crate::mask::Masked;
use crate::protocol::{self, AgentDecision, AgentPrompt, DecisionRequest, HookEvent, PastCall};
use crate::request::{McpTool, PermissionRequest, Sight};
use crate::rules::{PastAnswer, RuleDecision};
use crate::tool_call;

/// Maximum number of words that name a program and its subcommand in a reason.
const MAX_NAME_WORDS: usize = 3;

/// Decision of the hook about a call of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayDecision {
    /// The call runs without a question.
    Allowed,
    /// The call needs approval.
    Asked,
    /// The call does not run.
    Denied,
    /// No decision: the agent's own rules apply, as without the guard.
    LeftToAgent,
    /// The tool has no effect that the guard checks.
    NotChecked,
}

/// The decision about a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedCall {
    /// The decision.
    pub decision: ReplayDecision,
    /// The strongest effect; `None` without a decision.
    pub class: Option<Crud>,
    /// Source of the decision: the name of a rule, a program with its subcommand, or a tool.
    pub subject: String,
    /// The reason, with secrets masked.
    pub reason: String,
    /// The command or the description of the call, with secrets masked.
    pub command: String,
    /// `true` if the agent shows no prompt, so that only an operator could approve.
    pub is_unattended: bool,
    /// `true` if the directory of the call is gone, so that only the text could be classified.
    pub is_folder_gone: bool,
    /// The call as an approval, for suggestions of rules; `None` if it is neither a command nor a call of an MCP
    /// tool.
    pub approval: Option<PastAnswer>,
}

/// Decides about a call as the agent's hook would have.
pub async fn decide(gate: &Gate, call: &TranscriptCall) -> ReplayedCall {
    let past = PastCall {
        tool: &call.tool,
        arguments: &call.arguments,
        mcp: call.mcp.as_ref(),
        session: &call.session,
        id: call.id.as_deref(),
        cwd: call.cwd.as_deref(),
        mode: call.mode.as_deref(),
    };
    let input = protocol::past_input(call.agent, &past);
    let input = input.map(|input| serde_json::to_vec(&input).unwrap_or_default());
    let event = input.map(|input| protocol::read(call.agent, &input));
    match event {
        Some(Ok(HookEvent::Ask(question))) => decided(gate, call, question).await,
        Some(Ok(_)) | None => ReplayedCall::without(ReplayDecision::NotChecked, call, ""),
        // The hook denies what it cannot read.
        Some(Err(error)) => ReplayedCall::without(ReplayDecision::Denied, call, &error.to_string()),
    }
}

async fn decided(
    gate: &Gate,
    call: &TranscriptCall,
    mut question: DecisionRequest,
) -> ReplayedCall {
    tool_call::complete(&mut question.request, call.agent.name());
    question.request.asks_itself = !question.unattended();
    question.request.sight = Sight::FilesAndVariables;
    let decided = gate.decide(&question.request).await;
    let permission = &decided.permission;
    let decision = match AgentDecision::of(&question, permission) {
        AgentDecision::Allow(_) => ReplayDecision::Allowed,
        AgentDecision::Ask(_) => ReplayDecision::Asked,
        AgentDecision::Deny(_) => ReplayDecision::Denied,
        AgentDecision::Nothing => ReplayDecision::LeftToAgent,
    };
    let request = &question.request;
    let masked = match request.is_command() {
        true => Masked::with_parts(&request.command, Some(&decided.command_parts)),
        false => Masked::for_storage(&request.command),
    };
    let folder = request.cwd.as_deref();
    ReplayedCall {
        decision,
        class: Some(permission.classification),
        subject: masked.other(&subject(request, &decided, &call.tool)),
        reason: match (&request.file, &permission.rule) {
            // The files differ for each call.
            (Some(_), None) => file_reason(&call.tool, permission.classification),
            _ => masked.other(&permission.reasoning),
        },
        approval: approval(call, request, &decided, &masked.text),
        command: masked.text,
        is_unattended: question.prompt != AgentPrompt::Shown,
        is_folder_gone: folder.is_some_and(|folder| !folder.is_dir()),
    }
}

impl ReplayedCall {
    fn without(decision: ReplayDecision, call: &TranscriptCall, reason: &str) -> Self {
        Self {
            decision,
            class: None,
            subject: format!("`{}`", call.tool),
            reason: reason.to_owned(),
            command: call.tool.clone(),
            is_unattended: false,
            is_folder_gone: false,
            approval: None,
        }
    }
}

/// Returns the reason of an access to files, without their names.
fn file_reason(tool: &str, class: Crud) -> String {
    let does = match class {
        Crud::Read => "reads",
        Crud::Create => "creates",
        Crud::Update => "changes",
        Crud::Delete => "deletes",
    };
    format!("`{tool}` {does} files")
}

/// Returns what decided: the rule, the program with its subcommand, or the tool.
fn subject(request: &PermissionRequest, decided: &GateDecision, tool: &str) -> String {
    if let Some(rule) = &decided.permission.rule {
        return rule.clone();
    }
    if let Some(name) = McpTool::described_name(&request.command)
        && request.mcp.is_some()
    {
        return format!("MCP tool `{name}`");
    }
    match request.is_command() {
        true => program(&decided.command_parts, decided.permission.classification)
            .unwrap_or_else(|| "other commands".to_owned()),
        false => format!("`{tool}`"),
    }
}

/// Returns the program with its subcommand that has an effect.
fn program(parts: &Parts, class: Crud) -> Option<String> {
    let mut parts: Vec<_> = parts
        .runs()
        .filter(|part| part.program().is_some())
        .collect();
    // The strongest part first; the last of its equals is the innermost one.
    parts.sort_by_key(|part| (part.effect == class && part.ask, part.effect == class));
    let part = parts.pop()?;
    let call = part.calls.iter().max_by_key(|call| call.path.len());
    let words = call
        .map(|call| call.path.clone())
        .filter(|path| !path.is_empty());
    let words = words.or_else(|| Some(vec![part.program()?.to_owned()]))?;
    Some(format!(
        "`{}`",
        words[..words.len().min(MAX_NAME_WORDS)].join(" ")
    ))
}

/// Returns the call as an answer for the suggestion of rules.
fn approval(
    call: &TranscriptCall,
    request: &PermissionRequest,
    decided: &GateDecision,
    masked: &str,
) -> Option<PastAnswer> {
    let mcp = request.described_mcp_call();
    let mcp = mcp.and_then(|_| McpTool::described_name(&request.command));
    if !request.is_command() && mcp.is_none() {
        return None;
    }
    let permission = &decided.permission;
    let rule = permission.rule.as_deref();
    let has_failed = permission
        .classification_method
        .has_failed(permission.confidence);
    let unsuitable = if let Some(protection) = rule.and_then(RuleDecision::protection_of) {
        Some(format!("it touched a protection:{protection}"))
    } else if rule.is_some_and(RuleDecision::is_from_hook) {
        Some("a hook required approval".to_owned())
    } else if decided.error.is_some() || (mcp.is_none() && has_failed) {
        Some("it was not classified".to_owned())
    } else {
        None
    };
    Some(PastAnswer {
        command: masked.to_owned(),
        cwd: request.cwd.clone(),
        agent: request.agent.clone(),
        approved: true,
        at: call.at.unwrap_or(jiff::Timestamp::UNIX_EPOCH),
        masked: mcp.is_none() && masked != request.command,
        unsuitable,
        mcp: mcp.map(str::to_owned),
    })
}
