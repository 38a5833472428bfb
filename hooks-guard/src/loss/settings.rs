//! GitSettings of git that decide what counts as a change. In: the files of settings. Out: [`GitSettings`].
//!
//! Only the keys that [`GitSettings`] names are read. Included files and conditions are not followed, so
//! a repository cannot name further files by them.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files::open;

/// Maximum size of a file with settings or patterns, in bytes.
pub(super) const MAX_TEXT_BYTES: u64 = 1 << 20;

/// GitSettings that decide what counts as a change, and where a repository is.
#[derive(Clone, Debug)]
pub(super) struct GitSettings {
    /// `core.fileMode`: the permission to execute counts.
    pub(super) file_mode: bool,
    /// `core.ignoreCase`
    pub(super) ignore_case: bool,
    /// `core.trustCtime`
    pub(super) trust_ctime: bool,
    /// `core.checkStat` is not `minimal`.
    pub(super) check_stat: bool,
    /// `core.excludesFile`
    pub(super) excludes_file: Option<PathBuf>,
    /// `core.worktree`
    pub(super) work_tree: Option<String>,
    /// `core.bare`
    pub(super) bare: bool,
    /// `extensions.worktreeConfig`
    pub(super) work_tree_settings: bool,
    /// `extensions.objectFormat` is `sha256`.
    pub(super) sha256: bool,
    /// References are files.
    pub(super) has_reference_files: bool,
    /// An extension is set that changes the format in an unknown way.
    pub(super) unknown_format: bool,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self {
            file_mode: true,
            ignore_case: false,
            trust_ctime: true,
            check_stat: true,
            excludes_file: None,
            work_tree: None,
            bare: false,
            work_tree_settings: false,
            sha256: false,
            has_reference_files: true,
            unknown_format: false,
        }
    }
}

impl GitSettings {
    /// Applies the settings of a file. A missing file has none.
    pub(super) fn read(&mut self, file: &Path, home: &Path) {
        let text = read_text(file).unwrap_or_default();
        for (key, value) in entries(&String::from_utf8_lossy(&text)) {
            self.set(&key, value.as_deref(), home);
        }
    }

    fn set(&mut self, key: &str, value: Option<&str>, home: &Path) {
        let is_on = !matches!(
            value.unwrap_or("true").to_ascii_lowercase().as_str(),
            "false" | "no" | "off" | "0" | ""
        );
        let text = value.unwrap_or_default();
        match key {
            "core.filemode" => self.file_mode = is_on,
            "core.ignorecase" => self.ignore_case = is_on,
            "core.trustctime" => self.trust_ctime = is_on,
            "core.checkstat" => self.check_stat = !text.eq_ignore_ascii_case("minimal"),
            "core.bare" => self.bare = is_on,
            "core.worktree" => self.work_tree = Some(text.to_owned()),
            "core.excludesfile" => {
                self.excludes_file = match text.strip_prefix("~/") {
                    Some(rest) => Some(home.join(rest)),
                    None => Some(PathBuf::from(text)).filter(|path| path.is_absolute()),
                };
            }
            "extensions.worktreeconfig" => self.work_tree_settings = is_on,
            "extensions.objectformat" => self.sha256 = text.eq_ignore_ascii_case("sha256"),
            "extensions.refstorage" => self.has_reference_files = text == "files",
            "extensions.noop"
            | "extensions.preciousobjects"
            | "extensions.partialclone"
            | "extensions.compatobjectformat"
            | "extensions.relativeworktrees"
            | "extensions.submodulepathconfig" => {}
            _ if key.starts_with("extensions.") => self.unknown_format = true,
            _ => {}
        }
    }
}

/// Returns the content of a small regular file.
pub(super) fn read_text(path: &Path) -> Option<Vec<u8>> {
    read_bytes(path, MAX_TEXT_BYTES)
}

/// Returns the content of a regular file of at most `max` bytes.
pub(super) fn read_bytes(path: &Path, max: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = open(path).ok()?.take(max + 1);
    file.read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= max).then_some(bytes)
}

/// Returns the keys and values of sections without a name in quotes. A key without `=` has no value.
fn entries(text: &str) -> Vec<(String, Option<String>)> {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, rest)) = rest.split_once(']') else {
                section = None;
                continue;
            };
            section = (!name.contains('"')).then(|| name.trim().to_ascii_lowercase());
            line = rest.trim();
        }
        let Some(section) = &section else { continue };
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key, Some(unquoted(value.trim()))),
            None => (line, None),
        };
        let key = key.trim().to_ascii_lowercase();
        found.push((format!("{section}.{key}"), value));
    }
    found
}

/// Returns a value without its quotes and without a comment.
fn unquoted(text: &str) -> String {
    let mut value = String::new();
    let mut is_quoted = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' => value.extend(characters.next()),
            '#' | ';' if !is_quoted => break,
            _ => value.push(character),
        }
    }
    match is_quoted || text.ends_with('"') {
        true => value,
        false => value.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn keys_of_named_sections_do_not_count() {
        let text = "[Core] bare = false ; no\n\tfileMode\n[core \"x\"]\nbare = true\n# c\n\
                    [include]\npath = \"a # b\"\n[a]\nb = x \\\n y\n[core\nbare = true\n";
        let expected = [
            ("core.bare", Some("false")),
            ("core.filemode", None),
            ("include.path", Some("a # b")),
            ("a.b", Some("x  y")),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.map(str::to_owned)));
        assert_eq!(entries(text), expected);
    }
}
