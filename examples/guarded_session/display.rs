//! Escapes untrusted text for display: characters that could move the cursor, reorder a line or be
//! invisible.

use std::path::Path;

pub(crate) use hooks_runtime::display::{escape, hides_text, shorten};

/// Escapes a path with any bytes, like [`escape`].
pub(crate) fn escape_path(path: &Path) -> String {
    escape(&path.to_string_lossy())
}
