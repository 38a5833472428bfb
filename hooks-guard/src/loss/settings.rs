//! Settings of git that decide what counts as a change. In: the files of settings. Out: [`GitSettings`].
//!
//! Only the keys that [`GitSettings`] names are read. Included files and conditions are not followed, so
//! a repository cannot name further files by them.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::classify::git_variables;
use crate::files::open;

/// Maximum size of a file with settings or patterns, in bytes.
pub(super) const MAX_TEXT_BYTES: u64 = 1 << 20;

/// Settings that decide what counts as a change, and where a repository is.
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
    /// Applies the settings of a file. A missing file has none; git refuses one that cannot be parsed.
    pub(super) fn read(&mut self, file: &Path, home: &Path) {
        let text = read_text(file).unwrap_or_default();
        match git_variables(&String::from_utf8_lossy(&text)) {
            Some(variables) => {
                for (key, value) in variables {
                    self.set(&key, &value, home);
                }
            }
            None => self.unknown_format = true,
        }
    }

    fn set(&mut self, key: &str, text: &str, home: &Path) {
        let is_on = !matches!(
            text.to_ascii_lowercase().as_str(),
            "false" | "no" | "off" | "0" | ""
        );
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
