//! Files of a project that set variables for the commands of an agent. In: a directory, or the text of
//! such a file. Out: the files, and the variables with their values.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Agent;
use super::settings_text;
use crate::classify::{Classifier, Decision};
use crate::shell_word::single_quoted;

/// A file of a project that sets variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableFile {
    /// Path below the project.
    path: &'static str,
    pub(crate) format: VariableFormat,
    /// The agents that give the variables to their commands; empty if only the shell of the user
    /// reads the file.
    agents: &'static [Agent],
}

/// How a file sets variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableFormat {
    /// The object `env` of a JSON document.
    Claude,
    /// The table `shell_environment_policy.set` of a TOML document.
    Codex,
    /// The objects `terminal.integrated.env.PLATFORM` of a JSON document.
    VsCode,
    /// Lines `NAME=value`, with or without `export`.
    Lines,
}

const FILES: &[VariableFile] = &[
    // Claude Code 2.1.332, also in `-p` and without trust.
    file(
        ".claude/settings.json",
        VariableFormat::Claude,
        &[Agent::ClaudeCode],
    ),
    file(
        ".claude/settings.local.json",
        VariableFormat::Claude,
        &[Agent::ClaudeCode],
    ),
    // Codex 0.171.0, in trusted projects.
    file(".codex/config.toml", VariableFormat::Codex, &[Agent::Codex]),
    file(
        ".vscode/settings.json",
        VariableFormat::VsCode,
        &[Agent::VsCode],
    ),
    // Gemini CLI 0.61.0 and Qwen Code 0.24.4.
    file(".gemini/.env", VariableFormat::Lines, &[Agent::Gemini]),
    file(".qwen/.env", VariableFormat::Lines, &[Agent::QwenCode]),
    file(
        ".qwen/settings.json",
        VariableFormat::Claude,
        &[Agent::QwenCode],
    ),
    file(
        ".env",
        VariableFormat::Lines,
        &[Agent::Gemini, Agent::QwenCode],
    ),
    // `direnv` gives them to the shell, after its user has allowed it.
    file(".envrc", VariableFormat::Lines, &[]),
];

const fn file(
    path: &'static str,
    format: VariableFormat,
    agents: &'static [Agent],
) -> VariableFile {
    VariableFile {
        path,
        format,
        agents,
    }
}

impl VariableFile {
    /// Returns the files of a project that set variables for an agent or for the shell that starts
    /// it.
    #[cfg(feature = "cli")]
    pub(crate) fn in_project(folder: &Path) -> impl Iterator<Item = (PathBuf, VariableFormat)> {
        let files = FILES.iter();
        files.map(move |file| (folder.join(file.path), file.format))
    }

    /// Returns the files of a project that set variables for the commands of an agent.
    pub(crate) fn of_agent(
        agent: Agent,
        folder: &Path,
    ) -> impl Iterator<Item = (PathBuf, VariableFormat)> {
        let files = FILES.iter();
        let files = files.filter(move |file| file.agents.contains(&agent));
        files.map(move |file| (folder.join(file.path), file.format))
    }
}

/// A variable that a file sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVariable {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl VariableFormat {
    /// Returns the variables that a file sets. A file that cannot be parsed sets none.
    pub(crate) fn variables(self, text: &str) -> Vec<FileVariable> {
        let of = |value: &Value| -> Vec<FileVariable> {
            let entries = value.as_object().into_iter().flatten();
            let variables = entries.map(|(name, value)| FileVariable {
                name: name.clone(),
                value: match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                },
            });
            variables.collect()
        };
        match self {
            Self::Claude => {
                settings_text::json(text).map_or_else(Vec::new, |json| of(&json["env"]))
            }
            Self::VsCode => {
                let json = settings_text::json(text).unwrap_or_default();
                let platforms = ["linux", "osx", "windows"];
                let keys = platforms.map(|name| format!("terminal.integrated.env.{name}"));
                keys.iter()
                    .flat_map(|key| of(&json[key.as_str()]))
                    .collect()
            }
            Self::Codex => {
                let settings = settings_text::toml(text).unwrap_or_default();
                let profiles = settings["profiles"].as_object().into_iter();
                let profiles = profiles.flat_map(|profiles| profiles.values());
                let sets = profiles.chain([&settings]);
                sets.flat_map(|settings| of(&settings["shell_environment_policy"]["set"]))
                    .collect()
            }
            Self::Lines => text.lines().filter_map(variable_of_line).collect(),
        }
    }
}

fn variable_of_line(line: &str) -> Option<FileVariable> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inner = value.strip_prefix(quote)?;
        inner.split(quote).next()
    });
    Some(FileVariable {
        name: name.trim().to_owned(),
        value: quoted.unwrap_or(value).to_owned(),
    })
}

/// A variable that decides what commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecidingVariable {
    pub(crate) name: String,
    /// What it decides: "sets `BASH_ENV`, which shells run or load".
    pub(crate) reason: String,
}

/// Returns the first of these variables that decides what commands run.
pub(crate) fn deciding(
    classifier: &Classifier,
    variables: &[FileVariable],
) -> Option<DecidingVariable> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let mut variables = variables.iter().filter(|variable| is_name(&variable.name));
    variables.find_map(|FileVariable { name, value }| {
        let set = format!("export {name}={}", single_quoted(value));
        let reason = match classifier.classify(&set) {
            Ok(found) if found.decision == Decision::AutoAllowed => return None,
            Ok(found) => found.reasoning,
            // Too long a value.
            Err(error) => format!("sets `{name}`, which cannot be judged: {error}"),
        };
        Some(DecidingVariable {
            name: name.clone(),
            reason,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{DecidingVariable, FileVariable, VariableFormat, deciding};
    use crate::classify::Classifier;

    const FORMATS: [VariableFormat; 4] = [
        VariableFormat::Claude,
        VariableFormat::Codex,
        VariableFormat::VsCode,
        VariableFormat::Lines,
    ];

    #[test]
    fn variables_are_found_in_every_format() {
        for (text, format) in [
            (
                r#"{"env": {"HOME": "/x"}, /* why */ "a": {"B": 1}}"#,
                VariableFormat::Claude,
            ),
            (
                "[shell_environment_policy]\nset = { HOME = '/x' }",
                VariableFormat::Codex,
            ),
            (
                "[profiles.a.shell_environment_policy.set]\nHOME = '/x'",
                VariableFormat::Codex,
            ),
            (
                r#"{"terminal.integrated.env.osx": {"HOME": "/x"}}"#,
                VariableFormat::VsCode,
            ),
            ("# c\n  export HOME=/x\n", VariableFormat::Lines),
            ("HOME ='/x' # c", VariableFormat::Lines),
        ] {
            let variable = FileVariable {
                name: "HOME".into(),
                value: "/x".into(),
            };
            assert_eq!(format.variables(text), [variable], "{text}");
        }
        for format in FORMATS {
            for text in ["", "{", "[", "{\"env\": 1}", "no line"] {
                assert!(format.variables(text).is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn a_variable_is_judged_with_its_value() {
        let judged = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            deciding(&Classifier::new(), &[FileVariable { name, value }])
        };
        for (name, value) in [
            ("BASH_ENV", "./x"),
            ("GIT_EXTERNAL_DIFF", "it's"),
            ("NODE_OPTIONS", "--require ./x.js"),
            ("PATH", "./bin"),
        ] {
            let found = judged(name, value);
            let names = |found: DecidingVariable| found.name == name && found.reason.contains(name);
            assert!(found.is_some_and(names), "{name}={value}");
        }
        for (name, value) in [
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("DATABASE_URL", "postgres://localhost/app"),
            ("NODE_ENV", "it's $(x)"),
            ("a b", "x"),
        ] {
            assert_eq!(judged(name, value), None, "{name}={value}");
        }
    }
}
