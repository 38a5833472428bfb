//! Redacts secrets in the output of a call.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Secrets that are recognised by their form.
static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        \b(?: AKIA[0-9A-Z]{16}                      # cloud access keys
          | gh[pousr]_[A-Za-z0-9]{20,}              # code hosts
          | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{20,}
          | sk-[A-Za-z0-9_-]{20,}                   # model providers
          | xox[abprs]-[A-Za-z0-9-]{10,}            # chat
          | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,} # web tokens
        )
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?s:.*?)(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)",
    )
});

/// Values after a name that marks them as secret.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?xi)
        (?<name> [\w.-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)[\w.-]*
            ["']?\s*[=:]\s*["']? | \bbearer\s+ | ://[^\s:/@]+: )
        (?<value> [^\s"'@;,]{6,})"#,
    )
});

/// Replaces tokens and private keys in `text`, and returns their number.
pub(crate) fn redact_tokens(text: &str) -> (String, usize) {
    let mut count = 0;
    let clean = TOKENS.replace_all(text, |_: &Captures<'_>| {
        count += 1;
        "[redacted]"
    });
    (clean.into_owned(), count)
}

/// Replaces the values of passwords and similar names in `text`, and returns their number.
pub(crate) fn redact_assigned(text: &str) -> (String, usize) {
    let mut count = 0;
    let clean = ASSIGNED.replace_all(text, |found: &Captures<'_>| {
        if &found["value"] == "[redacted]" || is_path(text, found) {
            return found[0].to_owned();
        }
        count += 1;
        format!("{}[redacted]", &found["name"])
    });
    (clean.into_owned(), count)
}

/// Returns `true` if the name is the end of a quoted path, as in `cannot open '/etc/passwd':
/// Permission denied`.
fn is_path(text: &str, found: &Captures<'_>) -> bool {
    let (whole, name) = (found.get_match(), found["name"].trim_end());
    text[..whole.start()].ends_with('/') && (name.ends_with("':") || name.ends_with("\":"))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that the tests compile")
}

#[cfg(test)]
mod tests {
    use super::{redact_assigned, redact_tokens};

    #[test]
    fn tokens_are_known_by_their_shape() {
        let text = "key AKIAABCDEFGHIJKLMNOP and ghp_0123456789abcdefghij0123456789abcdef.";
        assert_eq!(
            redact_tokens(text),
            ("key [redacted] and [redacted].".to_owned(), 2)
        );
        let key = "a\n-----BEGIN PRIVATE KEY-----\nMIIE\ncut off";
        assert_eq!(redact_tokens(key), ("a\n[redacted]".to_owned(), 1));
        assert_eq!(
            redact_tokens("task-skills sk-short"),
            ("task-skills sk-short".to_owned(), 0)
        );
    }

    #[test]
    fn values_are_known_by_their_name() {
        for (text, clean) in [
            ("DB_PASSWORD=hunter22", "DB_PASSWORD=[redacted]"),
            (r#""api_key": "abcdef123""#, r#""api_key": "[redacted]""#),
            (
                "Authorization: Bearer abcdef123",
                "Authorization: Bearer [redacted]",
            ),
            (
                "postgres://tally:hunter22@db/x",
                "postgres://tally:[redacted]@db/x",
            ),
        ] {
            assert_eq!(redact_assigned(text), (clean.to_owned(), 1), "{text}");
        }
        assert_eq!(redact_assigned("token=[redacted]").1, 0);
        assert_eq!(redact_assigned("a password is needed").1, 0);
        let denied = "touch: cannot touch '/etc/passwd': Permission denied";
        assert_eq!(redact_assigned(denied), (denied.to_owned(), 0));
    }
}
