//! Other hooks of an agent. In: an agent, or a document of its settings. Out: how another hook can
//! change the input of a tool after the guard's decision, and the hooks that the document registers
//! before a tool.

use serde_json::Value;

use super::Agent;
use super::client_files::Source;
use super::tools::plain;

/// How another hook of an agent can change the input of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputChange {
    agent: Agent,
    /// Field of the reply with the changed input.
    pub(crate) field: &'static str,
    /// How it is known.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the table of the book"))]
    pub(crate) source: Source,
}

const CHANGES: &[InputChange] = &[
    change(Agent::ClaudeCode, "updatedInput", Source::Run("2.1.332")),
    change(Agent::Codex, "updatedInput", Source::Code("0.171.0")),
    change(Agent::Gemini, "tool_input", Source::Code("0.61.0")),
    change(Agent::Cursor, "updated_input", Source::Documentation),
    change(Agent::Copilot, "modifiedArgs", Source::Documentation),
    change(Agent::VsCode, "updatedInput", Source::Documentation),
    change(Agent::OpenCode, "output.args", Source::Code("1.18.33")),
    change(Agent::QwenCode, "updatedInput", Source::Code("0.24.4")),
    change(Agent::Droid, "updatedInput", Source::Code("0.225.2")),
    change(Agent::Crush, "updated_input", Source::Documentation),
    change(Agent::Cline, "overrideInput", Source::Code("3.0.65")),
    change(
        Agent::MistralVibe,
        "hook_specific_output.tool_input",
        Source::Run("3.0.3"),
    ),
    change(Agent::LettaCode, "updatedInput", Source::Run("0.32.18")),
    change(Agent::Auggie, "updatedInput", Source::Code("0.36.0")),
    change(Agent::KiloCode, "output.args", Source::Code("7.7.9")),
];

const fn change(agent: Agent, field: &'static str, source: Source) -> InputChange {
    InputChange {
        agent,
        field,
        source,
    }
}

/// Returns how another hook of an agent can change the input of a tool, if it is known.
pub(crate) fn input_change(agent: Agent) -> Option<&'static InputChange> {
    CHANGES.iter().find(|change| change.agent == agent)
}

/// A hook that a document registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisteredHook {
    /// The event.
    pub(crate) event: String,
    /// The command line, the address or another text that says what the hook runs; empty if there is
    /// none.
    pub(crate) runs: String,
}

/// Depth of the events in a document: `hooks`, or a plugin with its hooks.
const MAX_EVENT_DEPTH: usize = 3;

/// Depth of the handlers below an event.
const MAX_HANDLER_DEPTH: usize = 4;

/// Returns the hooks that a document registers at the agent's events before a tool.
pub(crate) fn registered_before(agent: Agent, document: &Value) -> Vec<RegisteredHook> {
    let events = agent.description().events.iter();
    let events = events.filter(|event| event.kind.is_before());
    let events: Vec<String> = events.map(|event| plain(event.name)).collect();
    let mut found = Vec::new();
    add_events(document, &events, MAX_EVENT_DEPTH, &mut found);
    add_tables(agent, document, &events, &mut found);
    found
}

/// Adds the hooks of a list of tables, each with its event.
#[cfg(feature = "cli")]
fn add_tables(agent: Agent, document: &Value, events: &[String], found: &mut Vec<RegisteredHook>) {
    let Some(format) = agent.description().toml() else {
        return;
    };
    for table in document[format.list].as_array().into_iter().flatten() {
        let text = |key: &str| table[key].as_str();
        if let Some(event) = text(format.event).filter(|event| events.contains(&plain(event))) {
            found.push(RegisteredHook {
                event: event.to_owned(),
                runs: text("command").unwrap_or_default().to_owned(),
            });
        }
    }
}

fn add_events(value: &Value, events: &[String], depth: usize, found: &mut Vec<RegisteredHook>) {
    let Some(object) = value.as_object().filter(|_| depth > 0) else {
        return;
    };
    for (name, value) in object {
        match events.contains(&plain(name)) {
            true => add_handlers(name, value, MAX_HANDLER_DEPTH, found),
            false => add_events(value, events, depth - 1, found),
        }
    }
}

/// Fields that say what a handler runs, the program first.
const RUNS: &[&str] = &["command", "bash", "powershell", "url", "script", "prompt"];

fn add_handlers(event: &str, value: &Value, depth: usize, found: &mut Vec<RegisteredHook>) {
    match value {
        Value::Array(values) if depth > 0 => {
            for value in values {
                add_handlers(event, value, depth - 1, found);
            }
        }
        Value::Object(group) if depth > 0 && group.contains_key("hooks") => {
            add_handlers(event, &group["hooks"], depth - 1, found);
        }
        Value::Object(handler) => {
            let mut texts = RUNS.iter().filter_map(|name| handler.get(*name)?.as_str());
            found.push(RegisteredHook {
                event: event.to_owned(),
                runs: texts.next().unwrap_or_default().to_owned(),
            });
        }
        Value::String(runs) => found.push(RegisteredHook {
            event: event.to_owned(),
            runs: runs.clone(),
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Agent, CHANGES, registered_before};

    #[test]
    fn hooks_are_found_in_every_form() {
        for (agent, document, hooks) in [
            (
                Agent::ClaudeCode,
                json!({"hooks": {"PreToolUse": [
                    {"matcher": "Bash", "hooks": [{"type": "command", "command": "./a"}]},
                    {"hooks": [{"type": "http", "url": "http://x"}, {"type": "prompt", "prompt": "p"}]},
                ], "PostToolUse": [{"hooks": [{"command": "after"}]}]}}),
                vec![
                    ("PreToolUse", "./a"),
                    ("PreToolUse", "http://x"),
                    ("PreToolUse", "p"),
                ],
            ),
            (
                Agent::Copilot,
                json!({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./b"}]}}),
                vec![("preToolUse", "./b")],
            ),
            (
                Agent::Gemini,
                json!({"hooks": {"BeforeTool": [{"hooks": [{"name": "x"}]}]}}),
                vec![("BeforeTool", "")],
            ),
            (
                Agent::Droid,
                json!({"PreToolUse": [{"hooks": [{"command": "./c"}]}]}),
                vec![("PreToolUse", "./c")],
            ),
            (Agent::ClaudeCode, json!({"hooks": {"Stop": [1]}}), vec![]),
            (Agent::ClaudeCode, json!([1]), vec![]),
        ] {
            let found = registered_before(agent, &document);
            let found: Vec<_> = found
                .iter()
                .map(|hook| (hook.event.as_str(), hook.runs.as_str()))
                .collect();
            assert_eq!(found, hooks, "{document}");
        }
    }

    #[test]
    fn the_page_names_how_other_hooks_change_inputs() {
        let page = include_str!("../../../docs/agents.md");
        let rows: Vec<String> = CHANGES
            .iter()
            .map(|change| {
                let source = change.source;
                let title = change.agent.title();
                format!("| {title} | `{}` | {source} |", change.field)
            })
            .collect();
        let missing = rows.iter().find(|row| !page.contains(*row));
        assert_eq!(
            missing,
            None,
            "docs/agents.md lacks of\n{}",
            rows.join("\n")
        );
    }
}
