//! Classification of tool calls other than shell commands. Takes an access to a file or to the
//! network, or a call of a tool of an MCP server; returns its class and findings.

use crate::classify::{
    Classification, Classifier, CommandAnalysis, Crud, Decision, Tables, ToolEffect,
};
use crate::mask;
use crate::protocol;
use crate::request::{AgentTool, AgentToolEffect, FileAccess, McpCall, NetworkAccess};
use crate::shell_word::single_quoted;

impl FileAccess {
    /// Classifies the access. `line` describes the access and is the text of the findings.
    ///
    /// The class is the effect of the tool. A read of a file that holds secrets requires
    /// confirmation, and so does an access without a file name.
    #[must_use]
    pub fn analyze(&self, line: &str) -> CommandAnalysis {
        let tables = Tables::embedded();
        let tool = &self.tool;
        let effect = |ask, understood, reason| ToolEffect {
            effect: self.effect,
            ask,
            reason,
            understood,
        };
        let mut effects = Vec::new();
        if self.paths.is_empty() {
            effects.push(effect(true, false, format!("`{tool}` names no file")));
        }
        for path in &self.paths {
            let shown = path.display();
            let reads = self.effect == Crud::Read && !protocol::lists(tool);
            let below = reads && protocol::searches(tool);
            let secret = |path: &str| {
                let folder =
                    || tables.may_read_secrets(path) || tables.may_read_secrets_below(path);
                tables.is_secret(path)
                    || reads && tables.may_be_private_file(path)
                    || below && folder()
            };
            if path.to_str().is_none_or(secret) {
                let reason = format!("`{tool}` accesses secrets in `{shown}`");
                effects.push(effect(true, true, reason));
            } else {
                let verb = match self.effect {
                    Crud::Read => "reads",
                    Crud::Create => "creates",
                    Crud::Update => "changes",
                    Crud::Delete => "deletes",
                };
                let ask = self.effect != Crud::Read;
                effects.push(effect(ask, true, format!("`{tool}` {verb} `{shown}`")));
            }
        }
        Classification::of_tool(line, effects).into()
    }
}

impl NetworkAccess {
    /// Classifies the access separately from the command that needs it. `line` describes the access
    /// and is the text of the finding. It always requires confirmation, because the guard cannot
    /// see which data is sent.
    #[must_use]
    pub fn analyze(&self, line: &str) -> CommandAnalysis {
        let effect = ToolEffect {
            effect: Crud::Create,
            ask: true,
            reason: format!("a command connects to `{}`", self.host),
            understood: true,
        };
        Classification::of_tool(line, [effect]).into()
    }
}

impl McpCall {
    /// Classifies the call. `line` describes the call and is the text of the finding. The server
    /// decides what a tool does, so the effect is unknown and requires confirmation.
    #[must_use]
    pub fn analyze(&self, line: &str) -> CommandAnalysis {
        let reason = match self.tools.as_slice() {
            [one] => format!(
                "the effect of the tool `{}` of the MCP server `{}` is unknown",
                one.tool, one.server
            ),
            _ => "the effect of this tool of an MCP server is unknown".to_owned(),
        };
        let effect = ToolEffect {
            effect: Crud::Create,
            ask: true,
            reason,
            understood: false,
        };
        Classification::of_tool(line, [effect]).into()
    }
}

/// Program whose table judges addresses.
const FETCHER: &str = "curl";

/// Maximum length of the query of an address that a tool fetches without approval, in characters: a longer
/// one can carry data.
const MAX_QUERY_CHARS: usize = 256;

impl AgentTool {
    /// Classifies the call. `line` describes the call and is the text of the findings.
    ///
    /// Addresses that the tool fetches are classified as `classifier` classifies a program that fetches
    /// them. An address with a secret or a long query requires confirmation, and so does a tool with
    /// another effect, or with an unknown one.
    #[must_use]
    pub fn analyze(&self, line: &str, classifier: &Classifier) -> CommandAnalysis {
        let name = &self.name;
        let asks = |effect, understood, reason| ToolEffect {
            effect,
            ask: true,
            reason,
            understood,
        };
        let effects = match &self.effect {
            None => {
                let reason = format!("the tool `{name}` of the agent is unknown");
                vec![asks(Crud::Create, false, reason)]
            }
            Some(AgentToolEffect::Does(does)) => {
                vec![asks(Crud::Create, true, format!("`{name}` {does}"))]
            }
            Some(AgentToolEffect::Fetches(addresses)) if addresses.is_empty() => {
                vec![asks(
                    Crud::Read,
                    false,
                    format!("`{name}` names no address"),
                )]
            }
            Some(AgentToolEffect::Fetches(addresses)) => {
                let fetches = addresses.iter();
                fetches
                    .map(|address| fetch(name, address, classifier))
                    .collect()
            }
        };
        Classification::of_tool(line, effects).into()
    }
}

/// Returns the effect of a fetch of an address by the tool `name`.
fn fetch(name: &str, address: &str, classifier: &Classifier) -> ToolEffect {
    let effect = |effect, ask, reason| ToolEffect {
        effect,
        ask,
        reason,
        understood: true,
    };
    let line = format!("{FETCHER} -- {}", single_quoted(address));
    if mask::has_secret(&line) {
        let reason = format!("`{name}` sends a secret in its address");
        return effect(Crud::Read, true, reason);
    }
    let query = address.split_once('?').map_or("", |(_, query)| query);
    if query.chars().count() > MAX_QUERY_CHARS {
        let reason = format!("`{name}` sends a long query, which can carry data");
        return effect(Crud::Read, true, reason);
    }
    match classifier.classify(&line) {
        Ok(found) if found.decision == Decision::AutoAllowed => {
            let start: String = address.chars().take(200).collect();
            effect(found.crud, false, format!("`{name}` fetches `{start}`"))
        }
        Ok(found) => {
            let (program, tool) = (format!("`{FETCHER}`"), format!("`{name}`"));
            let reason = match found.reasoning.contains(&program) {
                true => found.reasoning.replace(&program, &tool),
                false => format!("{tool} {}", found.reasoning),
            };
            effect(found.crud, true, reason)
        }
        Err(error) => effect(
            Crud::Read,
            true,
            format!("`{name}` fetches an address that cannot be judged: {error}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(effect: Crud, paths: &[&str]) -> Classification {
        let access = FileAccess {
            tool: "Tool".to_owned(),
            effect,
            paths: paths.iter().map(Into::into).collect(),
            input_hash: None,
        };
        access.analyze("Tool files").classification
    }

    #[test]
    fn p_06_reads_of_files_are_allowed_and_changes_need_confirmation() {
        let read = judge(Crud::Read, &["src/main.rs"]);
        assert_eq!(
            (read.crud, read.decision),
            (Crud::Read, Decision::AutoAllowed)
        );
        for effect in [Crud::Create, Crud::Update, Crud::Delete] {
            let verdict = judge(effect, &["src/main.rs"]);
            assert_eq!(verdict.crud, effect);
            assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        }
    }

    #[test]
    fn searches_of_folders_with_secrets_ask_and_name_lists_do_not() {
        let asks = |tool: &str, path: &str| {
            let access = FileAccess {
                tool: tool.to_owned(),
                effect: Crud::Read,
                paths: vec![path.into()],
                input_hash: None,
            };
            let verdict = access.analyze("Tool files").classification;
            verdict.decision == Decision::RequiresConfirmation
        };
        for path in ["~/.config", "~", "/", "/etc", "~/.ssh", ".env*"] {
            for tool in [
                "Grep",
                "grep_search",
                "search_file_content",
                "read_many_files",
            ] {
                assert!(asks(tool, path), "{tool} {path}");
            }
            if path != ".env*" {
                for tool in ["Glob", "LS", "list_directory"] {
                    assert!(!asks(tool, path), "{tool} {path}");
                }
            }
        }
        for path in [
            "src",
            "~/projects/app",
            "/usr/include",
            "~/.cargo/registry/src",
        ] {
            assert!(!asks("Grep", path), "{path}");
        }
        assert!(asks("Read", "~/.config/*/settings.json"));
        assert!(!asks("Read", "~/.config/app/settings.json"));
    }

    #[test]
    fn reads_of_secrets_and_of_files_without_a_name_ask() {
        for paths in [
            &["/srv/project/.env"][..],
            &["README.md", "/srv/dev/.ssh/id_ed25519"],
            &[],
        ] {
            let verdict = judge(Crud::Read, paths);
            assert_eq!(verdict.crud, Crud::Read);
            assert_eq!(
                verdict.decision,
                Decision::RequiresConfirmation,
                "{paths:?}"
            );
        }
    }
}
