//! Applies edits to a text as the tools do. In: the present text and an edit. Out: the new text, or
//! why the edit does not apply.

use serde_json::Value;

use super::{CellEdit, PatchHunk, Replacement};

/// Replaces texts in order.
pub(super) fn replace(present: &str, replacements: &[Replacement]) -> Result<String, String> {
    let mut text = present.to_owned();
    for Replacement { old, new, all } in replacements {
        if old.is_empty() {
            if !text.is_empty() {
                return Err("the text to replace is empty, but the file is not".to_owned());
            }
            text.clone_from(new);
            continue;
        }
        let (mut old, mut new) = (old.clone(), new.clone());
        // Tools send `\n` for each line break of the file.
        if !text.contains(&old) && text.contains("\r\n") && !old.contains('\r') {
            old = old.replace('\n', "\r\n");
            new = new.replace('\n', "\r\n");
        }
        text = match (text.matches(&old).count(), all) {
            (0, _) => return Err("the file does not contain the text to replace".to_owned()),
            (1, _) => text.replacen(&old, &new, 1),
            (_, true) => text.replace(&old, &new),
            (count, false) => {
                return Err(format!(
                    "the file contains the text to replace {count} times"
                ));
            }
        };
    }
    Ok(text)
}

/// Inserts a text after a line.
pub(super) fn insert(present: &str, line: u64, inserted: &str) -> Result<String, String> {
    let lines: Vec<&str> = present.split_inclusive('\n').collect();
    let at = usize::try_from(line).unwrap_or(usize::MAX);
    if at > lines.len() {
        return Err(format!("the file has only {} lines", lines.len()));
    }
    let mut text = lines[..at].concat();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(inserted);
    let rest = lines[at..].concat();
    if !rest.is_empty() && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text + &rest)
}

/// Applies the hunks of a patch.
pub(super) fn patch(present: &str, hunks: &[PatchHunk]) -> Result<String, String> {
    let fails = || "the patch does not match the file".to_owned();
    let mut lines: Vec<String> = present.lines().map(str::to_owned).collect();
    let mut at = 0;
    for PatchHunk {
        anchor,
        lines: hunk,
    } in hunks
    {
        if let Some(anchor) = anchor {
            let found = find(&lines[at..], std::slice::from_ref(anchor)).ok_or_else(fails)?;
            at += found + 1;
        }
        let side = |mark: char| -> Vec<String> {
            let of_side = hunk.iter().filter(|(other, _)| *other != mark);
            of_side.map(|(_, line)| line.clone()).collect()
        };
        let (old, new) = (side('+'), side('-'));
        let start = match (old.is_empty(), anchor) {
            (true, Some(_)) => at,
            (true, None) => lines.len(),
            (false, _) => at + find(&lines[at..], &old).ok_or_else(fails)?,
        };
        at = start + new.len();
        lines.splice(start..start + old.len(), new);
    }
    let mut text = lines.join("\n");
    if !text.is_empty() && (present.is_empty() || present.ends_with('\n')) {
        text.push('\n');
    }
    Ok(text)
}

/// Returns where lines begin in others; differences in whitespace at the ends of lines count only
/// if there is no exact place.
fn find(lines: &[String], wanted: &[String]) -> Option<usize> {
    let place = |same: fn(&str, &str) -> bool| {
        lines
            .windows(wanted.len())
            .position(|some| some.iter().zip(wanted).all(|(one, other)| same(one, other)))
    };
    place(|one, other| one == other)
        .or_else(|| place(|one, other| one.trim_end() == other.trim_end()))
        .or_else(|| place(|one, other| one.trim() == other.trim()))
}

/// Returns the source of a notebook's cell.
pub(super) fn cell(notebook: &str, edit: &CellEdit) -> Result<String, String> {
    let unknown = || "the notebook does not have this cell".to_owned();
    let notebook: Value = serde_json::from_str(notebook)
        .map_err(|_| "the present notebook is not valid JSON".to_owned())?;
    let cells = notebook["cells"].as_array().ok_or_else(unknown)?;
    let wanted = edit.cell.as_deref().ok_or_else(unknown)?;
    let number = wanted.strip_prefix("cell-").unwrap_or(wanted);
    let number: Option<usize> = number.parse().ok();
    let cell = cells
        .iter()
        .find(|cell| cell["id"] == wanted)
        .or_else(|| number.and_then(|number| cells.get(number)))
        .ok_or_else(unknown)?;
    Ok(match &cell["source"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        source => source.as_str().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{cell, insert, patch, replace};
    use crate::changes::{CellEdit, PatchHunk, Replacement};

    fn swap(old: &str, new: &str, all: bool) -> Replacement {
        Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            all,
        }
    }

    #[test]
    fn replacements_apply_in_order() {
        let both = [swap("a", "b", false), swap("b\n", "c\n", true)];
        assert_eq!(replace("a\nb\n", &both).unwrap(), "c\nc\n");
        assert_eq!(replace("", &[swap("", "new", false)]).unwrap(), "new");
        let windows = replace("a\r\nb\r\n", &[swap("a\nb", "a\nc", false)]);
        assert_eq!(windows.unwrap(), "a\r\nc\r\n");
    }

    #[test]
    fn a_replacement_that_the_tool_would_refuse_is_an_error() {
        for (text, old) in [("a", "x"), ("aa", "a"), ("a", "")] {
            assert!(
                replace(text, &[swap(old, "b", false)]).is_err(),
                "{text} {old}"
            );
        }
    }

    #[test]
    fn an_insertion_keeps_lines_apart() {
        assert_eq!(insert("a\nb\n", 1, "x").unwrap(), "a\nx\nb\n");
        assert_eq!(insert("a", 1, "x\n").unwrap(), "a\nx\n");
        assert_eq!(insert("a\n", 0, "x\n").unwrap(), "x\na\n");
        assert!(insert("a\n", 3, "x").is_err());
    }

    #[test]
    fn hunks_of_a_patch_are_found_in_order() {
        let hunk = |anchor: Option<&str>, lines: &[(char, &str)]| PatchHunk {
            anchor: anchor.map(str::to_owned),
            lines: lines
                .iter()
                .map(|(mark, line)| (*mark, (*line).to_owned()))
                .collect(),
        };
        let text = "fn a() {\n    1\n}\nfn b() {\n    1\n}\n";
        let second = [hunk(Some("fn b() {"), &[('-', "    1"), ('+', "    2")])];
        assert_eq!(
            patch(text, &second).unwrap(),
            "fn a() {\n    1\n}\nfn b() {\n    2\n}\n"
        );
        let end = [hunk(None, &[('+', "// end")])];
        assert!(patch(text, &end).unwrap().ends_with("}\n// end\n"));
        assert!(patch(text, &[hunk(None, &[('-', "absent")])]).is_err());
        assert!(patch(text, &[hunk(Some("absent"), &[('+', "x")])]).is_err());
    }

    #[test]
    fn a_cell_is_found_by_id_or_number() {
        let notebook = r#"{"cells": [{"id": "a", "source": ["x = 1\n", "y"]}, {"source": "z"}]}"#;
        let edit = |cell: Option<&str>| CellEdit {
            cell: cell.map(str::to_owned),
            mode: "replace".to_owned(),
            source: String::new(),
        };
        assert_eq!(cell(notebook, &edit(Some("a"))).unwrap(), "x = 1\ny");
        assert_eq!(cell(notebook, &edit(Some("cell-1"))).unwrap(), "z");
        for (text, wanted) in [(notebook, Some("b")), (notebook, None), ("{", Some("a"))] {
            assert!(cell(text, &edit(wanted)).is_err(), "{wanted:?}");
        }
    }
}
