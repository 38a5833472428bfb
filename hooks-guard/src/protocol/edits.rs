//! The edits of file tools. In: the input of a tool. Out: the changes that it would make, as far as
//! the input tells; fields of other types are ignored.
//!
//! Agents name the fields differently, so the fields that are there determine the edit, not the name
//! of the tool.

use serde_json::Value;

use super::description::ToolKind;
use super::input::JsonObject;
use super::model::DecisionRequest;
use super::patch;
use super::tools::{PARTS, PATCHES, PATHS, plain, plain_path, tool};
use crate::changes::{CellEdit, ProposedChange, ProposedEdit, Replacement};
use crate::classify::Crud;
use crate::request::FileAccess;

const OLD: &[&str] = &[
    "old_string",
    "oldString",
    "old_str",
    "oldStr",
    "old_text",
    "oldText",
    "before",
];
const NEW: &[&str] = &[
    "new_string",
    "newString",
    "new_str",
    "newStr",
    "new_text",
    "newText",
    "after",
];
const CONTENT: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "fileText",
    "CodeContent",
];
const INSERTED: &[&str] = &["insert_text", "insertText", "new_str", "newStr", "text"];
const INSERT_LINE: &[&str] = &["insert_line", "insertLine"];
const SOURCE: &[&str] = &["new_source", "newSource", "newCode", "new_code"];
const CELL: &[&str] = &["cell_id", "cellId", "cell_number", "cell_idx"];
const CELL_MODE: &[&str] = &["edit_mode", "editMode", "editType"];
const FRAGMENT: &[&str] = &["code", "code_edit", "codeEdit"];
const ALL: &[&str] = &["replace_all", "replaceAll", "allow_multiple"];

impl DecisionRequest {
    /// Returns the changes that a file tool would make, for the operator who approves them; none if
    /// the tool only reads, and for a command.
    #[must_use]
    pub fn edits(&self) -> Vec<ProposedChange> {
        let access = self.request.file.as_ref();
        let changes = access.map(|access| edits(&self.arguments, access));
        changes.unwrap_or_default()
    }
}

/// Returns the changes that a call of a file tool would make.
pub(crate) fn edits(arguments: &JsonObject, access: &FileAccess) -> Vec<ProposedChange> {
    match tool(&access.tool) {
        // A directory has no content.
        _ if plain(&access.tool) == "createdirectory" => Vec::new(),
        Some(ToolKind::Patch) => text(arguments, PATCHES)
            .map(patch::changes)
            .unwrap_or_default(),
        Some(ToolKind::Changes(effect)) => of_fields(effect, arguments, access),
        _ => Vec::new(),
    }
}

fn of_fields(effect: Crud, arguments: &JsonObject, access: &FileAccess) -> Vec<ProposedChange> {
    let unknown = || -> Vec<ProposedChange> {
        let paths = access.paths.iter();
        paths
            .map(|path| ProposedChange {
                path: path.clone(),
                edit: match effect {
                    Crud::Delete => ProposedEdit::Delete,
                    _ => ProposedEdit::Unknown,
                },
            })
            .collect()
    };
    let parts = PARTS
        .iter()
        .filter_map(|part| arguments.get(*part)?.as_array());
    let parts: Vec<_> = parts.flatten().filter_map(Value::as_object).collect();
    let own = (!parts.is_empty())
        .then(|| replacements(arguments, &parts))
        .flatten();
    if let Some(changes) = own {
        return changes;
    }
    // Several files with one content are not an edit that is known here.
    let (Some(edit), [path]) = (edit(arguments), access.paths.as_slice()) else {
        return unknown();
    };
    vec![ProposedChange {
        path: path.clone(),
        edit,
    }]
}

/// Returns the edit that an object describes.
fn edit(object: &JsonObject) -> Option<ProposedEdit> {
    let owned = |fields| text(object, fields).map(str::to_owned);
    if let Some(source) = owned(SOURCE) {
        let mode: String = text(object, CELL_MODE)
            .unwrap_or("replace")
            .chars()
            .take(20)
            .collect();
        let cell = find(object, CELL).map(|cell| match cell {
            Value::String(cell) => cell.clone(),
            other => other.to_string(),
        });
        return Some(ProposedEdit::Cell(CellEdit { cell, mode, source }));
    }
    // An insertion has a text in a field of replacements.
    if let Some(line) = find(object, INSERT_LINE).and_then(Value::as_u64) {
        return owned(INSERTED).map(|text| ProposedEdit::Insert { line, text });
    }
    if let Some(replacement) = replacement(object) {
        return Some(ProposedEdit::Replace(vec![replacement]));
    }
    if let Some(content) = owned(CONTENT) {
        return Some(ProposedEdit::Write(content));
    }
    owned(FRAGMENT).map(ProposedEdit::Fragment)
}

fn replacement(object: &JsonObject) -> Option<Replacement> {
    let all = find(object, ALL).and_then(Value::as_bool) == Some(true)
        || find(object, &["expected_replacements"]).and_then(Value::as_u64) > Some(1);
    Some(Replacement {
        old: text(object, OLD)?.to_owned(),
        new: text(object, NEW).unwrap_or_default().to_owned(),
        all,
    })
}

/// Returns the replacements in parts, by file; `None` if a part is not a replacement in a known file.
fn replacements(arguments: &JsonObject, parts: &[&JsonObject]) -> Option<Vec<ProposedChange>> {
    let mut changes: Vec<ProposedChange> = Vec::new();
    for part in parts {
        let path = text(part, PATHS).or_else(|| text(arguments, PATHS))?;
        let path = plain_path(path).ok()?;
        let one = replacement(part)?;
        let known = changes.iter_mut().find(|change| change.path == path);
        match known.map(|change| &mut change.edit) {
            Some(ProposedEdit::Replace(replacements)) => replacements.push(one),
            _ => changes.push(ProposedChange {
                path,
                edit: ProposedEdit::Replace(vec![one]),
            }),
        }
    }
    Some(changes)
}

fn find<'a>(object: &'a JsonObject, fields: &[&str]) -> Option<&'a Value> {
    fields.iter().find_map(|field| object.get(*field))
}

/// Returns the first text in one of these fields.
fn text<'a>(object: &'a JsonObject, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| object.get(*field)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::edits;
    use crate::changes::{CellEdit, ProposedChange, ProposedEdit, Replacement};
    use crate::protocol::tools::{access, tool};

    fn of(name: &str, arguments: &Value) -> Vec<ProposedChange> {
        let arguments = arguments.as_object().unwrap();
        let kind = tool(name).unwrap();
        let access = access(name, kind, arguments, None).unwrap();
        edits(arguments, &access)
    }

    fn change(path: &str, edit: ProposedEdit) -> ProposedChange {
        ProposedChange {
            path: path.into(),
            edit,
        }
    }

    fn swap(all: bool) -> Replacement {
        Replacement {
            old: "a".to_owned(),
            new: "b".to_owned(),
            all,
        }
    }

    #[test]
    fn the_edit_of_each_agent_is_known() {
        let write = || ProposedEdit::Write("x".to_owned());
        let replace = |all| ProposedEdit::Replace(vec![swap(all)]);
        for (tool, arguments, edit) in [
            ("Write", json!({"file_path": "f", "content": "x"}), write()),
            (
                "write_file",
                json!({"file_path": "f", "content": "x"}),
                write(),
            ),
            ("write", json!({"filePath": "f", "content": "x"}), write()),
            ("create", json!({"path": "f", "file_text": "x"}), write()),
            (
                "create_file",
                json!({"filePath": "f", "content": "x"}),
                write(),
            ),
            ("Write", json!({"path": "f", "contents": "x"}), write()),
            (
                "Edit",
                json!({"file_path": "f", "old_string": "a", "new_string": "b"}),
                replace(false),
            ),
            (
                "Edit",
                json!({"file_path": "f", "old_string": "a", "new_string": "b", "replace_all": true}),
                replace(true),
            ),
            (
                "edit",
                json!({"filePath": "f", "oldString": "a", "newString": "b"}),
                replace(false),
            ),
            (
                "edit",
                json!({"path": "f", "old_str": "a", "new_str": "b"}),
                replace(false),
            ),
            (
                "replace",
                json!({"file_path": "f", "old_string": "a", "new_string": "b", "expected_replacements": 2}),
                replace(true),
            ),
            (
                "StrReplace",
                json!({"path": "f", "old_string": "a", "new_string": "b"}),
                replace(false),
            ),
            (
                "replace_string_in_file",
                json!({"filePath": "f", "oldString": "a", "newString": "b"}),
                replace(false),
            ),
            (
                "MultiEdit",
                json!({"file_path": "f", "edits": [
                    {"old_string": "a", "new_string": "b"},
                    {"old_string": "a", "new_string": "b", "replace_all": true}
                ]}),
                ProposedEdit::Replace(vec![swap(false), swap(true)]),
            ),
            (
                "insert",
                json!({"path": "f", "insert_line": 3, "new_str": "x"}),
                ProposedEdit::Insert {
                    line: 3,
                    text: "x".to_owned(),
                },
            ),
            (
                "NotebookEdit",
                json!({"notebook_path": "f", "cell_id": "c", "new_source": "x", "edit_mode": "insert"}),
                ProposedEdit::Cell(CellEdit {
                    cell: Some("c".to_owned()),
                    mode: "insert".to_owned(),
                    source: "x".to_owned(),
                }),
            ),
            (
                "insert_edit_into_file",
                json!({"filePath": "f", "code": "x"}),
                ProposedEdit::Fragment("x".to_owned()),
            ),
            ("Delete", json!({"path": "f"}), ProposedEdit::Delete),
            ("TabWrite", json!({"path": "f"}), ProposedEdit::Unknown),
        ] {
            assert_eq!(
                of(tool, &arguments),
                [change("f", edit)],
                "{tool} {arguments}"
            );
        }
        assert_eq!(of("Read", &json!({"file_path": "f"})), []);
        assert_eq!(of("create_directory", &json!({"dirPath": "f"})), []);
    }

    #[test]
    fn replacements_in_several_files_are_grouped() {
        let part = |path: &str| json!({"filePath": path, "oldString": "a", "newString": "b"});
        let arguments = json!({"replacements": [part("f"), part("g"), part("f")]});
        let changes = of("multi_replace_string_in_file", &arguments);
        let edits = |count| ProposedEdit::Replace(vec![swap(false); count]);
        assert_eq!(changes, [change("f", edits(2)), change("g", edits(1))]);
    }

    #[test]
    fn fields_of_other_types_are_not_shown() {
        for arguments in [
            json!({"file_path": "f", "content": 7}),
            json!({"file_path": "f", "old_string": ["a"], "new_string": "b"}),
            json!({"file_path": "f", "edits": [{"old_string": 1}]}),
        ] {
            let changes = of("Edit", &arguments);
            assert_eq!(changes, [change("f", ProposedEdit::Unknown)], "{arguments}");
        }
    }
}
