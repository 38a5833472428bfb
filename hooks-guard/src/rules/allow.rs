//! Evaluates `allow` rules. In: a request and the rules. Out: the rules that allow all of it, or
//! the reason why none does.

use super::context::{RequestContext, name_of};
use super::paths::MatchResult;
use super::rule::Rule;
use crate::classify::{ControlTarget, Part, Tables, UNKNOWN};
use crate::request::{AgentTool, AgentToolEffect, FileAccess, McpCall, NetworkAccess};

/// Returns the rules that together allow every file of a tool call, or the reason why they do not.
pub(super) fn files<'r>(
    context: &RequestContext<'_>,
    file: &FileAccess,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let mut used: Vec<&Rule> = Vec::new();
    if file.paths.is_empty() {
        return Err("the tool call names no file".to_owned());
    }
    for path in &file.paths {
        let text = path.to_string_lossy();
        let rule = rules
            .iter()
            .find(|rule| rule.match_file(context, file, &text) == MatchResult::Yes)
            .ok_or_else(|| format!("no rule allows `{}` of `{text}`", file.tool))?;
        if !used.iter().any(|other| other.place == rule.place) {
            used.push(rule);
        }
    }
    Ok(used)
}

/// Returns the rule that allows access to the network, or the reason why none does.
pub(super) fn network<'r>(
    context: &RequestContext<'_>,
    access: &NetworkAccess,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let allows = |rule: &&&Rule| rule.match_network(context, access) == MatchResult::Yes;
    let rule = rules.iter().find(allows);
    rule.map(|rule| vec![*rule])
        .ok_or_else(|| format!("no rule allows the host `{}`", access.host))
}

/// Returns the rule that allows a call of a tool of an MCP server, or the reason why none does.
pub(super) fn mcp<'r>(
    context: &RequestContext<'_>,
    call: &McpCall,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let allows = |rule: &&&Rule| rule.match_mcp(context, call) == MatchResult::Yes;
    let rule = rules.iter().find(allows);
    rule.map(|rule| vec![*rule])
        .ok_or_else(|| match call.tools.as_slice() {
            [one] => format!("no rule allows the MCP tool `{}/{}`", one.server, one.tool),
            _ => "no rule allows this MCP tool in every way to read its name".to_owned(),
        })
}

/// Returns the rule that allows a call of a tool of the agent, or the reason why none does. Rules allow only
/// tools with a known effect that always needs approval.
pub(super) fn tool<'r>(
    context: &RequestContext<'_>,
    tool: &AgentTool,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let name = &tool.name;
    match &tool.effect {
        Some(AgentToolEffect::Does(_)) => {}
        Some(AgentToolEffect::Fetches(_)) => {
            return Err(format!("no rule can allow the addresses of `{name}`"));
        }
        None => return Err(format!("no rule can allow the unknown tool `{name}`")),
    }
    let allows = |rule: &&&Rule| rule.match_tool(context, tool) == MatchResult::Yes;
    let rule = rules.iter().find(allows);
    rule.map(|rule| vec![*rule])
        .ok_or_else(|| format!("no rule allows the tool `{name}`"))
}

/// Returns the rules that together allow every part of a command. An error names a part that no
/// rule allows, or the reason why `allow` rules do not apply to this command.
pub(super) fn parts<'r>(
    context: &RequestContext<'_>,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let needs = parts_needing_rule(context)?;
    let mut used: Vec<&Rule> = Vec::new();
    for part in needs {
        let mut why = None;
        let mut found = None;
        for rule in rules {
            match rule.covers(context, part) {
                Ok(()) => {
                    found = Some(rule);
                    break;
                }
                // A rule for another program does not explain the failure.
                Err(_) if !rule.concerns_program_of(part) => {}
                Err(reason) => why = why.or(Some((&rule.place, reason))),
            }
        }
        let Some(rule) = found else {
            let shown: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
            let shown = shown.join(" ").replace(UNKNOWN, "…");
            return Err(match why {
                Some((place, reason)) => format!("{place} does not allow `{shown}`: {reason}"),
                None => format!("no rule allows `{shown}`"),
            });
        };
        if !used.iter().any(|other| other.place == rule.place) {
            used.push(rule);
        }
    }
    match used.is_empty() {
        true => Err("no part of the command needs an `allow` rule".to_owned()),
        false => Ok(used),
    }
}

/// Returns the reason why the parts of a command do not show all that it does, if there is one.
pub(super) fn opaque_reason(context: &RequestContext<'_>) -> Option<&'static str> {
    let parts = context.parts();
    let verdict = &context.found.classification;
    let strongest = parts.all.iter().map(|part| part.effect).max();
    if !parts.parsers_agree {
        Some("the command may run other code than it shows")
    } else if !parts.complete || verdict.has_failed() {
        Some("the command is too complex to analyze")
    } else if parts.defines_functions || parts.all.iter().any(|part| name_of(part) == "alias") {
        Some("the command defines functions or aliases")
    } else if parts.effect_outside_parts.is_some()
        || strongest.is_none_or(|most| verdict.crud > most)
    {
        Some("the command has effects outside of its parts")
    } else if parts.all.iter().any(changes_shell) {
        Some("the command changes how the shell parses later commands")
    } else {
        None
    }
}

/// Returns the parts that need a rule: those that need confirmation and those that run them. If the
/// agent can type commands into one of the programs, returns all parts. An error holds the reason
/// why `allow` rules do not apply to the command.
pub(super) fn parts_needing_rule<'s>(
    context: &'s RequestContext<'_>,
) -> Result<Vec<&'s Part>, String> {
    if let Some(why) = opaque_reason(context) {
        return Err(why.to_owned());
    }
    let all = &context.parts().all;
    let redirected_group = |part: &Part| part.words.is_empty() && !part.redirections.is_empty();
    let mut needs = vec![false; all.len()];
    for (at, part) in all.iter().enumerate() {
        if part.words.is_empty() {
            let inside = || all.iter().any(|inner| inner.parent == Some(at));
            let only_sets = !part.assignments.is_empty() && part.redirections.is_empty();
            if part.ask && !only_sets && !(redirected_group(part) && inside()) {
                return Err("the command has effects outside of its parts".to_owned());
            }
            continue;
        }
        needs[at] |= context.is_typed_into()
            || part.ask
            || !part.redirections.is_empty()
            || context.around(part).any(redirected_group);
    }
    for at in (0..all.len()).rev() {
        let mut next = all[at].parent.filter(|_| needs[at]);
        while let Some(around) = next {
            needs[around] |= !all[around].words.is_empty();
            next = all[around].parent;
        }
    }
    let parts = all.iter().zip(&needs).filter(|(_, needs)| **needs);
    Ok(parts.map(|(part, _)| part).collect())
}

/// Returns `true` for commands that change the meaning of later words, except options that stop the
/// shell at errors.
fn changes_shell(part: &Part) -> bool {
    let mut words = part.words.iter().skip(1);
    match name_of(part) {
        "set" => !words.all(|word| {
            let text = word.text.as_str();
            let flags = text.strip_prefix(['-', '+']);
            matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
                || flags.is_some_and(|f| !f.is_empty() && f.chars().all(|c| "euxo".contains(c)))
        }),
        _ => Tables::embedded()
            .controls(part)
            .contains(&ControlTarget::Parsing),
    }
}
