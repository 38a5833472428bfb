//! Writes a section of the page of figures. Included by `#[path]`, because several crates' benches
//! use it and no crate is shared by all of them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Beginning of the next section.
const NEXT: &str = "\n<!-- ";

/// Writes a section to its place on the page: from its `mark` to the next section. Without a mark
/// it is the beginning of the page.
pub(crate) fn write(mark: Option<&str>, section: &str) -> Result<(), String> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let path = folders
        .map(|folder| folder.join("docs/performance.md"))
        .find(|page| page.exists())
        .ok_or("no folder above this package has `docs/performance.md`")?;
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

/// Returns a figure, in bold if it misses its target.
pub(crate) fn judged(figure: String, reached: bool) -> String {
    if reached {
        figure
    } else {
        format!("**{figure}**")
    }
}

/// Returns the end of a section: the missed targets, and the reasons.
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
