//! Patterns of file names. In: a pattern of the shell and a directory. Out: the paths that fit.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::bounds::Bounds;

/// Returns the paths that fit a pattern from a directory, in order. `None` if the pattern cannot be
/// read, contains `..`, or needs more entries than the bounds allow.
pub(super) fn paths(directory: &Path, pattern: &str, bounds: &mut Bounds) -> Option<Vec<PathBuf>> {
    if pattern.split('/').any(|part| part == "..") {
        return None;
    }
    let mut found = vec![match pattern.starts_with('/') {
        true => PathBuf::from("/"),
        false => directory.to_owned(),
    }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for folder in found {
            if !part.contains(['*', '?', '[']) {
                next.push(folder.join(part));
                continue;
            }
            next.extend(matching(&folder, part, bounds)?);
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found.sort();
    Some(found)
}

/// Returns the entries of a directory that fit a pattern; those with a dot only if the pattern has it.
fn matching(folder: &Path, pattern: &str, bounds: &mut Bounds) -> Option<Vec<PathBuf>> {
    let matcher = matcher(pattern)?;
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Some(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries {
        bounds.entries = bounds.entries.checked_sub(1)?;
        let name = entry.ok()?.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if (!is_hidden || pattern.starts_with('.')) && matcher.is_match(&name) {
            found.push(folder.join(name));
        }
    }
    Some(found)
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    // The braces of the shell are expanded before.
    if pattern.contains(['{', '}', '\\']) || pattern.contains("[:") {
        return None;
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::bounds::Bounds;
    use super::paths;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["a.o", "b.o", ".c.o", "src/a.rs", "src/b.txt", "-x", "é.o"] {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "").expect("a file");
        }
        let fitting = |pattern: &str| {
            let found = paths(folder.path(), pattern, &mut Bounds::default()).expect("bounds");
            let name = |path: &std::path::PathBuf| {
                path.strip_prefix(folder.path())
                    .expect("below")
                    .display()
                    .to_string()
            };
            found.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(fitting("*.o"), ["a.o", "b.o", "é.o"]);
        assert_eq!(fitting("?.o"), ["a.o", "b.o"]);
        assert_eq!(fitting(".*.o"), [".c.o"]);
        assert_eq!(fitting("s*/*.rs"), ["src/a.rs"]);
        assert_eq!(fitting("[!a].o"), ["b.o"]);
        assert_eq!(fitting("absent/*"), Vec::<String>::new());
        let mut few = Bounds {
            entries: 2,
            ..Bounds::default()
        };
        assert_eq!(paths(folder.path(), "*", &mut few), None);
        assert_eq!(paths(Path::new("/"), "{a}*", &mut Bounds::default()), None);
    }
}
