//! Methods and parameters of requests that need a decision, as the schemas of versions 1 and 2 of the
//! Agent Client Protocol define them (release 1.20 of the schemas).
//!
//! The crate with all types of the protocol takes longer to compile than this crate; `contrib/acp-schema`
//! compares its types with these.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Method that runs a command.
pub(super) const TERMINAL_CREATE: &str = "terminal/create";
/// Method that writes a file.
pub(super) const FS_WRITE_TEXT_FILE: &str = "fs/write_text_file";
/// Method that reads a file.
pub(super) const FS_READ_TEXT_FILE: &str = "fs/read_text_file";
/// Method that asks the user.
pub(super) const SESSION_REQUEST_PERMISSION: &str = "session/request_permission";

/// Parameters of [`TERMINAL_CREATE`].
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateTerminal {
    pub(super) session_id: String,
    pub(super) command: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    pub(super) args: Vec<String>,
    #[serde(default, deserialize_with = "null_as_empty")]
    pub(super) env: Vec<EnvVariable>,
    #[serde(default)]
    pub(super) cwd: Option<PathBuf>,
    #[serde(default)]
    output_byte_limit: Option<u64>,
}

/// Variable of a command.
#[derive(Deserialize, Serialize)]
pub(super) struct EnvVariable {
    pub(super) name: String,
    pub(super) value: String,
}

/// Parameters of [`FS_WRITE_TEXT_FILE`].
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WriteTextFile {
    pub(super) session_id: String,
    pub(super) path: PathBuf,
    pub(super) content: String,
}

/// Parameters of [`FS_READ_TEXT_FILE`].
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadTextFile {
    pub(super) session_id: String,
    pub(super) path: PathBuf,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    limit: Option<u32>,
}

/// Parameters of [`SESSION_REQUEST_PERMISSION`] in version 1: the parts without which they are invalid.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPermission {
    pub(super) session_id: String,
    #[serde(rename = "toolCall")]
    _tool_call: AskedToolCall,
    #[serde(rename = "options")]
    _options: Vec<OfferedOption<OptionKind>>,
}

/// Parameters of [`SESSION_REQUEST_PERMISSION`] in version 2: the parts without which they are invalid.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPermissionV2 {
    pub(super) session_id: String,
    #[serde(rename = "title")]
    _title: String,
    #[serde(default)]
    pub(super) subject: Option<PermissionSubject>,
    #[serde(rename = "options", deserialize_with = "not_empty")]
    _options: Vec<OfferedOption<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AskedToolCall {
    #[serde(rename = "toolCallId")]
    _tool_call_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfferedOption<Kind> {
    #[serde(rename = "optionId")]
    _option_id: String,
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "kind")]
    _kind: Kind,
}

/// Kinds of options in version 1. Version 2 allows others.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

/// Operation of a request for permission.
pub(super) enum PermissionSubject {
    ToolCall,
    Command(CommandSubject),
    /// An operation that the protocol does not define.
    Other,
}

/// Command of a request for permission.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandSubject {
    #[serde(rename = "type")]
    kind: String,
    pub(super) command: String,
    pub(super) cwd: PathBuf,
    #[serde(default, deserialize_with = "text_or_none")]
    tool_call_id: Option<String>,
    #[serde(default, deserialize_with = "text_or_none")]
    terminal_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCallSubject {
    #[serde(rename = "toolCall")]
    _tool_call: AskedToolCall,
}

impl<'de> Deserialize<'de> for PermissionSubject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = match value["type"].as_str() {
            Some("tool_call") => ToolCallSubject::deserialize(&value).map(|_| Self::ToolCall),
            Some("command") => CommandSubject::deserialize(&value).map(Self::Command),
            Some(_) => Ok(Self::Other),
            None => Err(serde::de::Error::custom(
                "the `type` of the `subject` is not a text",
            )),
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// Reads a list, which may be `null`.
fn null_as_empty<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Option::<Vec<T>>::deserialize(deserializer)?;
    Ok(list.unwrap_or_default())
}

/// Reads a list with at least one element.
fn not_empty<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Vec::<T>::deserialize(deserializer)?;
    match list.is_empty() {
        true => Err(serde::de::Error::custom("no option is offered")),
        false => Ok(list),
    }
}

/// Reads a text; a value of another type is `None`.
fn text_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}
