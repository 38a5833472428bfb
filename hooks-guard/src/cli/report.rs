//! Prints the change of a file. In: a report of the change. Out: its lines on standard output.

use std::io::{self, Write};

use hooks_guard::install::{self, FileChange};
use hooks_runtime::display::escape;

/// Prints the change of a file, or the change that would be made.
pub(crate) fn print_report(
    out: &mut impl Write,
    report: &install::Report,
    dry_run: bool,
) -> io::Result<()> {
    let file = escape(&report.file.display().to_string());
    if dry_run {
        write!(out, "{}", lines(&report.diff))?;
    }
    let (would, done) = match report.change {
        FileChange::None => ("already up to date:", "already up to date:"),
        FileChange::Created => ("would create", "created"),
        FileChange::Changed => ("would change", "changed"),
        FileChange::Removed => ("would remove", "removed (it contained nothing else):"),
    };
    writeln!(out, "{} {file}", if dry_run { would } else { done })?;
    print_backup(out, report)
}

/// Prints the place of the backup of a file, if there is one.
pub(crate) fn print_backup(out: &mut impl Write, report: &install::Report) -> io::Result<()> {
    match &report.backup {
        Some(backup) => {
            let backup = escape(&backup.display().to_string());
            writeln!(out, "backup of the previous content: {backup}")
        }
        None => Ok(()),
    }
}

/// Returns a text with each line escaped.
fn lines(text: &str) -> String {
    text.lines().map(|line| escape(line) + "\n").collect()
}
