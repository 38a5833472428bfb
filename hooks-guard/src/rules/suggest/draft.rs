//! Writes a suggested rule. In: calls of approved commands. Out: the conditions of a rule as narrow
//! as the calls allow, and its text in TOML.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::call::{ApprovedCall, NamedFile, TEXT_OPTIONS};
use crate::classify::Crud;
use crate::rules::verdict::RuleEffect;

/// Maximum number of values of a condition.
const MAX_LIST: usize = 40;
/// Maximum number of patterns of paths before one pattern covers the whole directory.
const MAX_PATTERNS: usize = 12;
/// Number of different texts of an option that justify any text.
const MIN_TEXTS: usize = 3;
/// Pattern of words that are not options.
const ANY_OPERAND: &str = "[!-]*";
/// Pattern of texts for people, which contain a space.
const ANY_TEXT: &str = "[!-]* *";

/// What an approved call has in common with the other calls of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DraftKey {
    /// Calls that change named files of the project.
    Files {
        program: String,
        subcommand: Vec<String>,
    },
    /// Calls of a tool that builds or tests.
    Builds {
        program: String,
        subcommand: Vec<String>,
    },
    /// Calls with the same operands.
    Same {
        program: String,
        operands: Vec<String>,
    },
}

impl DraftKey {
    /// Returns the keys of a call, starting with that of the widest rule.
    pub(super) fn of(call: &ApprovedCall) -> Vec<Self> {
        let (program, subcommand) = (call.program.clone(), call.subcommand.clone());
        let mut keys = Vec::new();
        if !call.files.is_empty() {
            keys.push(Self::Files {
                program: program.clone(),
                subcommand: subcommand.clone(),
            });
        }
        if !call.is_strict {
            keys.push(Self::Builds {
                program: program.clone(),
                subcommand: subcommand.clone(),
            });
        }
        keys.push(Self::Same {
            program,
            operands: [&subcommand[..], &call.operands].concat(),
        });
        keys
    }
}

/// Conditions of a suggested rule.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) program: String,
    pub(super) subcommands: Vec<String>,
    arguments: Vec<String>,
    paths: Vec<String>,
    classes: Vec<Crud>,
    redirections: Vec<String>,
}

impl Draft {
    /// Returns the rule for calls, the most frequent first. An error holds the reason why there is
    /// none.
    pub(super) fn new(key: &DraftKey, calls: &[&ApprovedCall]) -> Result<Self, String> {
        let mut classes: Vec<Crud> = calls.iter().map(|call| call.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let redirections = calls.iter().flat_map(|call| &call.redirections);
        let redirections = limited(redirections.map(|path| escaped(path)));
        let (program, subcommands, arguments, paths) = match key {
            DraftKey::Files {
                program,
                subcommand,
            } => {
                let words = calls.iter().flat_map(|call| &call.rest);
                let options = words.filter(|word| word.starts_with('-'));
                let mut arguments = limited(options.map(|word| escaped(word)));
                arguments.push(ANY_OPERAND.to_owned());
                let subcommand = (!subcommand.is_empty()).then(|| subcommand.join(" "));
                (
                    program,
                    subcommand.into_iter().collect(),
                    arguments,
                    path_patterns(calls.iter().map(|call| call.files.as_slice())),
                )
            }
            DraftKey::Builds { program, .. } => {
                let named = |call: &&ApprovedCall| {
                    [&call.subcommand[..], &call.operands].concat().join(" ")
                };
                let subcommands = calls.iter().map(named);
                // Without a subcommand, the operands are arguments.
                let is_named = subcommands.clone().all(|named| !named.is_empty());
                let words = calls.iter().flat_map(|call| match is_named {
                    true => [&[][..], &call.rest].concat(),
                    false => [&call.operands[..], &call.rest].concat(),
                });
                let arguments = limited(words.map(|word| escaped(&word)));
                let subcommands = match is_named {
                    true => limited(subcommands),
                    false => Vec::new(),
                };
                (program, subcommands, arguments, Vec::new())
            }
            DraftKey::Same { program, operands } => {
                let subcommand = (!operands.is_empty()).then(|| operands.join(" "));
                let subcommands = subcommand.into_iter().collect();
                (program, subcommands, same_arguments(calls)?, Vec::new())
            }
        };
        Ok(Self {
            program: program.clone(),
            subcommands,
            arguments,
            paths,
            classes,
            redirections,
        })
    }

    /// Returns the rule in TOML with these comments and tests.
    pub(super) fn text(&self, comment: &str, tests: &[(String, RuleEffect)]) -> String {
        // Writing to a `String` does not fail.
        let mut out = String::new();
        for line in comment.lines() {
            let _ = writeln!(out, "# {line}");
        }
        out.push_str("[[rule]]\neffect = \"allow\"\n");
        let _ = writeln!(out, "program = {}", string(&self.program));
        if !self.subcommands.is_empty() {
            let _ = writeln!(out, "subcommand = {}", value(&self.subcommands));
        }
        let _ = writeln!(out, "arguments = {}", list(&self.arguments));
        if !self.paths.is_empty() {
            let _ = writeln!(out, "path = {}", value(&self.paths));
        }
        let classes: Vec<String> = self.classes.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "class = {}", value(&classes));
        if !self.redirections.is_empty() {
            let _ = writeln!(out, "redirections = {}", value(&self.redirections));
        }
        for (command, expect) in tests {
            let command = string(command);
            let _ = write!(
                out,
                "\n[[rule.test]]\ncommand = {command}\nexpect = \"{expect}\"\n"
            );
        }
        out
    }
}

/// Returns the arguments of calls with the same operands. A rule cannot require an option, so
/// options are accepted only if the operands were approved without an option, too.
fn same_arguments(calls: &[&ApprovedCall]) -> Result<Vec<String>, String> {
    let (mut words, mut texts, mut option) = (Vec::new(), BTreeSet::new(), None);
    let mut is_approved_alone = false;
    for call in calls {
        let mut others = Vec::new();
        let mut rest = call.rest.iter();
        while let Some(word) = rest.next() {
            match TEXT_OPTIONS.contains(&word.as_str()).then(|| rest.next()) {
                Some(Some(text)) => {
                    words.push(escaped(word));
                    texts.insert(text);
                }
                _ => others.push(word),
            }
        }
        is_approved_alone |= others.is_empty();
        option = option.or(others.first().copied());
        words.extend(others.into_iter().map(|word| escaped(word)));
    }
    if let Some(option) = option.filter(|_| !is_approved_alone) {
        return Err(format!("a rule cannot require the argument `{option}`"));
    }
    let any = texts.len() >= MIN_TEXTS && texts.iter().all(|text| is_text(text));
    match any {
        true => {
            words.retain(|word| !is_text(word));
            words.push(ANY_TEXT.to_owned());
        }
        false => words.extend(texts.into_iter().map(|text| escaped(text))),
    }
    Ok(limited(words.into_iter()))
}

fn is_text(word: &str) -> bool {
    word.contains(' ') && !word.starts_with('-')
}

/// Returns the different values in their order, at most [`MAX_LIST`].
fn limited(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for value in values {
        if out.len() < MAX_LIST && !out.contains(&value) {
            out.push(value);
        }
    }
    out
}

/// Returns patterns for the files of calls: a file by its path, the files of several calls in a
/// directory by the innermost directory that has all of them.
fn path_patterns<'f>(calls: impl Iterator<Item = &'f [NamedFile]>) -> Vec<String> {
    let mut prefixes: BTreeMap<&str, BTreeMap<&str, NamedPaths<'f>>> = BTreeMap::new();
    for files in calls {
        for file in files {
            let first = file.path.split('/').next().unwrap_or_default();
            let below = prefixes.entry(&file.prefix).or_default();
            let named = below.entry(first).or_default();
            named.paths.insert(&file.path);
            named.calls.insert(files);
        }
    }
    let mut patterns = Vec::new();
    for (prefix, directories) in prefixes {
        let prefix = escaped(prefix);
        let mut own: Vec<String> = directories
            .values()
            .flat_map(NamedPaths::patterns)
            .collect();
        if own.len() > MAX_PATTERNS || directories.contains_key("") {
            own = vec!["**".to_owned()];
        }
        patterns.extend(own.into_iter().map(|pattern| format!("{prefix}{pattern}")));
    }
    patterns
}

/// Paths with the same first component.
#[derive(Default)]
struct NamedPaths<'f> {
    paths: BTreeSet<&'f str>,
    /// The different calls that name them.
    calls: BTreeSet<&'f [NamedFile]>,
}

impl NamedPaths<'_> {
    fn patterns(&self) -> Vec<String> {
        let (nested, alone): (Vec<&str>, Vec<&str>) =
            self.paths.iter().partition(|path| path.contains('/'));
        let mut patterns: Vec<String> = alone.into_iter().map(escaped).collect();
        match nested.as_slice() {
            [first, others @ ..] if !others.is_empty() && self.calls.len() > 1 => {
                let split = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
                let first = split(first);
                let others: Vec<Vec<String>> = others.iter().map(|path| split(path)).collect();
                let is_shared = |at: &usize| {
                    // The last component is a file.
                    let inner = |path: &Vec<String>| at + 1 < path.len() && path[*at] == first[*at];
                    at + 1 < first.len() && others.iter().all(inner)
                };
                let depth = (0..first.len()).take_while(is_shared).count();
                patterns.push(format!("{}/**", escaped(&first[..depth].join("/"))));
            }
            nested => patterns.extend(nested.iter().map(|path| escaped(path))),
        }
        patterns
    }
}

/// Escapes the characters of a text that have a meaning in a pattern.
fn escaped(text: &str) -> String {
    let special = |c: char| "*?[]{}\\".contains(c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a TOML string. JSON's escapes are valid in TOML.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|one| string(one)).collect();
    format!("[{}]", values.join(", "))
}

/// Returns a single value as a string, several as a list.
fn value(values: &[String]) -> String {
    match values {
        [one] => string(one),
        _ => list(values),
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedFile, path_patterns};

    /// Returns the patterns of one call for each text of paths.
    fn patterns(calls: &[&str]) -> Vec<String> {
        let file = |path: &str| NamedFile {
            prefix: String::new(),
            path: path.to_owned(),
        };
        let calls: Vec<Vec<NamedFile>> = calls
            .iter()
            .map(|paths| paths.split(' ').map(file).collect())
            .collect();
        path_patterns(calls.iter().map(Vec::as_slice))
    }

    #[test]
    fn patterns_are_as_narrow_as_the_paths() {
        for (paths, wanted) in [
            (["src/a.rs"].as_slice(), ["src/a.rs"].as_slice()),
            // One command, and the same command twice.
            (&["src/a.rs src/b.rs"], &["src/a.rs", "src/b.rs"]),
            (
                &["src/a.rs src/b.rs", "src/a.rs src/b.rs"],
                &["src/a.rs", "src/b.rs"],
            ),
            (
                &["src/a.rs docs/x", "src/b.rs docs/x"],
                &["docs/x", "src/**"],
            ),
            (&["src/a.rs", "src/b.rs"], &["src/**"]),
            (&["src/a/x.rs", "src/a/b/y.rs"], &["src/a/**"]),
            (&["src/a/x.rs", "src/b/y.rs"], &["src/**"]),
            (&["a.txt", "b.txt"], &["a.txt", "b.txt"]),
            (&["build", "build/x"], &["build", "build/x"]),
            (&["docs/a[1].md", "x.md"], &["docs/a\\[1\\].md", "x.md"]),
            (&[""], &["**"]),
            (&["src/a/b", "src/a/b/c"], &["src/a/**"]),
        ] {
            assert_eq!(patterns(paths), wanted, "{paths:?}");
        }
        let many: Vec<String> = (0..13).map(|at| format!("{at}.txt")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(patterns(&many), ["**"]);
    }
}
