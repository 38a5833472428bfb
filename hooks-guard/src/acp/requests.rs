//! Reads the requests of an agent that need a decision. In: a method and its parameters. Out: the
//! commands and file accesses that the request asks for, as [`PermissionRequest`]s.
//!
//! The types of the protocol skip what they do not understand, and the receiver may not, so each field
//! that the decision depends on is also compared with the parameters themselves.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::message::{BrokenMessage, MessageId, code, folded};
use super::options::PermissionOptions;
use super::parameters::{
    CreateTerminal, EnvVariable, FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE, PermissionSubject,
    ReadTextFile, RequestPermission, RequestPermissionV2, SESSION_REQUEST_PERMISSION,
    TERMINAL_CREATE, WriteTextFile,
};
use crate::changes::{ProposedChange, ProposedEdit, Replacement};
use crate::classify::{Crud, MAX_COMMAND_CHARS};
use crate::protocol::{self, ToolKind, access, input_hash, line, tool};
use crate::request::{FileAccess, MAX_NAME_CHARS, MAX_PATH_CHARS, PermissionRequest};
use crate::shell_word::is_variable_name;

/// A request of an agent that needs a decision.
#[derive(Clone, Debug)]
pub struct AgentRequest {
    /// Id of the session.
    pub session_id: String,
    /// Kind of the request.
    pub kind: RequestKind,
    /// The command or the file access. A command may have several readings: a client may start the
    /// words as a program, or pass them to a shell.
    pub readings: Vec<PermissionRequest>,
    /// Completeness of the readings.
    pub evidence: Evidence,
    /// The changes of files.
    pub edits: Vec<ProposedChange>,
    /// `true` if a person has approved this change of a file in a request for permission. The rules
    /// still apply.
    pub is_approved: bool,
}

/// Kind of a request of an agent.
#[derive(Clone, Debug)]
pub enum RequestKind {
    /// Runs a command: `terminal/create`.
    Terminal,
    /// Reads or writes a file: `fs/read_text_file`, `fs/write_text_file`.
    File,
    /// Asks the user: `session/request_permission`, with the offered options.
    Permission(PermissionOptions),
}

/// Completeness of the readings of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// They are all that the request asks for.
    Complete,
    /// The request may ask for more, so no decision of the classifier allows it.
    Partial,
    /// They come from a text for display, which may be wrong. They can deny the request only.
    Display,
}

/// What the connection knows about a request.
pub(super) trait Connection {
    /// Returns the directory of a session.
    fn directory(&self, session: &str) -> Option<PathBuf>;

    /// Adds what the agent has said of a tool call before to its description; `true` if something was
    /// added.
    fn complete(&self, session: &str, call: &mut Map<String, Value>) -> bool;
}

/// Reads the parameters of a request whose method [needs a decision](needs_decision).
///
/// # Errors
/// If the parameters are not valid.
pub(super) fn read(
    id: &MessageId,
    method: &str,
    params: Option<Value>,
    connection: &impl Connection,
) -> Result<AgentRequest, BrokenMessage> {
    let params = params.unwrap_or_default();
    let Some(fields) = params.as_object() else {
        return Err(invalid("`params` is not an object"));
    };
    check_case(fields)?;
    let reader = Reader {
        id,
        params: &params,
        connection,
    };
    match method {
        TERMINAL_CREATE => reader.terminal(),
        FS_WRITE_TEXT_FILE => reader.write(),
        FS_READ_TEXT_FILE => reader.read_file(),
        _ => reader.permission(),
    }
}

/// Returns `true` if the requests of a method need a decision.
#[must_use]
pub(super) fn needs_decision(method: &str) -> bool {
    [
        TERMINAL_CREATE,
        FS_WRITE_TEXT_FILE,
        FS_READ_TEXT_FILE,
        SESSION_REQUEST_PERMISSION,
    ]
    .contains(&method)
}

fn invalid(problem: impl Into<String>) -> BrokenMessage {
    BrokenMessage::new(code::INVALID_PARAMS, problem)
}

/// Parameters that the decision depends on.
const KEYS: [&str; 12] = [
    "sessionId",
    "command",
    "args",
    "env",
    "cwd",
    "path",
    "content",
    "toolCall",
    "options",
    "subject",
    "title",
    "description",
];

/// Fails if a parameter has the name of another one in another case, which some parsers ignore.
fn check_case(params: &Map<String, Value>) -> Result<(), BrokenMessage> {
    let known = |key: &str| KEYS.iter().find(|known| folded(known) == folded(key));
    match params
        .keys()
        .find(|key| known(key).is_some_and(|known| known != key))
    {
        Some(key) => Err(invalid(format!(
            "the parameter `{key}` differs from its name in the protocol"
        ))),
        None => Ok(()),
    }
}

/// Reads the parameters of one request.
struct Reader<'a, C> {
    id: &'a MessageId,
    /// An object.
    params: &'a Value,
    connection: &'a C,
}

impl<'a, C: Connection> Reader<'a, C> {
    /// Reads the parameters as a type of the protocol.
    fn typed<T: Deserialize<'a>>(&self) -> Result<T, BrokenMessage> {
        T::deserialize(self.params).map_err(|error| invalid(error.to_string()))
    }

    /// Returns a request with the session, the call's id and a directory.
    fn base(&self, session: &str, call: Option<&str>, cwd: Option<PathBuf>) -> PermissionRequest {
        let call = call.map_or_else(|| format!("acp:{}", self.id), str::to_owned);
        PermissionRequest {
            session_id: Some(shortened(session)),
            call_id: Some(shortened(&call)),
            cwd: cwd.or_else(|| self.connection.directory(session)),
            ..PermissionRequest::default()
        }
    }

    fn terminal(&self) -> Result<AgentRequest, BrokenMessage> {
        let typed: CreateTerminal = self.typed()?;
        if typed.cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
            return Err(invalid("`cwd` is not an absolute path"));
        }
        check_path(typed.cwd.as_deref())?;
        if typed.command.trim().is_empty() {
            return Err(invalid("`command` is empty"));
        }
        let session = typed.session_id.clone();
        let base = self.base(&session, None, typed.cwd.clone());
        let mut evidence = evidence(self.params, &typed);
        let mut prefix = String::new();
        let through_env = typed.env.iter().any(|one| !is_variable_name(&one.name));
        if through_env {
            // A shell cannot assign such a name; a client can set it.
            evidence = Evidence::Partial;
            prefix.push_str("env ");
        }
        for EnvVariable { name, value } in &typed.env {
            // Kimi Code names the shell that runs the command; the decision is about this shell, too.
            let names_shell = name == "SHELL" && *value == typed.command;
            // Goose.
            let names_session = name == "AGENT_SESSION_ID" && *value == session;
            if names_shell || names_session {
                continue;
            }
            let assignment = match through_env {
                true => quoted(&format!("{name}={value}"))?.into_owned(),
                false => format!("{name}={}", quoted(value)?),
            };
            prefix.push_str(&assignment);
            prefix.push(' ');
        }
        let words = std::iter::once(&typed.command).chain(&typed.args);
        let as_words = words
            .clone()
            .map(|word| quoted(word))
            .collect::<Result<Vec<_>, _>>()?;
        let as_words = as_words.join(" ");
        let as_text = words.map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut commands = vec![as_words];
        if as_text != commands[0] {
            // A text for a shell, as from Goose, unless there is a program with this name.
            let sets_path = typed.env.iter().any(|one| one.name == "PATH");
            let is_program = !typed.args.is_empty()
                || sets_path
                || may_be_program(&typed.command, base.cwd.as_deref());
            if !is_program {
                commands.clear();
            }
            commands.push(as_text);
        }
        let readings = commands
            .iter()
            .map(|command| command_request(&base, format!("{prefix}{command}")));
        let readings = readings.collect::<Result<_, _>>()?;
        Ok(AgentRequest {
            session_id: session,
            kind: RequestKind::Terminal,
            readings,
            evidence,
            edits: Vec::new(),
            is_approved: false,
        })
    }

    fn write(&self) -> Result<AgentRequest, BrokenMessage> {
        let typed: WriteTextFile = self.typed()?;
        let session = typed.session_id.clone();
        let mut request = self.file("Write", Crud::Create, session, &typed.path, &typed)?;
        request.edits.push(ProposedChange {
            path: typed.path,
            edit: ProposedEdit::Write(typed.content),
        });
        Ok(request)
    }

    fn read_file(&self) -> Result<AgentRequest, BrokenMessage> {
        let typed: ReadTextFile = self.typed()?;
        let session = typed.session_id.clone();
        self.file("Read", Crud::Read, session, &typed.path, &typed)
    }

    fn file(
        &self,
        tool: &str,
        effect: Crud,
        session_id: String,
        path: &Path,
        typed: &impl Serialize,
    ) -> Result<AgentRequest, BrokenMessage> {
        if !path.is_absolute() {
            return Err(invalid("`path` is not an absolute path"));
        }
        check_path(Some(path))?;
        let access = FileAccess {
            tool: tool.to_owned(),
            effect,
            paths: vec![path.to_owned()],
            input_hash: Some(input_hash(self.params)),
        };
        Ok(AgentRequest {
            readings: vec![file_request(&self.base(&session_id, None, None), access)],
            session_id,
            kind: RequestKind::File,
            evidence: evidence(self.params, typed),
            edits: Vec::new(),
            is_approved: false,
        })
    }

    fn permission(&self) -> Result<AgentRequest, BrokenMessage> {
        let has = |key: &str| !self.params[key].is_null();
        match (has("toolCall"), has("subject") || has("title")) {
            (true, true) => Err(invalid(
                "`toolCall` is of version 1, `subject` and `title` of 2",
            )),
            (true, false) => {
                let typed: RequestPermission = self.typed()?;
                let options = self.options()?;
                let session = typed.session_id.clone();
                self.tool_call(&session, options, &self.params["toolCall"])
            }
            (false, _) => self.subject(),
        }
    }

    /// Reads a permission request of version 2.
    fn subject(&self) -> Result<AgentRequest, BrokenMessage> {
        let typed: RequestPermissionV2 = self.typed()?;
        let options = self.options()?;
        let session = typed.session_id.clone();
        match &typed.subject {
            Some(PermissionSubject::Command(subject)) => {
                let written = &self.params["subject"];
                let cwd = PathBuf::from(written["cwd"].as_str().unwrap_or_default());
                if !cwd.is_absolute() {
                    return Err(invalid("`cwd` is not an absolute path"));
                }
                check_path(Some(&cwd))?;
                let base = self.base(&session, written["toolCallId"].as_str(), Some(cwd));
                let evidence = evidence(written, subject);
                let reading = command_request(&base, subject.command.clone())?;
                Ok(permission(session, options, vec![reading], evidence))
            }
            Some(PermissionSubject::ToolCall) => {
                self.tool_call(&session, options, &self.params["subject"]["toolCall"])
            }
            _ => Ok(permission(session, options, Vec::new(), Evidence::Display)),
        }
    }

    fn options(&self) -> Result<PermissionOptions, BrokenMessage> {
        let options = &self.params["options"];
        PermissionOptions::deserialize(options).map_err(|error| invalid(error.to_string()))
    }

    fn tool_call(
        &self,
        session: &str,
        options: PermissionOptions,
        call: &Value,
    ) -> Result<AgentRequest, BrokenMessage> {
        let mut call = call.clone();
        let fields = call.as_object_mut();
        let is_joined = fields.is_some_and(|fields| self.connection.complete(session, fields));
        let call = PermissionToolCall::read(&call, is_joined)?;
        let below = call.text_of(&["cwd", "workdir", "working_directory", "directory"]);
        let cwd = protocol::directory(self.connection.directory(session), below);
        check_path(cwd.as_deref())?;
        let base = self.base(session, Some(call.id), cwd);
        let commands = call.commands()?;
        let mut edits = call.edits();
        let accesses = call.access(&edits, base.cwd.as_deref());
        if edits.is_empty()
            && let (Some(input), Some(access)) = (call.input, &accesses)
        {
            edits = protocol::edits(input, access);
            edits.retain(|change| change.edit != ProposedEdit::Unknown);
        }
        if commands.is_empty() && accesses.is_none() {
            let texts = call.display_texts();
            let readings = texts.map(|text| command_request(&base, text.to_owned()));
            let readings = readings.collect::<Result<Vec<_>, _>>()?;
            let session = session.to_owned();
            return Ok(permission(session, options, readings, Evidence::Display));
        }
        let is_shell = call.kind == Some("execute") && call.has_only_shell_input();
        let evidence = match (commands.len(), &accesses) {
            (1, None) if is_shell => Evidence::Complete,
            (0, Some(_)) if call.is_file_tool() && call.understood => Evidence::Complete,
            _ => Evidence::Partial,
        };
        let readings = commands
            .into_iter()
            .map(|command| command_request(&base, command));
        let mut readings = readings.collect::<Result<Vec<_>, _>>()?;
        readings.extend(accesses.map(|access| file_request(&base, access)));
        Ok(AgentRequest {
            edits,
            ..permission(session.to_owned(), options, readings, evidence)
        })
    }
}

fn permission(
    session_id: String,
    options: PermissionOptions,
    readings: Vec<PermissionRequest>,
    evidence: Evidence,
) -> AgentRequest {
    AgentRequest {
        session_id,
        kind: RequestKind::Permission(options),
        readings,
        evidence,
        edits: Vec::new(),
        is_approved: false,
    }
}

/// Inputs of shell tools that change nothing but the command's time limit and description.
const SHELL_INPUT: [&str; 16] = [
    "command",
    "commands",
    "cmd",
    "cwd",
    "workdir",
    "working_directory",
    "directory",
    "description",
    "timeout",
    "timeout_ms",
    "timeoutMs",
    "timeout_secs",
    "yield_time_ms",
    "max_output_tokens",
    "run_in_background",
    "is_background",
];

/// Returns the kind of a call that names its tool instead of its kind.
fn kind_of_tool(call: &Value) -> Option<&'static str> {
    let meta = &call["_meta"];
    // Tools of MCP servers have other extensions.
    let goose = &meta["goose"]["toolCall"];
    let goose = match goose["extensionName"] == "developer" {
        true => &goose["toolName"],
        false => &Value::Null,
    };
    let names = [
        &call["name"],
        &meta["toolName"],
        &meta["claudeCode"]["toolName"],
        goose,
    ];
    let name = names.into_iter().find_map(Value::as_str)?;
    match tool(name)? {
        ToolKind::Shell => Some("execute"),
        ToolKind::Reads => Some("read"),
        ToolKind::Searches => Some("search"),
        ToolKind::Changes(Crud::Delete) => Some("delete"),
        ToolKind::Changes(_) => Some("edit"),
        _ => None,
    }
}

/// The tool call of a permission request; both versions have these fields.
struct PermissionToolCall<'a> {
    id: &'a str,
    kind: Option<&'a str>,
    title: Option<&'a str>,
    input: Option<&'a Map<String, Value>>,
    content: &'a [Value],
    locations: &'a [Value],
    /// `false` if a field has another type than in the protocol.
    understood: bool,
    /// `true` if earlier messages described a part of the call.
    is_joined: bool,
}

impl<'a> PermissionToolCall<'a> {
    fn read(call: &'a Value, is_joined: bool) -> Result<Self, BrokenMessage> {
        let Some(id) = call["toolCallId"].as_str() else {
            return Err(invalid("`toolCallId` is missing"));
        };
        let text = |key: &str| call[key].as_str();
        let list = |key: &str| call[key].as_array().map_or(&[][..], Vec::as_slice);
        let is_text = |key: &str| call[key].is_null() || call[key].is_string();
        let is_list = |key: &str| call[key].is_null() || call[key].is_array();
        Ok(Self {
            id,
            // Goose has this kind in all of its requests.
            kind: match text("kind") {
                None | Some("other") => kind_of_tool(call).or(text("kind")),
                kind => kind,
            },
            title: text("title"),
            input: call["rawInput"].as_object(),
            content: list("content"),
            locations: list("locations"),
            understood: ["kind", "title"].into_iter().all(is_text)
                && ["content", "locations"].into_iter().all(is_list)
                && (call["rawInput"].is_null() || call["rawInput"].is_object()),
            is_joined,
        })
    }

    fn text_of(&self, keys: &[&str]) -> Option<&'a str> {
        let input = self.input?;
        keys.iter().find_map(|key| input.get(*key)?.as_str())
    }

    /// Returns the commands in the input: texts of a shell, or lists of words.
    fn commands(&self) -> Result<Vec<String>, BrokenMessage> {
        let mut commands: Vec<String> = Vec::new();
        let input = |key: &str| self.input.and_then(|input| input.get(key));
        let fields = ["command", "cmd"].map(input);
        for field in fields.into_iter().flatten() {
            let command = match field {
                Value::String(text) => text.clone(),
                Value::Array(words) => {
                    let words = words.iter().map(|word| match word.as_str() {
                        Some(word) => quoted(word),
                        None => Err(invalid("`rawInput.command` is not a list of texts")),
                    });
                    words.collect::<Result<Vec<_>, _>>()?.join(" ")
                }
                _ => continue,
            };
            if !command.trim().is_empty() && !commands.contains(&command) {
                commands.push(command);
            }
        }
        // The parts of the command, as Copilot CLI reads it.
        let parts = input("commands").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            match part.as_str() {
                Some(part) if commands.iter().any(|command| command.contains(part)) => {}
                Some(part) => commands.push(part.to_owned()),
                None => return Err(invalid("`rawInput.commands` is not a list of texts")),
            }
        }
        Ok(commands)
    }

    fn has_only_shell_input(&self) -> bool {
        self.understood
            && self.input.is_some_and(|input| {
                let is_known = |key: &String| SHELL_INPUT.contains(&key.as_str());
                input.keys().all(is_known)
            })
    }

    fn is_file_tool(&self) -> bool {
        matches!(self.kind, Some("read" | "edit" | "delete" | "move"))
    }

    /// Returns the changes in the content.
    fn edits(&self) -> Vec<ProposedChange> {
        let mut edits = Vec::new();
        for diff in self.content.iter().filter(|part| part["type"] == "diff") {
            if let Some(path) = diff["path"].as_str() {
                let edit = match (diff["oldText"].as_str(), diff["newText"].as_str()) {
                    (Some(old), Some(new)) => ProposedEdit::Replace(vec![Replacement {
                        old: old.to_owned(),
                        new: new.to_owned(),
                        all: false,
                    }]),
                    (None, Some(new)) => ProposedEdit::Write(new.to_owned()),
                    _ => ProposedEdit::Unknown,
                };
                let path = path.into();
                edits.push(ProposedChange { path, edit });
            }
            // Version 2.
            for change in diff["changes"].as_array().into_iter().flatten() {
                let paths = ["path", "oldPath"].map(|key| change[key].as_str());
                for path in paths.into_iter().flatten() {
                    let edit = match change["operation"].as_str() {
                        Some("delete") => ProposedEdit::Delete,
                        _ => ProposedEdit::Unknown,
                    };
                    let path = path.into();
                    edits.push(ProposedChange { path, edit });
                }
            }
        }
        edits
    }

    /// Returns the file access: of the tool's kind, with the files of its input and its diffs.
    fn access(&self, edits: &[ProposedChange], cwd: Option<&Path>) -> Option<FileAccess> {
        let deletes = |edit: &ProposedChange| edit.edit == ProposedEdit::Delete;
        let (tool, kind) = match self.kind {
            Some("read") => ("Read", ToolKind::Reads),
            Some("search") => ("Grep", ToolKind::Searches),
            Some("delete") => ("Delete", ToolKind::Changes(Crud::Delete)),
            // The old path is gone afterwards.
            Some("move") => ("Move", ToolKind::Changes(Crud::Delete)),
            _ if edits.iter().any(deletes) => ("Delete", ToolKind::Changes(Crud::Delete)),
            Some("edit") => ("Edit", ToolKind::Changes(Crud::Update)),
            _ if !edits.is_empty() => ("Edit", ToolKind::Changes(Crud::Update)),
            _ => return None,
        };
        let named = self
            .input
            .and_then(|input| access(tool, kind, input, cwd).ok());
        let mut paths = named.map_or_else(Vec::new, |access| access.paths);
        let moved = [
            "source",
            "destination",
            "from",
            "to",
            "old_path",
            "new_path",
        ];
        let moved = moved.iter().filter_map(|key| self.text_of(&[key]));
        let shown = edits.iter().map(|edit| edit.path.clone());
        let mut others: Vec<PathBuf> = shown.collect();
        if self.kind == Some("move") {
            others.extend(moved.map(PathBuf::from));
        }
        // Another message may have described another call.
        if self.is_joined || paths.is_empty() && others.is_empty() {
            let located = self.locations.iter().filter_map(|at| at["path"].as_str());
            others.extend(located.map(PathBuf::from));
        }
        for path in others {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let effect = match kind {
            ToolKind::Changes(effect) => effect,
            _ => Crud::Read,
        };
        let facts = json!({ "input": self.input, "content": self.content });
        (!paths.is_empty()).then(|| FileAccess {
            tool: tool.to_owned(),
            effect,
            paths,
            input_hash: Some(input_hash(&facts)),
        })
    }

    /// Returns the texts for display that may be commands: those in backticks, and the whole title
    /// of a shell.
    fn display_texts(&self) -> impl Iterator<Item = &'a str> {
        let title = self
            .title
            .filter(|title| title.chars().count() <= MAX_COMMAND_CHARS);
        let title = title.unwrap_or_default();
        let in_backticks = title.split('`').skip(1).step_by(2);
        let whole =
            Some(title).filter(|title| self.kind == Some("execute") && !title.contains('`'));
        let texts = in_backticks.chain(whole);
        texts.filter(|text| !text.trim().is_empty()).take(8)
    }
}

/// Returns `true` if a client that starts a text as a program may find a file: at this path, or with this
/// name in a directory of `PATH`.
fn may_be_program(text: &str, cwd: Option<&Path>) -> bool {
    let exists = |file: PathBuf| match file.symlink_metadata() {
        Ok(_) => true,
        Err(error) => {
            use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
            !matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
        }
    };
    if text.contains('/') {
        return cwd.is_none_or(|cwd| exists(cwd.join(text)));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| exists(folder.join(text)))
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> Result<Cow<'_, str>, BrokenMessage> {
    shlex::try_quote(word).map_err(|_| invalid("a word of the command contains a NUL character"))
}

fn command_request(
    base: &PermissionRequest,
    command: String,
) -> Result<PermissionRequest, BrokenMessage> {
    if command.chars().count() > MAX_COMMAND_CHARS {
        let problem = format!("the command is longer than {MAX_COMMAND_CHARS} characters");
        return Err(invalid(problem));
    }
    if command.contains('\0') {
        return Err(invalid("the command contains a NUL character"));
    }
    Ok(PermissionRequest {
        command,
        ..base.clone()
    })
}

fn file_request(base: &PermissionRequest, access: FileAccess) -> PermissionRequest {
    PermissionRequest {
        command: line(&access),
        file: Some(access),
        ..base.clone()
    }
}

fn check_path(path: Option<&Path>) -> Result<(), BrokenMessage> {
    let text = path.map(Path::to_string_lossy).unwrap_or_default();
    if text.contains('\0') {
        return Err(invalid("a path contains a NUL character"));
    }
    match text.chars().count() > MAX_PATH_CHARS {
        true => Err(invalid(format!(
            "a path is longer than {MAX_PATH_CHARS} characters"
        ))),
        false => Ok(()),
    }
}

/// Returns a name of at most the length that the trail stores.
#[must_use]
pub(super) fn shortened(name: &str) -> String {
    match name.chars().count() <= MAX_NAME_CHARS {
        true => name.to_owned(),
        // Different names stay different.
        false => hex::encode(Sha256::digest(name)),
    }
}

/// Returns `Complete` if a type has all values of the parameters that it was read from.
fn evidence(written: &Value, read: &impl Serialize) -> Evidence {
    let read = serde_json::to_value(read).unwrap_or_default();
    match has_all(written, &read) {
        true => Evidence::Complete,
        false => Evidence::Partial,
    }
}

/// Returns `true` if `read` has all values of `written`, except `_meta`, `null` and empty lists.
fn has_all(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written.iter().all(|(key, value)| {
            key == "_meta"
                || match read.get(key) {
                    Some(read) => has_all(value, read),
                    None => value.is_null() || value.as_array().is_some_and(Vec::is_empty),
                }
        }),
        (Value::Array(written), Value::Array(read)) => {
            written.len() == read.len()
                && written
                    .iter()
                    .zip(read)
                    .all(|(one, other)| has_all(one, other))
        }
        (written, read) => written == read,
    }
}
