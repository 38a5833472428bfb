//! Masks secrets in changes. In: changes of a client. Out: changes without secrets, which say where
//! something is hidden.

use super::{FileChanges, FileDiff};
use crate::mask;

impl FileChanges {
    /// Returns the changes with masked secrets and correct counts.
    pub(crate) fn masked(mut self) -> Self {
        self.dropped = false;
        for file in &mut self.files {
            *file = file.masked();
        }
        self
    }
}

impl FileDiff {
    fn masked(&self) -> Self {
        let diff = mask_diff(&self.diff);
        let count = |mark: char| {
            let lines = self.diff.split('\n').filter(|line| line.starts_with(mark));
            u32::try_from(lines.count()).unwrap_or(u32::MAX)
        };
        Self {
            path: mask::note(&self.path),
            kind: self.kind,
            added: self.added.max(count('+')),
            removed: self.removed.max(count('-')),
            masked: diff != self.diff,
            diff,
            omitted_lines: self.omitted_lines,
            notes: self.notes.iter().map(|note| mask::note(note)).collect(),
        }
    }
}

/// Masks both sides of a diff, each as a whole: a secret may have several lines, and the marks of
/// the lines would hide it from the patterns.
fn mask_diff(diff: &str) -> String {
    let lines: Vec<&str> = diff.split('\n').collect();
    let side = |other: char| {
        let content = |line: &&str| {
            let mark = line.chars().next()?;
            (mark != other && matches!(mark, ' ' | '+' | '-')).then(|| line[1..].to_owned())
        };
        let text: Vec<_> = lines.iter().filter_map(content).collect();
        mask::lines(&text.join("\n")).into_iter()
    };
    let (mut old, mut new) = (side('+'), side('-'));
    let masked = lines.iter().map(|line| {
        let content = line.get(1..).unwrap_or_default();
        let text = match line.chars().next() {
            Some('-') => old.next(),
            Some('+') => new.next(),
            Some(' ') => match (old.next(), new.next()) {
                (Some(one), other) if one == content => other,
                (one, _) => one,
            },
            _ => return mask::note(line),
        };
        // Each line of a side has its masked line.
        format!("{}{}", &line[..1], text.unwrap_or_default())
    });
    masked.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::mask_diff;

    #[test]
    fn secrets_are_masked_on_both_sides() {
        let diff =
            "@@ -1,2 +1,2 @@\n-API_KEY=abcdefghijklmnop\n+API_KEY=qrstuvwxyzabcdef\n x = 1\n";
        assert_eq!(
            mask_diff(diff),
            "@@ -1,2 +1,2 @@\n-API_KEY=[secret]\n+API_KEY=[secret]\n x = 1\n"
        );
    }

    #[test]
    fn a_secret_of_several_lines_keeps_its_line_breaks() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let diff = format!(
            "@@ -1,4 +1,4 @@\n -----BEGIN PRIVATE KEY-----\n {line}\n-{line}\n+{line}\n -----END PRIVATE KEY-----\n z\n"
        );
        let masked = mask_diff(&diff);
        assert!(!masked.contains("MIIE"), "{masked}");
        assert_eq!(masked.lines().count(), diff.lines().count());
        for (one, other) in masked.lines().zip(diff.lines()) {
            assert_eq!(one.chars().next(), other.chars().next());
        }
        assert!(masked.ends_with("\n z\n"), "{masked}");
    }

    #[test]
    fn lines_from_the_middle_of_a_key_are_masked() {
        let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdz";
        let masked = mask_diff(&format!("@@ -9,3 +9,3 @@\n {line}\n-{line}\n+{line}\n"));
        assert!(!masked.contains("b3Blb"), "{masked}");
    }

    #[test]
    fn a_diff_without_secrets_stays_as_it_is() {
        for diff in [
            "",
            "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
            "@@\n+é\r\n+",
        ] {
            assert_eq!(mask_diff(diff), diff);
        }
    }
}
