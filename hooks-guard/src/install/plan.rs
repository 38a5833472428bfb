//! The entries to register with each agent. In: an agent and the hook's command line. Out: the
//! entries by event, and notes for the user.

use std::ffi::OsStr;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::BINARY_NAME;
use super::version::{claude_ignores_lateness, claude_is_unknown};
use crate::protocol::own_tools;
use crate::protocol::{
    AFTER_TOOL_TIMEOUT, Agent, BEFORE_TOOL_TIMEOUT, HandlerField, JsonRegistration, McpNaming,
    ReplyFormat, TomlRegistration, ToolKind, ToolMatcher,
};
use crate::shell_word::single_quoted;

/// The entries for a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) agent: Agent,
    /// Required keys at the top level of the document.
    pub(crate) root: Vec<(String, Value)>,
    /// The entries, by event.
    pub(crate) entries: Vec<(String, Value)>,
}

/// Command line of an installed hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookCall<'a> {
    /// Absolute path of the program.
    pub(crate) binary: &'a str,
    /// Absolute path of the configuration.
    pub(crate) config: &'a str,
    /// The trail: the absolute path of its file, or a URL. `None` if the configuration names it.
    pub(crate) database: Option<&'a str>,
    /// `true` if the agent runs without a user at the keyboard.
    pub(crate) unattended: bool,
}

impl Plan {
    /// Returns the entries for an agent; none if it uses a plugin or scripts.
    pub(crate) fn new(agent: Agent, call: HookCall<'_>) -> Self {
        let description = agent.description();
        let entries = description.events.iter().filter_map(|event| {
            let is_before = event.kind.is_before();
            let matcher = matcher(agent, event.matcher?);
            let entry = match (description.json(), description.toml()) {
                (Some(format), _) => entry(agent, call, format, is_before, matcher),
                (None, Some(format)) => table(agent, call, format, is_before, event.name),
                (None, None) => return None,
            };
            Some((event.name.to_owned(), entry))
        });
        let version = |version: u64| ("version".to_owned(), version.into());
        let format = description.json();
        Self {
            agent,
            root: format
                .and_then(|format| format.version)
                .map(version)
                .into_iter()
                .collect(),
            entries: entries.collect(),
        }
    }
}

/// Returns the entry of one event.
fn entry(
    agent: Agent,
    call: HookCall<'_>,
    format: &JsonRegistration,
    is_before: bool,
    matcher: Option<String>,
) -> Value {
    let time = match is_before {
        true => format.short_timeout.unwrap_or(BEFORE_TOOL_TIMEOUT),
        false => AFTER_TOOL_TIMEOUT,
    };
    let mut handler = handler(
        agent,
        call,
        format.handler,
        time,
        is_before,
        matcher.as_deref(),
    );
    if let Some((key, value)) = format.fail_closed.filter(|_| is_before) {
        handler.insert(key.to_owned(), value.to_json());
    }
    match (format.grouped, matcher) {
        (true, Some(matcher)) => json!({"matcher": matcher, "hooks": [handler]}),
        (true, None) => json!({"hooks": [handler]}),
        (false, _) => Value::Object(handler),
    }
}

/// Returns the entry of one event in a TOML document, which has a list of all entries.
fn table(
    agent: Agent,
    call: HookCall<'_>,
    format: &TomlRegistration,
    is_before: bool,
    event: &str,
) -> Value {
    let time = match is_before {
        true => BEFORE_TOOL_TIMEOUT,
        false => AFTER_TOOL_TIMEOUT,
    };
    let mut table = Map::from_iter([(format.event.to_owned(), event.into())]);
    table.extend(handler(agent, call, format.fields, time, is_before, None));
    for field in format.fields {
        if let HandlerField::Name(key) = *field {
            table.insert(key.to_owned(), entry_name(call, event).into());
        }
    }
    if let Some((key, value)) = format.fail_closed.filter(|_| is_before) {
        table.insert(key.to_owned(), value.to_json());
    }
    table.into()
}

/// Returns the name of an entry. A project cannot know the paths, and so cannot have an entry of the same
/// name, which would replace the hook.
fn entry_name(call: HookCall<'_>, event: &str) -> String {
    let paths = [call.binary, call.config, call.database.unwrap_or_default()];
    format!("{BINARY_NAME}-{event}-{}", &hash(&paths.join("\0"))[..16])
}

/// Returns the SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Returns the fields of a handler.
fn handler(
    agent: Agent,
    call: HookCall<'_>,
    fields: &[HandlerField],
    time: Duration,
    is_before: bool,
    matcher: Option<&str>,
) -> Map<String, Value> {
    let mut handler = Map::new();
    for field in fields {
        let (key, value) = match *field {
            HandlerField::Text(key, text) => (key, text.into()),
            HandlerField::True(key) => (key, true.into()),
            // The caller knows the event.
            HandlerField::Name(_) => continue,
            HandlerField::Command(key) => {
                let line = command_line(agent, call, time);
                // Only a hook before a tool can deny.
                let line = match is_before {
                    true => format!("{line} {}", or_deny(agent)),
                    false => line,
                };
                (key, line.into())
            }
            HandlerField::PowerShell(key) => (key, powershell_line(agent, call, time).into()),
            HandlerField::Matcher(key) => match matcher {
                Some(matcher) => (key, matcher.into()),
                None => continue,
            },
            HandlerField::Seconds(key) => (key, time.as_secs().into()),
            HandlerField::Milliseconds(key) => (key, (time.as_secs() * 1000).into()),
        };
        handler.insert(key.to_owned(), value);
    }
    handler
}

/// Returns steps left to the user and notes, one sentence each.
pub(super) fn to_do(agent: Agent, path: Option<&OsStr>) -> Vec<String> {
    let mut notes: Vec<String> = match agent {
        Agent::ClaudeCode => claude_ignores_lateness(path)
            .map(|late| format!("{late}; update it to 2.1.295 or later."))
            .or_else(|| claude_is_unknown(path).then(|| CLAUDE_UNKNOWN.to_owned()))
            .into_iter()
            .collect(),
        _ => {
            let notes = agent.description().notes.iter();
            notes.map(|&text| text.to_owned()).collect()
        }
    };
    notes.extend(open_switches(agent));
    notes
}

/// Returns what still switches the hook off after an installation, if something does.
fn open_switches(agent: Agent) -> Option<String> {
    let switches = &agent.description().places.switches;
    let (kind, name) = match (switches.settings.first(), switches.variables.first()) {
        (Some(setting), _) => ("setting", setting.keys.join(".")),
        (None, Some(variable)) => ("variable", (*variable).to_owned()),
        (None, None) => return None,
    };
    let managed = switches
        .managed
        .map_or_else(String::new, |text| format!(" {text}"));
    Some(format!(
        "The {kind} `{name}` can still switch the hook off, in a project, too; start {} with \
         `hooks-guard run {agent}`, which refuses then.{managed}",
        agent.title()
    ))
}

/// Note if the version of Claude Code cannot be read.
const CLAUDE_UNKNOWN: &str = "The version of Claude Code could not be determined. Versions before \
                              2.1.295 run the tool if the hook times out.";

/// Step left to the user if Codex's `config.toml` cannot be changed.
pub(super) const TRUST_BY_HAND: &str = "Codex silently skips the hooks until you trust them, and \
                                        its `config.toml` could not be changed. Run `/hooks` in \
                                        Codex and trust the three hooks of hooks-guard. \
                                        `hooks-guard doctor` checks whether they are trusted.";

/// Note if the script after a tool cannot be written.
pub(super) const NO_RUNS: &str = "The script after a tool was not written by hooks-guard, so runs \
                                  are not recorded. Move it away and run `install` again.";

/// Note if the directory of opencode or Kilo Code already has a `.npmrc`.
pub(super) const LONG_START: &str = "Without a network, the agent waits more than a minute at its \
                                     first start. To shorten this, add `fetch-retries=0` to the \
                                     `.npmrc` beside its settings.";

/// Denies if the hook cannot be run, is killed, or exits with a status other than 0: most agents
/// would run the tool then. Every agent treats status 2 as a denial.
const OR_DENY: &str = "|| { echo 'hooks-guard failed: refused' >&2; exit 2; }";

/// As [`OR_DENY`], for an agent that reads the exit status: the hook itself denies with status 2,
/// and its reason is already written.
const OR_DENY_BY_STATUS: &str =
    "|| { [ $? -eq 2 ] || echo 'hooks-guard failed: refused' >&2; exit 2; }";

/// Returns the end of the command line of a hook before a tool.
fn or_deny(agent: Agent) -> &'static str {
    match agent.description().reply {
        ReplyFormat::ExitStatus | ReplyFormat::Grok => OR_DENY_BY_STATUS,
        _ => OR_DENY,
    }
}

/// Returns the command line that the user registers if `install` cannot.
pub(super) fn line_by_hand(agent: Agent, call: HookCall<'_>) -> String {
    let line = command_line(agent, call, BEFORE_TOOL_TIMEOUT);
    format!("{line} {}", or_deny(agent))
}

fn is_shell(tool: ToolKind) -> bool {
    matches!(tool, ToolKind::Shell | ToolKind::PowerShell)
}

/// Returns the matcher of an entry in the agent's format.
fn matcher(agent: Agent, tools: ToolMatcher) -> Option<String> {
    let names = |which: &dyn Fn(ToolKind) -> bool| {
        let tools = agent.description().tools.iter();
        let names = tools.filter(|&&(_, tool)| which(tool));
        names.map(|&(name, _)| name).collect::<Vec<_>>().join("|")
    };
    let all = || {
        let known = names(&|_| true);
        let own: String = own_tools::decided(agent)
            .map(|name| format!("|{name}"))
            .collect();
        format!("{known}{own}|{}", mcp_pattern(agent))
    };
    match tools {
        ToolMatcher::Omitted => None,
        ToolMatcher::Any => Some("*".to_owned()),
        ToolMatcher::Exact => Some(format!("^({})$", all())),
        ToolMatcher::Names => Some(all()),
        ToolMatcher::FileNames => Some(names(&|tool| !is_shell(tool))),
    }
}

/// Returns a regular expression for the names of tools of MCP servers. It names the separator only if
/// there is no prefix: an agent may shorten a long name.
pub(crate) fn mcp_pattern(agent: Agent) -> String {
    let naming = agent.description().mcp_names;
    let McpNaming {
        prefix, separator, ..
    } = naming.unwrap_or(McpNaming::COMMON);
    match prefix {
        "" => format!(".+{separator}.+"),
        prefix => format!("{prefix}.*"),
    }
}

pub(super) fn arguments(agent: Agent, call: HookCall<'_>, time: Duration) -> Vec<String> {
    let mut arguments = vec![
        "hook".to_owned(),
        agent.name().to_owned(),
        "--timeout".to_owned(),
        time.as_secs().to_string(),
    ];
    arguments.extend(call.unattended.then(|| "--unattended".to_owned()));
    // Pass the paths explicitly: a project can set environment variables.
    arguments.extend(["--config".to_owned(), call.config.to_owned()]);
    if let Some(database) = call.database {
        arguments.extend(["--database".to_owned(), database.to_owned()]);
    }
    arguments
}

/// Returns the command line for the POSIX shell of an agent.
pub(super) fn command_line(agent: Agent, call: HookCall<'_>, time: Duration) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:".contains(c);
    let quoted = |word: &str| match word.chars().all(plain) {
        true => word.to_owned(),
        false => single_quoted(word),
    };
    let arguments = arguments(agent, call, time);
    let words = std::iter::once(call.binary).chain(arguments.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn powershell_line(agent: Agent, call: HookCall<'_>, time: Duration) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-".contains(c);
    let arguments = arguments(agent, call, time);
    let arguments = arguments.iter().map(|word| match word.chars().all(plain) {
        true => word.clone(),
        false => quoted(word),
    });
    let arguments: Vec<String> = arguments.collect();
    format!("& {} {}", quoted(call.binary), arguments.join(" "))
}
