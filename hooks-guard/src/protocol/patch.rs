//! Patches of `apply_patch`. In: a patch. Out: the files that it names, and the strongest effect on
//! them.

use super::error::Problem;
use crate::classify::Crud;

/// Returns the strongest effect and the files.
///
/// Treats a line as a header whatever precedes it: an extra file only causes a question, a missing
/// file would not be checked.
pub(crate) fn files(patch: &str) -> Result<(Crud, Vec<String>), Problem> {
    let mut effect = Crud::Read;
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let Some((kind, file)) = header(line.trim()) else {
            continue;
        };
        effect = effect.max(kind);
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    match effect {
        Crud::Read => Err(Problem::Patch),
        effect => Ok((effect, files)),
    }
}

fn header(line: &str) -> Option<(Crud, &str)> {
    let (what, file) = line.strip_prefix("***")?.split_once(':')?;
    let effect = match what.trim() {
        "Add File" => Crud::Create,
        "Update File" | "Move to" => Crud::Update,
        "Delete File" => Crud::Delete,
        _ => return None,
    };
    let file = file.trim();
    (!file.is_empty()).then_some((effect, file))
}

#[cfg(test)]
mod tests {
    use super::{Crud, Problem, files};

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
