//! Patches of `apply_patch`. In: a patch. Out: the files that it names, the strongest effect on them,
//! and the changes.

use super::error::Problem;
use crate::changes::{PatchHunk, ProposedChange, ProposedEdit};
use crate::classify::Crud;

/// Returns the strongest effect and the files.
///
/// Treats a line as a header whatever precedes it: an extra file only causes a question, a missing
/// file would not be checked.
pub(crate) fn files(patch: &str) -> Result<(Crud, Vec<String>), Problem> {
    let mut effect = Crud::Read;
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let Some((header, file)) = PatchHeader::parse(line) else {
            continue;
        };
        effect = effect.max(header.effect());
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    match effect {
        Crud::Read => Err(Problem::Patch),
        effect => Ok((effect, files)),
    }
}

/// Header of a file in a patch.
#[derive(Clone, Copy)]
enum PatchHeader {
    Add,
    Update,
    Move,
    Delete,
}

impl PatchHeader {
    /// Returns the header in a line, and its file.
    fn parse(line: &str) -> Option<(Self, &str)> {
        let (name, file) = line.trim().strip_prefix("***")?.split_once(':')?;
        let header = match name.trim() {
            "Add File" => Self::Add,
            "Update File" => Self::Update,
            "Move to" => Self::Move,
            "Delete File" => Self::Delete,
            _ => return None,
        };
        let file = file.trim();
        (!file.is_empty()).then_some((header, file))
    }

    fn effect(self) -> Crud {
        match self {
            Self::Add => Crud::Create,
            Self::Update | Self::Move => Crud::Update,
            Self::Delete => Crud::Delete,
        }
    }
}

/// Returns the changes of a patch, in its order.
pub(crate) fn changes(patch: &str) -> Vec<ProposedChange> {
    let mut changes: Vec<ProposedChange> = Vec::new();
    for line in patch.lines() {
        if let Some((header, file)) = PatchHeader::parse(line) {
            let (hunks, moved_to) = (Vec::new(), None);
            let last = changes.last_mut().map(|change| &mut change.edit);
            let edit = match (header, last) {
                (PatchHeader::Move, Some(ProposedEdit::Patch { moved_to, .. })) => {
                    *moved_to = Some(file.into());
                    continue;
                }
                (PatchHeader::Add, _) => ProposedEdit::Write(String::new()),
                (PatchHeader::Delete, _) => ProposedEdit::Delete,
                (PatchHeader::Update | PatchHeader::Move, _) => {
                    ProposedEdit::Patch { hunks, moved_to }
                }
            };
            let path = file.into();
            changes.push(ProposedChange { path, edit });
            continue;
        }
        match changes.last_mut().map(|change| &mut change.edit) {
            Some(ProposedEdit::Write(text)) => {
                if let Some(added) = line.strip_prefix('+') {
                    text.push_str(added);
                    text.push('\n');
                }
            }
            Some(ProposedEdit::Patch { hunks, .. }) => add_line(hunks, line),
            _ => {}
        }
    }
    changes
}

fn add_line(hunks: &mut Vec<PatchHunk>, line: &str) {
    if let Some(anchor) = line.strip_prefix("@@") {
        let anchor = anchor
            .strip_prefix(' ')
            .filter(|anchor| !anchor.trim().is_empty());
        hunks.push(PatchHunk {
            anchor: anchor.map(str::to_owned),
            lines: Vec::new(),
        });
        return;
    }
    // Such as the end of the patch, or of the file.
    if line.starts_with("***") {
        return;
    }
    // The first hunk may have no header.
    if hunks.is_empty() {
        hunks.push(PatchHunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return };
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, ' ' | '+' | '-'));
    hunk.lines.push(match mark {
        Some(mark) => (mark, line[1..].to_owned()),
        None => (' ', line.to_owned()),
    });
}

#[cfg(test)]
mod tests {
    use super::{Crud, Problem, changes, files};
    use crate::changes::{PatchHunk, ProposedChange, ProposedEdit};

    #[test]
    fn a_patch_gives_the_change_of_each_file() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+x\n+\n*** Update File: b.rs\n\
                     *** Move to: c.rs\n@@ fn b() {\n same\n-old\n+new\n\n@@\n+end\n\
                     *** End of File\n*** Delete File: d.rs\n*** End Patch";
        let hunk = |anchor: Option<&str>, lines: &[(char, &str)]| PatchHunk {
            anchor: anchor.map(str::to_owned),
            lines: lines
                .iter()
                .map(|(mark, line)| (*mark, (*line).to_owned()))
                .collect(),
        };
        let hunks = vec![
            hunk(
                Some("fn b() {"),
                &[(' ', "same"), ('-', "old"), ('+', "new"), (' ', "")],
            ),
            hunk(None, &[('+', "end")]),
        ];
        let moved_to = Some("c.rs".into());
        let change = |path: &str, edit| ProposedChange {
            path: path.into(),
            edit,
        };
        assert_eq!(
            changes(patch),
            [
                change("a.rs", ProposedEdit::Write("x\n\n".to_owned())),
                change("b.rs", ProposedEdit::Patch { hunks, moved_to }),
                change("d.rs", ProposedEdit::Delete),
            ]
        );
    }

    #[test]
    fn a_patch_gives_its_files_and_the_strongest_effect() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+*** x\n*** Update File: b.rs\r\n\
                     *** Move to: c.rs\n@@\n-old\n+new\n  *** Delete File:  d e.rs \n*** End Patch";
        let (effect, named) = files(patch).unwrap();
        assert_eq!(effect, Crud::Delete);
        assert_eq!(named, ["a.rs", "b.rs", "c.rs", "d e.rs"]);
        let (effect, _) = files("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch").unwrap();
        assert_eq!(effect, Crud::Create);
    }

    #[test]
    fn a_patch_without_file_names_is_an_error() {
        for patch in [
            "",
            "--- a/x\n+++ b/x\n",
            "*** Begin Patch\n*** End Patch",
            "*** Add File: ",
        ] {
            assert_eq!(files(patch), Err(Problem::Patch), "{patch}");
        }
    }
}
