//! Makes folders that are repositories.

use std::path::Path;

/// Makes a folder the root of a work tree, by the files that git looks for.
pub(crate) fn make_repository(folder: &Path) {
    for name in ["objects", "refs"] {
        std::fs::create_dir_all(folder.join(".git").join(name)).expect("a folder");
    }
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
}
