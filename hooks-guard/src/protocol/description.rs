//! The description of an agent, of which each agent has one in [`agents`](super::agents). In:
//! nothing; plain data. Out: the agent's events, tools, replies, settings, and what it does if a hook
//! fails.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::classify::{Crud, Shells, TerminalInput};

/// An object of JSON.
pub(crate) type JsonObject = Map<String, Value>;

/// The facts about a coding agent that the guard depends on.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct AgentDescription {
    /// Name on the command line and in the audit trail.
    pub(crate) name: &'static str,
    /// Other names on the command line.
    pub(crate) aliases: &'static [&'static str],
    /// Name for display.
    pub(crate) title: &'static str,
    /// Name of its program in the search path.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "programs are started by the command line")
    )]
    pub(crate) program: &'static str,
    /// Versions that were tried with the guard; empty if the description comes from documentation.
    pub(crate) tested_versions: &'static [&'static str],
    /// How the input names the event.
    pub(crate) input: EventNaming,
    /// The events at which the agent calls a hook.
    pub(crate) events: &'static [AgentEvent],
    /// The tools that `install` registers, shells first, in the agent's spelling.
    pub(crate) tools: &'static [(&'static str, ToolKind)],
    /// How the agent names a tool of an MCP server, if it has another form than
    /// [`McpNaming::COMMON`].
    pub(crate) mcp_names: Option<McpNaming>,
    /// Format of the replies.
    pub(crate) reply: ReplyFormat,
    /// Permission modes in which the agent shows its prompt if a hook asks. An unknown mode may be
    /// one without prompts.
    pub(crate) prompting_modes: &'static [&'static str],
    /// `true` if the agent reports a failed tool at a separate event.
    pub(crate) has_failure_event: bool,
    /// `true` if the agent reports a call that its hook denied as a failed one.
    pub(crate) reports_denied_calls: bool,
    /// Variables in the hook's environment that show that no user is at the keyboard.
    pub(crate) unattended: &'static [UnattendedVariable],
    /// `true` if an unknown event before an action is denied, because the agent runs the action if
    /// the hook returns no decision.
    pub(crate) denies_unknown_events: bool,
    /// Minimum of terminal input with which the agent could run commands through a tool that types
    /// into a running program without calling the hook; `None` if it has no such tool.
    pub(crate) types_into_programs: Option<TerminalInput>,
    /// The shells that may read a command of the agent: [`Shells::ALL`] if they are not known.
    pub(crate) shells: Shells,
    /// `true` if the directory of the hook's process is that of the agent's commands, and the input
    /// does not name it.
    pub(crate) runs_in_hook_directory: bool,
    /// Assumed timeout of hand-written settings.
    pub(crate) manual_timeout: Duration,
    /// What the agent does if the hook fails.
    pub(crate) failures: FailureRules,
    /// Files of the agent's settings.
    pub(crate) places: SettingsPlaces,
    /// How the hook is registered in them.
    pub(crate) registration: RegistrationFormat,
    /// Notes of `install` for the user, one sentence or more each.
    pub(crate) notes: &'static [&'static str],
}

/// How an input names its event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventNaming {
    /// Spellings of the field, which must not differ.
    pub(crate) fields: &'static [&'static str],
    /// Returns the event of an input that does not name it, or the name of a missing field.
    pub(crate) unnamed: fn(&JsonObject) -> Result<&'static str, &'static str>,
}

impl EventNaming {
    /// The naming of most agents: every input names its event.
    pub(crate) const COMMON: Self = Self {
        fields: &["hook_event_name", "hookEventName"],
        unnamed: |_| Err("hook_event_name"),
    };
}

/// An event at which an agent calls a hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentEvent {
    /// Name in the settings.
    pub(crate) name: &'static str,
    pub(crate) kind: HookKind,
    /// Place of the tool in the input.
    pub(crate) tool: ToolLocation,
    /// `true` if the agent shows its prompt if the hook asks, or has it open already.
    pub(crate) prompts: bool,
    /// Format of the replies, if it is not that of the agent.
    pub(crate) reply: Option<ReplyFormat>,
    /// The tools for which `install` registers the hook; `None` if it does not register it.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "the settings are for the command line")
    )]
    pub(crate) matcher: Option<ToolMatcher>,
}

impl AgentEvent {
    /// An event before a tool is used, at which the agent prompts if the hook asks.
    pub(crate) const fn before(name: &'static str) -> Self {
        Self {
            name,
            kind: HookKind::BeforeTool,
            tool: ToolLocation::Fields,
            prompts: true,
            reply: None,
            matcher: None,
        }
    }

    /// An event after a tool was used.
    pub(crate) const fn after(name: &'static str) -> Self {
        Self {
            kind: HookKind::AfterTool,
            prompts: false,
            ..Self::before(name)
        }
    }

    /// An event of another kind.
    pub(crate) const fn of_kind(name: &'static str, kind: HookKind) -> Self {
        Self {
            kind,
            ..Self::before(name)
        }
    }

    /// The event of an agent that shows no prompt for it.
    pub(crate) const fn without_prompt(self) -> Self {
        Self {
            prompts: false,
            ..self
        }
    }

    /// The event of an agent that names the tool elsewhere.
    pub(crate) const fn with_tool(self, tool: ToolLocation) -> Self {
        Self { tool, ..self }
    }

    /// The event with replies in another format.
    pub(crate) const fn with_reply(self, reply: ReplyFormat) -> Self {
        Self {
            reply: Some(reply),
            ..self
        }
    }

    /// The event, registered by `install`.
    pub(crate) const fn registered(self, matcher: ToolMatcher) -> Self {
        Self {
            matcher: Some(matcher),
            ..self
        }
    }
}

/// When an agent calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookKind {
    /// Before a tool is used: `PreToolUse`, `BeforeTool`, `beforeShellExecution`….
    BeforeTool,
    /// Before a shell command in the text of a skill: `PreSkillShellCommand`. An answer that asks
    /// keeps the command from running.
    BeforeSkillCommand,
    /// Before the agent's own prompt is shown: `PermissionRequest`.
    Prompt,
    /// After a tool was used.
    AfterTool,
    /// After the agent itself denied a tool call: `PermissionDenied`.
    Refused,
    /// At another time.
    Other,
}

impl HookKind {
    /// Returns `true` if the hook is called before an action and can deny it.
    #[must_use]
    pub fn is_before(self) -> bool {
        matches!(
            self,
            HookKind::BeforeTool | HookKind::BeforeSkillCommand | HookKind::Prompt
        )
    }
}

/// Place of a tool and its arguments in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolLocation {
    /// In `tool_name` and `tool_input`, or in other spellings of these fields.
    Fields,
    /// The event implies the tool, and its arguments are at the top level.
    Top(&'static str),
    /// The event implies the tool, and its arguments are in an object.
    Within {
        /// Field of the arguments.
        object: &'static str,
        /// The tool.
        tool: &'static str,
    },
    /// In an object with a name and arguments.
    Call {
        /// Field of the object.
        object: &'static str,
        /// Field of the tool's name in it.
        name: &'static str,
        /// Field of the arguments in it.
        arguments: &'static str,
        /// Field of the id of the call in it, if the id is there.
        id: Option<&'static str>,
    },
    /// In `input` and `output.args` of opencode 1.
    Plugin,
    /// In `action` and `resource` of opencode 2.
    Permission,
    /// In `event` of Pi; `ctx` has the session, its directory and whether a user can be asked.
    Extension,
}

/// The tools for which the hook is registered at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolMatcher {
    /// All tools: the entry has no matcher.
    Omitted,
    /// All tools, as `*`.
    Any,
    /// The agent's tools and those of MCP servers, as a regular expression for the whole name.
    Exact,
    /// The agent's tools and those of MCP servers, as alternatives.
    Names,
    /// The agent's file tools, as alternatives.
    FileNames,
}

/// Effect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command of a POSIX shell.
    Shell,
    /// Runs a command of PowerShell.
    PowerShell,
    /// Reads files; without a path, those of the directory.
    Reads,
    /// Searches the content of files in a directory; without a path, in the current one.
    Searches,
    /// Lists names of files; without a path, those of the directory.
    Lists,
    /// Changes files, which it must name.
    Changes(Crud),
    /// Applies a patch.
    Patch,
}

impl ToolKind {
    /// Creates files, or replaces their content.
    pub(crate) const CREATES: Self = Self::Changes(Crud::Create);
    /// Changes files.
    pub(crate) const UPDATES: Self = Self::Changes(Crud::Update);
    /// Deletes files.
    pub(crate) const DELETES: Self = Self::Changes(Crud::Delete);

    /// Returns `true` if the tool only reads.
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::Searches | Self::Lists)
    }
}

/// How an agent joins the names of an MCP server and its tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct McpNaming {
    /// Text before the server.
    pub(crate) prefix: &'static str,
    /// Text between the server and the tool.
    pub(crate) separator: &'static str,
    /// `true` if the input of the tool has the form `{"tool_name": …, "tool_input": …}`, because the
    /// agent calls it by a tool of its own.
    pub(crate) wraps_arguments: bool,
    /// `true` if the tool is before the server.
    pub(crate) tool_first: bool,
    /// The tool of the agent that calls a tool of any server.
    pub(crate) caller: Option<McpCaller>,
}

/// A tool of an agent whose input names a tool of an MCP server, which it calls without another call of the
/// hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct McpCaller {
    /// Name of the tool.
    pub(crate) tool: &'static str,
    /// Field with the server.
    pub(crate) server: &'static str,
    /// Field with the name of the called tool.
    pub(crate) name: &'static str,
    /// Field with the arguments of the called tool.
    pub(crate) arguments: &'static str,
}

impl McpNaming {
    /// The form of Claude Code, `mcp__SERVER__TOOL`, which is recognised from any agent.
    pub(crate) const COMMON: Self = Self {
        prefix: "mcp__",
        separator: "__",
        wraps_arguments: false,
        tool_first: false,
        caller: None,
    };
}

/// Format of a reply. It is derived from the input, because agents read the settings of other
/// agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyFormat {
    /// `hookSpecificOutput`; VS Code has the same.
    Claude,
    /// As Claude; a denial has `continue: false`, which the hook of a plugin cannot replace.
    Qwen,
    /// As Claude, without `ask`, a bare `allow` and unknown keys.
    Codex,
    /// `decision`.
    Gemini,
    /// `permission`.
    Cursor,
    /// `permissionDecision`, at the top.
    Copilot,
    /// `throws` or `returns`, for the plugin.
    OpenCode1,
    /// `effect`, for the plugin.
    OpenCode2,
    /// `decision` and `hookSpecificOutput`, with the exit status.
    Grok,
    /// `decision`, where `force_ask` prompts in any case and no decision is `ask`.
    Antigravity,
    /// `cancel`.
    Cline,
    /// `block`, or `confirm` for a dialog, for the extension.
    Pi,
    /// `decision` in a denial; no output in an approval.
    Vibe,
    /// The exit status alone: 2 denies, with the reason on standard error.
    ExitStatus,
}

/// A variable in the environment of a hook that shows that no user is at the keyboard.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnattendedVariable {
    /// If it has this value.
    Is(&'static str, &'static str),
    /// If it has another value than this one.
    IsNot(&'static str, &'static str),
}

/// What an agent does if its hook fails, with the entry that `install` registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRules {
    /// The hook ends with status 1 or 101, is killed, or its program is missing.
    pub failed: FailureReaction,
    /// The hook does not reply within the agent's timeout.
    pub late: FailureReaction,
    /// The hook ends with status 0 and an output that is not a reply.
    pub invalid_output: FailureReaction,
}

impl FailureRules {
    /// The rules of an agent that was not tried.
    pub(crate) const UNKNOWN: Self = Self {
        failed: FailureReaction::Unknown,
        late: FailureReaction::Unknown,
        invalid_output: FailureReaction::Unknown,
    };
}

/// Reaction of an agent to a failed hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReaction {
    /// The agent does not run the tool.
    Denies,
    /// The agent runs the tool, or decides by its own rules.
    Continues,
    /// Not known: the agent was not tried.
    Unknown,
}

/// Files of an agent's settings.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct SettingsPlaces {
    /// Directory of the user's settings, below the home directory.
    pub(crate) directory: &'static str,
    /// Variable that moves the directory to an absolute path.
    pub(crate) variable: Option<&'static str>,
    /// Directory that exists if the user has the agent, below `directory`.
    pub(crate) sign: &'static str,
    /// File in which the hook is registered, below `directory`.
    pub(crate) user: &'static str,
    /// File in which the hook is registered, below a project.
    pub(crate) project: &'static str,
    /// Ways to switch the hooks off.
    pub(crate) switches: HookSwitches,
}

/// Ways to switch an agent's hooks off, beside removing the hook from its file.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct HookSwitches {
    /// Settings, in the files of [`CLIENTS`](super::client_files::CLIENTS).
    pub(crate) settings: &'static [HookSwitch],
    /// Variables that switch hooks off, with any value but an empty or a negative one.
    pub(crate) variables: &'static [&'static str],
    /// Arguments of the client.
    pub(crate) arguments: &'static [OffArgument],
    /// Variables that name a further file with these settings.
    pub(crate) file_variables: &'static [&'static str],
    /// `true` if the agent reads the file of a project instead of the file of the user.
    pub(crate) project_replaces: bool,
    /// What an administrator can set so that a project does not switch the hooks off: a sentence.
    pub(crate) managed: Option<&'static str>,
}

impl HookSwitches {
    /// No way is known.
    pub(crate) const NONE: Self = Self {
        settings: &[],
        variables: &[],
        arguments: &[],
        file_variables: &[],
        project_replaces: false,
        managed: None,
    };
}

/// A setting that switches an agent's hooks off.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct HookSwitch {
    /// Path of the setting in a document of JSON or TOML; `*` is any key.
    pub(crate) keys: &'static [&'static str],
    /// Value that switches hooks off.
    pub(crate) off: OffValue,
}

/// An argument with which a client starts without the hooks of its user.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) enum OffArgument {
    /// This option, with any value.
    Flag(&'static str),
    /// This option with this value.
    Value(&'static str, &'static str),
    /// This option with a list of values that lacks this one.
    Without(&'static str, &'static str),
    /// Any argument with this text, without regard to spaces.
    Text(&'static str),
    /// This option with a document of settings, or the path of one.
    Settings(&'static str),
}

/// Value of a setting that switches hooks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffValue {
    /// This value.
    Is(bool),
    /// `true`, or a list with `hooks`: only the hooks of managed settings run. Not if the file with the
    /// setting registers the hook.
    ManagedOnly,
    /// A list with the name or the command of the hook.
    NamesHook,
    /// A list with a pattern that excludes the plugin: `-NAME`, or `!PATTERN` with the name or a `*`.
    ExcludesHook,
    /// A text with the name of the hook, in another file than the one that registers it: the agent
    /// ignores the second of two hooks of one name.
    ReplacesHook,
}

/// How a hook is registered in a file.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) enum RegistrationFormat {
    /// By entries in a JSON document, by event.
    Json(JsonRegistration),
    /// By entries in a TOML document: tables of one list, each with its event.
    Toml(TomlRegistration),
    /// By a plugin, which is the whole file.
    Plugin(PluginHost),
    /// By a script of a POSIX shell for each event, which is the whole file.
    Scripts(ScriptRegistration),
    /// By the user: the agent has no settings file for all of its sessions. The text says how.
    ByHand(&'static str),
}

/// The client that loads a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginHost {
    /// opencode, or Kilo Code, which descends from it. At its first start, it waits for a package.
    OpenCode,
    /// Pi, which calls its plugins extensions.
    Pi,
}

/// The entries of a hook in a TOML document.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct TomlRegistration {
    /// `true` if the agent reads hooks from the user's file only, not from a project's.
    pub(crate) user_only: bool,
    /// Key of the list of tables.
    pub(crate) list: &'static str,
    /// Key of the event in a table.
    pub(crate) event: &'static str,
    /// Other fields of a table, in their order.
    pub(crate) fields: &'static [HandlerField],
    /// Field of a table before a tool that makes the agent deny if the hook fails.
    pub(crate) fail_closed: Option<(&'static str, FieldValue)>,
    /// The tables that the agent accepts, if one other table makes it ignore the whole list.
    pub(crate) accepted: Option<AcceptedTables>,
}

/// The tables of a hook that an agent accepts.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct AcceptedTables {
    /// The events.
    pub(crate) events: &'static [&'static str],
    /// Keys with texts, beside the event.
    pub(crate) texts: &'static [&'static str],
    /// Key of the timeout in seconds.
    pub(crate) timeout: &'static str,
    /// Maximum of the timeout; the minimum is 1.
    pub(crate) max_timeout: u64,
}

/// The scripts of a hook. The settings file is the script before a tool.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct ScriptRegistration {
    /// Name of the script after a tool, in the same directory.
    pub(crate) after: &'static str,
    /// The agent's timeout for a script.
    pub(crate) timeout: Duration,
}

/// The entries of a hook in a JSON document.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) struct JsonRegistration {
    /// Version of the format, which the document must have as `version`.
    pub(crate) version: Option<u64>,
    /// Key of the object with the events; `None` if the events are at the top of the document.
    pub(crate) container: Option<&'static str>,
    /// `true` if an entry is a group: a matcher, and a list `hooks` of handlers. Otherwise, an entry
    /// is a handler.
    pub(crate) grouped: bool,
    /// Fields of a handler, in their order.
    pub(crate) handler: &'static [HandlerField],
    /// Field of the handler of a hook before a tool that makes the agent deny if the hook fails.
    pub(crate) fail_closed: Option<(&'static str, FieldValue)>,
    /// Timeout of a hook before a tool, if the agent does not wait as long as for other agents.
    pub(crate) short_timeout: Option<Duration>,
    /// A second file that the agent needs, in the directory above that of the settings, and its
    /// text.
    pub(crate) companion: Option<(&'static str, &'static str)>,
    /// `true` if the agent skips the hook until it is trusted in Codex's `config.toml`.
    pub(crate) needs_trust: bool,
}

impl JsonRegistration {
    /// The format of Claude Code, which most agents use.
    pub(crate) const COMMON: Self = Self {
        version: None,
        container: Some("hooks"),
        grouped: true,
        handler: &[
            HandlerField::Text("type", "command"),
            HandlerField::Command("command"),
            HandlerField::Seconds("timeout"),
        ],
        fail_closed: None,
        short_timeout: None,
        companion: None,
        needs_trust: false,
    };
}

/// A field of a handler.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) enum HandlerField {
    /// A constant text.
    Text(&'static str, &'static str),
    /// The value `true`.
    True(&'static str),
    /// A name of the entry, which no other entry of the user and no entry of a project has.
    Name(&'static str),
    /// The command line for a POSIX shell.
    Command(&'static str),
    /// The command line for PowerShell.
    PowerShell(&'static str),
    /// The tools, if entries are not grouped.
    Matcher(&'static str),
    /// The timeout in seconds.
    Seconds(&'static str),
    /// The timeout in milliseconds.
    Milliseconds(&'static str),
}

/// A constant value in a settings file.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the settings are for the command line")
)]
pub(crate) enum FieldValue {
    Text(&'static str),
    True,
}

#[cfg(feature = "cli")]
impl FieldValue {
    /// Returns the value as JSON.
    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::True => true.into(),
        }
    }
}

#[cfg(feature = "cli")]
impl AgentDescription {
    /// Returns `true` if the agent reads a plugin instead of entries in a document.
    pub(crate) fn uses_plugin(&self) -> bool {
        self.plugin_host().is_some()
    }

    /// Returns the client that loads the plugin, if the agent reads one.
    pub(crate) fn plugin_host(&self) -> Option<PluginHost> {
        match self.registration {
            RegistrationFormat::Plugin(host) => Some(host),
            _ => None,
        }
    }

    /// Returns `true` if the agent reads hooks from the settings of a project, too.
    pub(crate) fn reads_project(&self) -> bool {
        self.toml().is_none_or(|format| !format.user_only)
    }

    /// Returns the format of the entries in a TOML document, if the agent reads them.
    pub(crate) fn toml(&self) -> Option<&TomlRegistration> {
        match &self.registration {
            RegistrationFormat::Toml(format) => Some(format),
            _ => None,
        }
    }

    /// Returns the scripts, if the agent runs them instead of entries in a document.
    pub(crate) fn scripts(&self) -> Option<&ScriptRegistration> {
        match &self.registration {
            RegistrationFormat::Scripts(scripts) => Some(scripts),
            _ => None,
        }
    }

    /// Returns `true` if `install` writes the whole settings file.
    pub(crate) fn owns_file(&self) -> bool {
        self.uses_plugin() || self.scripts().is_some()
    }

    /// Returns how the user registers the hook, if `install` cannot.
    pub(crate) fn by_hand(&self) -> Option<&'static str> {
        match self.registration {
            RegistrationFormat::ByHand(how) => Some(how),
            _ => None,
        }
    }

    /// Returns the format of the entries in a document, if the agent reads them.
    pub(crate) fn json(&self) -> Option<&JsonRegistration> {
        match &self.registration {
            RegistrationFormat::Json(format) => Some(format),
            RegistrationFormat::Toml(_)
            | RegistrationFormat::Plugin(_)
            | RegistrationFormat::Scripts(_)
            | RegistrationFormat::ByHand(_) => None,
        }
    }

    /// Returns the second file that the agent needs, and its text.
    pub(crate) fn companion(&self) -> Option<(&'static str, &'static str)> {
        self.json()?.companion
    }

    /// Returns the key of the object with the events in a document; `None` if the document is this
    /// object.
    pub(crate) fn container(&self) -> Option<&'static str> {
        self.json()?.container
    }

    /// Returns the field of a handler that makes the agent deny if the hook fails, if it has one.
    pub(crate) fn fail_closed(&self) -> Option<(&'static str, FieldValue)> {
        self.json()?.fail_closed
    }

    /// Returns `true` if the agent skips the hook until Codex's `config.toml` trusts it.
    pub(crate) fn needs_trust(&self) -> bool {
        self.json().is_some_and(|format| format.needs_trust)
    }
}
