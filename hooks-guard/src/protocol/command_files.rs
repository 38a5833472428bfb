//! Files of a project with commands that a user calls by name, and whose text runs shell commands. In:
//! an agent, a folder, the text of a file. Out: the folders of such files, and whether a text runs a
//! command.

use super::Agent;
use super::client_files::Source;

/// A folder with commands of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandFolder {
    pub(crate) agent: Agent,
    /// Path below the project.
    pub(crate) path: &'static str,
    /// End of the names of the files.
    pub(crate) extension: &'static str,
    /// Start of a shell command in the text.
    pub(crate) mark: &'static str,
    /// The event at which the agent calls its hook before such a command, if it has one.
    pub(crate) event: Option<&'static str>,
    /// How it is known.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the table of the book"))]
    pub(crate) source: Source,
}

pub(crate) const FOLDERS: &[CommandFolder] = &[
    CommandFolder {
        agent: Agent::ClaudeCode,
        path: ".claude/commands",
        extension: "md",
        mark: "!`",
        event: Some("PreSkillShellCommand"),
        source: Source::Run("2.1.332"),
    },
    CommandFolder {
        agent: Agent::Gemini,
        path: ".gemini/commands",
        extension: "toml",
        mark: "!{",
        event: None,
        source: Source::Code("0.61.0"),
    },
    CommandFolder {
        agent: Agent::QwenCode,
        path: ".qwen/commands",
        extension: "md",
        mark: "!{",
        event: None,
        source: Source::Code("0.24.4"),
    },
    CommandFolder {
        agent: Agent::OpenCode,
        path: ".opencode/command",
        extension: "md",
        mark: "!`",
        event: None,
        source: Source::Code("1.18.33"),
    },
    CommandFolder {
        agent: Agent::OpenCode,
        path: ".opencode/commands",
        extension: "md",
        mark: "!`",
        event: None,
        source: Source::Code("1.18.33"),
    },
    CommandFolder {
        agent: Agent::KiloCode,
        path: ".kilo/command",
        extension: "md",
        mark: "!`",
        event: None,
        source: Source::Code("7.7.9"),
    },
    CommandFolder {
        agent: Agent::KiloCode,
        path: ".kilo/commands",
        extension: "md",
        mark: "!`",
        event: None,
        source: Source::Code("7.7.9"),
    },
    CommandFolder {
        agent: Agent::LettaCode,
        path: ".commands",
        extension: "md",
        mark: "!`",
        event: None,
        source: Source::Run("0.32.18"),
    },
    // Qwen Code also reads the commands of Gemini CLI, in its own folder.
    CommandFolder {
        agent: Agent::QwenCode,
        path: ".qwen/commands",
        extension: "toml",
        mark: "!{",
        event: None,
        source: Source::Code("0.24.4"),
    },
];

impl CommandFolder {
    /// Returns `true` if a text of a file runs a shell command.
    pub(crate) fn runs_command(&self, text: &str) -> bool {
        text.contains(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::{Agent, FOLDERS};
    use crate::protocol::description::HookKind;

    #[test]
    fn an_event_of_a_folder_is_one_of_its_agent() {
        for folder in FOLDERS {
            let mut events = folder.agent.description().events.iter();
            let is_known = |name: &str| {
                events.any(|event| event.name == name && event.kind == HookKind::BeforeSkillCommand)
            };
            assert!(folder.event.is_none_or(is_known), "{folder:?}");
        }
        let skills = |agent: &Agent| {
            let mut events = agent.description().events.iter();
            events.any(|event| event.kind == HookKind::BeforeSkillCommand)
        };
        let with_event: Vec<_> = Agent::ALL.into_iter().filter(skills).collect();
        assert_eq!(with_event, [Agent::ClaudeCode]);
    }

    #[test]
    fn the_page_names_every_folder() {
        let page = include_str!("../../../docs/agents.md");
        let rows: Vec<String> = FOLDERS
            .iter()
            .map(|folder| {
                let event = match folder.event {
                    Some(event) => format!("yes, at `{event}`"),
                    None => "no".to_owned(),
                };
                let source = folder.source;
                let closing = match folder.mark {
                    "!{" => "!{…}".to_owned(),
                    mark => format!("{mark}…` "),
                };
                format!(
                    "| `{}/**.{}` | {} | ``{closing}`` | {event} | {source} |",
                    folder.path,
                    folder.extension,
                    folder.agent.title()
                )
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
