//! The files that a patch names in its headers.

/// Headers of a patch between `*** Begin Patch` and `*** End Patch`, each before the name of a
/// file.
const STARRED: [&str; 4] = ["Update File:", "Add File:", "Delete File:", "Move to:"];

/// Headers that git writes before the name of a file without `a/` or `b/`.
const GIT: [&str; 4] = ["rename from ", "rename to ", "copy from ", "copy to "];

/// Returns the files that a patch names, or the reason why they are unclear.
///
/// Both formats are read in every patch, whichever it seems to have: the tool may read the other
/// one. An ambiguous line counts as a header. Names in unified patches begin with `a/` and `b/`, as
/// git writes them: for other names, it depends on the tool whether the first folder counts.
pub(crate) fn files(patch: &str) -> Result<Vec<String>, &'static str> {
    let mut headers = Headers::default();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        let paired = lines
            .peek()
            .is_some_and(|next| bare(next).starts_with("+++ "));
        if is_disputed(line) {
            return Err("it has a line that some tools read as a header, and others do not");
        }
        headers.line(line, paired)?;
    }
    // Without numbered hunks and pairs of headers, these lines are content of the files.
    let unified = headers.numbered || headers.named.is_empty();
    let mut found = headers.named;
    for (name, paired) in headers.dashed {
        if unified || paired {
            found.extend(unified_name(&name)?);
        }
    }
    match found.is_empty() {
        true => Err("it has no header with the name of a file"),
        false => Ok(found),
    }
}

/// Returns the line without the prefix that some tools accept before headers.
fn bare(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', 'X'])
}

/// Beginnings of headers.
const HEADERS: [&str; 7] = ["***", "--- ", "+++ ", "diff ", "rename ", "copy ", "Index:"];

/// Returns `true` if some tools see a header in the line, because they split lines elsewhere or
/// strip a prefix.
fn is_disputed(line: &str) -> bool {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_left_out = |c: char| c == 'X' || c == '\u{feff}' || c.is_whitespace() || c.is_control();
    let is_cut = line.contains(ends_a_line);
    line.split(ends_a_line).any(|piece| {
        let header = piece.trim_start_matches(is_left_out);
        let is_one = HEADERS.iter().any(|known| header.starts_with(known));
        is_one && (is_cut || header.len() != bare(piece).len())
    })
}

/// Returns `true` if some tools end a line here: those that split it as Python and Unicode do.
fn ends_a_line(c: char) -> bool {
    matches!(
        c,
        '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[derive(Default)]
struct Headers {
    /// Names that are unambiguous.
    named: Vec<String>,
    /// Text after `---` and `+++`, and `true` if the two form a pair.
    dashed: Vec<(String, bool)>,
    /// `true` if there is a hunk with line counts, or a header of git.
    numbered: bool,
    /// Old and new lines of the hunk that are still to come.
    ahead: (u64, u64),
    /// `true` if the previous line was the first of a pair.
    pair: bool,
}

impl Headers {
    fn line(&mut self, line: &str, paired: bool) -> Result<(), &'static str> {
        let (pair, header) = (std::mem::take(&mut self.pair), bare(line));
        if let Some(rest) = line.trim().strip_prefix("***") {
            if self.starred(rest.trim_start(), line.starts_with("***"))? {
                self.ahead = (0, 0);
                return Ok(());
            }
        }
        let first = header.strip_prefix("--- ").map(|rest| (rest, paired));
        let second = || header.strip_prefix("+++ ").map(|rest| (rest, pair));
        let dashed = first.or_else(second);
        if let Some((rest, true)) = dashed {
            self.pair = first.is_some();
            self.dashed.push((rest.to_owned(), true));
        }
        if self.is_in_hunk(line) {
            return Ok(());
        }
        if let Some((rest, paired)) = dashed {
            if !paired {
                self.dashed.push((rest.to_owned(), false));
            }
        } else if let Some(rest) = header.strip_prefix("@@ -") {
            self.numbered = true;
            self.ahead = counts(rest).unwrap_or_default();
        } else if let Some(rest) = GIT.iter().find_map(|git| header.strip_prefix(git)) {
            self.named.push(plain(rest)?.to_owned());
        } else if let Some(rest) = header.strip_prefix("diff --git ") {
            self.numbered = true;
            self.named.extend(git_name(rest)?);
        } else if header.starts_with("Index:") || line.starts_with("diff ") {
            return Err("it has an unknown header");
        }
        Ok(())
    }

    /// Reads the text after the stars, and returns `true` if it was a header.
    fn starred(&mut self, rest: &str, begins: bool) -> Result<bool, &'static str> {
        let name = STARRED.iter().find_map(|header| rest.strip_prefix(header));
        match name.map(str::trim) {
            Some("") => return Err("it has a header without a name"),
            Some(name) => self.named.push(name.to_owned()),
            None if !begins => return Ok(false),
            None if ["Begin Patch", "End Patch", "End of File"].contains(&rest) => {}
            None => return Err("it has an unknown header"),
        }
        Ok(true)
    }

    /// Returns `true` if this is one of the lines that the hunk has announced.
    fn is_in_hunk(&mut self, line: &str) -> bool {
        let counted = match line.as_bytes().first() {
            None | Some(b' ') => Some((1, 1)),
            Some(b'-') => Some((1, 0)),
            Some(b'+') => Some((0, 1)),
            Some(b'\\') => Some((0, 0)),
            Some(_) => None,
        };
        let left = counted
            .filter(|_| self.ahead != (0, 0))
            .and_then(|(old, new)| {
                let (left, right) = self.ahead;
                Some((left.checked_sub(old)?, right.checked_sub(new)?))
            });
        self.ahead = left.unwrap_or_default();
        left.is_some()
    }
}

const UNREADABLE: &str =
    "it has a name that is quoted, holds a space, or does not begin with `a/` or `b/`";

/// Returns a name that is not quoted; no reader here removes quotes.
fn plain(name: &str) -> Result<&str, &'static str> {
    match name.trim() {
        "" => Err(UNREADABLE),
        name if name.contains('"') => Err(UNREADABLE),
        name => Ok(name),
    }
}

/// Returns the name after `---` or `+++`; `None` for no file.
fn unified_name(text: &str) -> Result<Option<String>, &'static str> {
    // A date may follow; some tools accept one after a space.
    let name = plain(text.split('\t').next().unwrap_or(text))?;
    if name == "/dev/null" {
        return Ok(None);
    }
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    match name {
        Some(name) if !name.contains(char::is_whitespace) => Ok(Some(name.to_owned())),
        _ => Err(UNREADABLE),
    }
}

/// Returns the name in a header such as `a/src/x b/src/x`; `None` if there are two names, which
/// other headers then name as well.
fn git_name(names: &str) -> Result<Option<String>, &'static str> {
    let old = plain(names)?.strip_prefix("a/").ok_or(UNREADABLE)?;
    let mut splits = old.match_indices(" b/");
    let same = splits.find(|(at, between)| old[..*at] == old[at + between.len()..]);
    Ok(same.map(|(at, _)| old[..at].to_owned()))
}

/// Returns the old and new line counts of a hunk, from `1,2 +3,4 @@`.
fn counts(text: &str) -> Option<(u64, u64)> {
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_28_files_are_read_from_the_headers_of_both_patch_formats() {
        let patch = "*** Begin Patch\n*** Add File: a b\n+x\n*** Move to: c\n*** End Patch";
        assert_eq!(files(patch).unwrap(), ["a b", "c"]);
        let patch = "diff --git a/e b/e\ndeleted file mode 100644\ndiff --git a/x y b/x y\n\
                     diff --git a/f b/g\nrename from f\nrename to g\n";
        assert_eq!(files(patch).unwrap(), ["e", "x y", "f", "g"]);
        let patch = "--- a/f\t2026-11-21\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(files(patch).unwrap(), ["f", "g"]);
    }

    #[test]
    fn r_28_lines_of_a_hunk_are_not_headers() {
        let hunk = "@@ -1,3 +1,2 @@ fn\n--- a comment\n-b\n+++ c\n \n\\ No newline\n";
        let patch = format!("--- a/f\n+++ b/f\n{hunk}");
        assert_eq!(files(&patch).unwrap(), ["f", "f"]);
        // One more line is not part of the hunk.
        assert!(files(&format!("{patch}--- a comment\n")).is_err());
        // A pair of headers counts at any place.
        let patch = "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n--- a/g\n+++ b/g\n";
        assert_eq!(files(patch).unwrap(), ["f", "f", "g", "g"]);
        // So do headers between stars, and indented ones.
        let patch = "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n*** Delete File: g\n";
        assert_eq!(files(patch).unwrap(), ["g", "f", "f"]);
        let patch = "*** Update File: f\n@@\n-x\n X+++ b/g\n@@ -1 +1 @@\n";
        assert_eq!(files(patch).unwrap(), ["f", "g"]);
    }

    #[test]
    fn r_28_ambiguous_and_empty_patches_are_refused() {
        for header in [
            "*** Rename File: g",
            "*** Add File:",
            "***************",
            "Index: g",
            "diff -u f g",
            "diff --git f f",
            "diff --git \"a/f\" \"b/f\"",
            "rename to \"g\"",
            "--- g",
            "--- a/g 2026-11-21 00:00:00",
            "--- \"a/g\"",
            "---  ",
        ] {
            let patch = format!("{header}\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
            assert!(files(&patch).is_err(), "{header}");
        }
        for between in [
            "\u{feff}", "\u{a0}", "\x01", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\u{85}",
            "\u{2028}", "\u{2029}",
        ] {
            for patch in [
                format!("*** Add File: f\n+x\n{between}*** Delete File: g\n"),
                format!("--- a/f\n+++ b/f\n{between}--- a/g\n+++ b/g\n"),
            ] {
                assert!(files(&patch).is_err(), "{patch:?}");
            }
        }
        for end in ["\r", "\x0c", "\u{85}", "\u{2028}"] {
            for patch in [
                format!("*** Add File: f\n+x{end}*** Delete File: g\n"),
                format!("*** Update File: f{end}*** Delete File: g\n"),
                format!("*** Update File: f{end}g\n"),
            ] {
                assert!(files(&patch).is_err(), "{patch:?}");
            }
            // Lines that no tool reads as a header may contain any of them.
            let patch = format!("*** Add File: f\r\n+x{end}y\r\n+\u{feff}z\r\n");
            assert_eq!(files(&patch).unwrap(), ["f"], "{end:?}");
        }
        for nothing in [
            "",
            "@@\n-a\n+b\n",
            "*** Begin Patch\n*** End Patch",
            "--- /dev/null",
        ] {
            assert!(files(nothing).is_err(), "{nothing}");
        }
    }
}
