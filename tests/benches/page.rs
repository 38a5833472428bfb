//! A section of the page of figures, as the measurements of several crates write it: included by
//! `#[path]`, since no crate is all of theirs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Where another's section begins.
const NEXT: &str = "\n<!-- ";

/// Writes a section to where the page has it: from `mark`, with which it begins, to where
/// another's does. Without a mark it is the beginning of the page.
pub(crate) fn write(mark: Option<&str>, section: &str) -> Result<(), String> {
    // All of these crates lie side by side.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
    let said = |why| format!("cannot write {}: {why}", path.display());
    let page = fs::read_to_string(&path).map_err(said)?;
    fs::write(&path, replaced(&page, mark, section)).map_err(said)
}

fn replaced(page: &str, mark: Option<&str>, section: &str) -> String {
    let start = mark.map_or(0, |mark| page.find(mark).unwrap_or(page.len()));
    let (before, old) = page.split_at(start);
    let after = old.find(NEXT).map_or("", |at| &old[at..]);
    match before.trim_end() {
        "" => format!("{section}{after}"),
        before => format!("{before}\n\n{section}{after}"),
    }
}

/// A figure, which stands out where it misses its target.
pub(crate) fn judged(figure: String, reached: bool) -> String {
    if reached {
        figure
    } else {
        format!("**{figure}**")
    }
}

/// The end of a section: which targets were missed, and why.
pub(crate) fn missed(misses: &[String]) -> String {
    if misses.is_empty() {
        return "\nEvery target above was met.\n".to_owned();
    }
    let mut text = "\nTargets missed:\n\n".to_owned();
    for miss in misses {
        let _ = writeln!(text, "- {miss}");
    }
    text
}
