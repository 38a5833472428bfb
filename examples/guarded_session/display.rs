//! Shows text that nobody vouches for: what could move the cursor, reorder a
//! line or hide in it is written out as an escape.

use std::path::Path;

pub(crate) use hooks_runtime::display::{escape, hides_text, shorten};

/// [`escape`] for a path, whatever its bytes are.
pub(crate) fn escape_path(path: &Path) -> String {
    escape(&path.to_string_lossy())
}
