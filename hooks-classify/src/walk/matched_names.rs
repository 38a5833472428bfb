//! Patterns of file names: the words of a command in, the words that the shell passes out, by the
//! names that are there.

use super::interpreter::Interpreter;
use super::run::glob_matches;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::workspace_view::{join, parent};
use crate::workspace::{Answer, Entry};

/// Maximum number of names with which a command is followed. Beyond it, only the names that change the
/// meaning of the command are used.
const MAX_FOLLOWED: usize = 64;

/// Names that fit the patterns among the words of a command.
pub(super) enum MatchedNames {
    /// The command means the same with its patterns.
    Same,
    /// The words of the command with names, some of which change its meaning.
    Words(Vec<Arg>),
    /// The names are too many, or cannot be read, and may begin like an option.
    Unknown(Arg),
}

impl Interpreter<'_> {
    /// Returns the words of a command with names for its patterns, if one of the names could be read
    /// as an option, names a secret, or is a link out of the folder.
    pub(super) fn matched_names(&self, args: &[Arg]) -> MatchedNames {
        if !self.workspace.is_known() || !args.iter().skip(1).any(|arg| arg.glob) {
            return MatchedNames::Same;
        }
        let Some(folders) = self.context().working_folders() else {
            return MatchedNames::Same;
        };
        let mut words: Vec<Arg> = Vec::new();
        let mut changes_meaning = false;
        for arg in args {
            if !arg.glob || words.is_empty() || !arg.is_known() {
                words.push(arg.clone());
                continue;
            }
            let mut names = Vec::new();
            for folder in &folders {
                match self.names_matching(folder, arg.path()) {
                    Some(found) => names.extend(found),
                    None if arg.text.starts_with(['*', '?', '[']) => {
                        return MatchedNames::Unknown(arg.clone());
                    }
                    None => {}
                }
            }
            let (special, plain): (Vec<_>, Vec<_>) =
                (names.into_iter()).partition(|name| name.changes_meaning);
            changes_meaning |= !special.is_empty();
            let named = |name: MatchedName| Arg {
                glob: false,
                may_split: false,
                ..Arg::new(name.text, arg.span)
            };
            // The pattern stands for the names that are not followed.
            if plain.is_empty() || plain.len() + special.len() > MAX_FOLLOWED {
                words.push(arg.clone());
                words.extend(special.into_iter().map(named));
            } else {
                let mut all: Vec<MatchedName> = special.into_iter().chain(plain).collect();
                all.sort_by(|one, other| one.text.cmp(&other.text));
                words.extend(all.into_iter().map(named));
            }
        }
        match changes_meaning {
            true => MatchedNames::Words(words),
            false => MatchedNames::Same,
        }
    }

    /// Runs a command with the names that fit its patterns, after it ran with its patterns.
    pub(super) fn run_matched_names(&mut self, matched: MatchedNames, input: &Input) {
        match matched {
            MatchedNames::Same => {}
            MatchedNames::Words(words) => drop(self.run_args(words, input)),
            MatchedNames::Unknown(pattern) => {
                let reason = format!(
                    "the names that fit `{}` cannot be read, and may be options",
                    pattern.text
                );
                self.add_finding(Effect::Unknown, pattern.span, reason);
            }
        }
    }

    /// Returns the names that fit a pattern from a folder; `None` if they cannot be read.
    fn names_matching(&self, folder: &str, pattern: &str) -> Option<Vec<MatchedName>> {
        let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        let start = match pattern.as_bytes().first() {
            Some(b'/') => "/".to_owned(),
            Some(b'~') => self.workspace.absolute(parts.first()?)?,
            _ => folder.to_owned(),
        };
        let prefix = match pattern.as_bytes().first() {
            Some(b'/') => "/",
            _ => "",
        };
        // The text of each path as it is passed, and its place.
        let mut paths = vec![(prefix.to_owned(), start)];
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let mut next = Vec::new();
            for (text, place) in paths {
                let separator = if text.is_empty() || text.ends_with('/') {
                    ""
                } else {
                    "/"
                };
                if pattern.starts_with('~') && at == 0 {
                    next.push(((*part).to_owned(), place));
                    continue;
                }
                if !part.contains(['*', '?', '[']) {
                    let inner = join(&place, part);
                    let is_there =
                        !is_last || matches!(self.workspace.entry(&inner), Answer::Known(_));
                    if is_there {
                        next.push((format!("{text}{separator}{part}"), inner));
                    }
                    continue;
                }
                let names = match self.workspace.names(&place) {
                    Answer::Known(names) => names,
                    Answer::Absent => continue,
                    Answer::Unknown => return None,
                };
                let is_shown = |name: &&String| part.starts_with('.') || !name.starts_with('.');
                let fitting = names.iter().filter(is_shown);
                let fitting = fitting.filter(|name| glob_matches(part, name));
                next.extend(
                    fitting.map(|name| (format!("{text}{separator}{name}"), join(&place, name))),
                );
            }
            paths = next;
        }
        let names = paths
            .into_iter()
            .map(|(text, place)| self.matched_name(text, &place));
        Some(names.collect())
    }

    /// Returns a name, or the path to which it leads if it is a link out of its folder.
    fn matched_name(&self, text: String, place: &str) -> MatchedName {
        if let Answer::Known(Entry::Link {
            target: Some(target),
        }) = self.workspace.entry(place)
        {
            let folder = parent(place).unwrap_or("/");
            let below = target.strip_prefix(folder);
            if !below.is_some_and(|rest| rest.starts_with('/')) {
                return MatchedName {
                    changes_meaning: true,
                    text: target,
                };
            }
        }
        MatchedName {
            changes_meaning: text.starts_with(['-', '+']) || self.tables.is_secret(&text),
            text,
        }
    }
}

struct MatchedName {
    text: String,
    /// `true` if a command with the name may do more than with another name.
    changes_meaning: bool,
}
