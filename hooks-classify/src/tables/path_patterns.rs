//! Patterns of paths: a path in, the sets of the patterns that match it out. The build script compiles
//! all patterns into one automaton.

use super::glob::{globs_overlap, is_wildcard_or_unknown, shell_glob_matches};
use crate::model::wildcard::{matches, matches_below};

/// Sets of patterns, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathSets(pub(super) u8);

impl PathSets {
    pub(super) const NONE: Self = Self(0);
    /// Paths that contain secrets.
    pub(super) const SECRET: Self = Self(1);
    /// The paths of `SECRET` with a folder and without a wildcard.
    pub(super) const SECRET_END: Self = Self(2);
    /// Folders in which nearly everything is secret.
    pub(super) const FOLDER: Self = Self(4);
    /// Exceptions from `SECRET`.
    pub(super) const HARMLESS: Self = Self(8);
    /// Names of secrets that other files have, too.
    pub(super) const SEARCHED: Self = Self(16);

    pub(super) fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// Patterns that have the same literal: the part of a pattern that the automaton searches.
#[derive(Debug)]
pub(super) struct PatternGroup {
    /// Number of its first pattern. The patterns of the next group follow.
    pub(super) first: u16,
    /// One more than the number of the group whose literal is the next shorter end of this literal,
    /// or 0.
    pub(super) next: u16,
}

/// Patterns of paths. `*` matches any characters, in a pattern without a `/` those of a name. A
/// pattern with a `/` also matches below any folder.
///
/// The automaton (Aho and Corasick) reads a path once and finds the groups whose literals are in the
/// path; only their patterns are compared with the path. To compare each pattern took three quarters of
/// the instructions of the everyday commands, which `cargo bench --bench classify -- counts` holds.
#[derive(Debug)]
pub(super) struct PathPatterns {
    /// The texts of all patterns, in the order of the groups.
    pub(super) text: &'static str,
    /// Where the text of each pattern ends in `text`, after a 0.
    pub(super) ends: &'static [u16],
    pub(super) sets: &'static [PathSets],
    /// All groups, and one without patterns.
    pub(super) groups: &'static [PatternGroup],
    /// The column of each byte in `next`.
    pub(super) classes: &'static [u8; 256],
    pub(super) width: usize,
    /// The state after a `/`.
    pub(super) start: u16,
    /// The next states of each state.
    pub(super) next: &'static [u16],
    /// One more than the group with the longest literal that ends in each state, or 0.
    pub(super) inside: &'static [u16],
    /// As `inside`, with the literals that only count at the end of a path.
    pub(super) at_end: &'static [u16],
    /// Numbers of the patterns, sorted by their text after the last `/`, without those with `*` there.
    pub(super) by_last: &'static [u16],
    /// For each first byte of that text, where its numbers begin in `by_last`.
    pub(super) last_starts: &'static [u16; 257],
}

/// Maximum number of groups.
const MAX_GROUPS: usize = 1024;

impl PathPatterns {
    /// Returns the sets that have a pattern for a path.
    pub(super) fn sets_of(&self, path: &str) -> PathSets {
        let mut found = PathSets::NONE;
        // No group is compared twice, so that the time grows with the length of the path only.
        let mut compared = [0_u64; MAX_GROUPS / 64];
        let mut state = usize::from(self.start);
        for byte in path.bytes() {
            let class = usize::from(self.classes[usize::from(byte)]);
            state = usize::from(self.next[state * self.width + class]);
            let mut group = self.inside[state];
            while let Some(number) = group.checked_sub(1).map(usize::from) {
                let (word, bit) = (number / 64, 1 << (number % 64));
                if compared[word] & bit == 0 {
                    compared[word] |= bit;
                    found.0 |= self.sets_in_group(number, path).0;
                }
                group = self.groups[number].next;
            }
        }
        let mut group = self.at_end[state];
        while let Some(number) = group.checked_sub(1).map(usize::from) {
            found.0 |= self.sets_in_group(number, path).0;
            group = self.groups[number].next;
        }
        found
    }

    fn sets_in_group(&self, group: usize, path: &str) -> PathSets {
        let mut found = PathSets::NONE;
        for number in self.groups[group].first..self.groups[group + 1].first {
            let sets = self.sets[usize::from(number)];
            if sets.0 & !found.0 != 0 && path_matches(self.pattern(number), path) {
                found.0 |= sets.0;
            }
        }
        found
    }

    fn pattern(&self, number: u16) -> &'static str {
        let number = usize::from(number);
        &self.text[usize::from(self.ends[number])..usize::from(self.ends[number + 1])]
    }

    /// Iterates over the patterns of a set that have no `/` and no `*`.
    pub(super) fn names_in(&self, set: PathSets) -> impl Iterator<Item = &'static str> {
        self.all_in(set)
            .filter(|pattern| !pattern.contains(['/', '*']))
    }

    fn all_in(&self, set: PathSets) -> impl Iterator<Item = &'static str> {
        let numbers = 0..u16::try_from(self.sets.len()).unwrap_or(u16::MAX);
        self.patterns_in(set, numbers)
    }

    fn patterns_in(
        &self,
        set: PathSets,
        numbers: impl Iterator<Item = u16>,
    ) -> impl Iterator<Item = &'static str> {
        numbers
            .filter(move |number| self.sets[usize::from(*number)].intersects(set))
            .map(|number| self.pattern(number))
    }

    /// Returns the numbers of the patterns whose text after the last `/` has this first byte.
    fn with_first_byte(&self, byte: u8) -> &'static [u16] {
        let byte = usize::from(byte);
        let (start, end) = (self.last_starts[byte], self.last_starts[byte + 1]);
        &self.by_last[usize::from(start)..usize::from(end)]
    }

    /// Returns `true` if a pattern that is searched for fits one of the names in a set and has a word of
    /// it: `*_rsa`, or a beginning up to the end of a word: `id_*`.
    pub(super) fn shares_word_with(&self, set: PathSets, pattern: &str) -> bool {
        const SEPARATORS: [char; 4] = ['.', '_', '-', ' '];
        let words = |text| {
            let words = str::split(text, SEPARATORS).filter(|word| word.len() >= 3);
            words.filter(|word| !GENERIC_EXTENSIONS.contains(word))
        };
        let chunks = pattern.split(is_wildcard_or_unknown);
        let known: Vec<&str> = chunks.flat_map(words).collect();
        let stem = pattern.split(is_wildcard_or_unknown).next().unwrap_or("");
        let is_stem = stem.len() >= 3 && stem.ends_with(SEPARATORS);
        if known.is_empty() && !is_stem {
            return false;
        }
        let has_word = |name: &'static str| words(name).any(|word| known.contains(&word));
        self.names_in(set)
            .filter(|name| is_stem && name.starts_with(stem) || has_word(name))
            .any(|name| globs_overlap(pattern.as_bytes(), name.as_bytes()))
    }

    /// Returns `true` if a pattern of the shell, or a path with unknown parts, may fit one of the paths
    /// of a set. Below the home of the user a folder is enough to fit.
    pub(super) fn may_match(&self, set: PathSets, path: &str, home: bool) -> bool {
        let (parent, word) = split_last(path);
        let chunks: Vec<&str> = word.split(is_wildcard_or_unknown).collect();
        let is_pattern = chunks.len() > 1;
        let is_in_home = home && !parent.contains(is_wildcard_or_unknown);
        let fits = |pattern: &str| {
            let (above, last) = split_last(pattern);
            let fits = match is_pattern {
                true => {
                    (is_in_home && !above.is_empty() || is_specific(&chunks, above, last))
                        && shell_glob_matches(word, last)
                }
                // Names without a folder were compared before.
                false => !above.is_empty() && last == word,
            };
            fits && ends_with(parent, above.trim_start_matches('/'))
        };
        if is_pattern && is_in_home {
            return self.all_in(set).any(fits);
        }
        // Elsewhere, `is_specific` compares the starts of the two, or a part of the word with the end.
        if chunks.iter().all(|chunk| chunk.is_empty()) {
            return false;
        }
        let stars = if is_pattern { &b"*"[..] } else { b"" };
        let first = chunks[0].as_bytes().iter().take(1);
        let mut ranges = first.chain(stars).map(|byte| self.with_first_byte(*byte));
        ranges.any(|numbers| self.patterns_in(set, numbers.iter().copied()).any(fits))
    }
}

/// Endings that do not identify the contents of a file.
const GENERIC_EXTENSIONS: &[&str] = &[
    "json",
    "yml",
    "yaml",
    "toml",
    "txt",
    "xml",
    "conf",
    "cnf",
    "dat",
    "sqlite",
    "data",
    "default",
    "config",
    "application",
    "local",
    "web",
    "used",
];

/// Returns `true` if a folder, whose parts may be patterns of the shell, may end with other
/// folders.
fn ends_with(parent: &str, above: &str) -> bool {
    if above.is_empty() || parent.ends_with(above) {
        return true;
    }
    let parts = above.rsplit('/');
    let folders: Vec<&str> = parent.rsplit('/').take(parts.clone().count()).collect();
    let known = |folder: &&str| folder.contains(|c| !is_wildcard_or_unknown(c));
    folders.iter().any(known)
        && folders.len() == parts.clone().count()
        && folders
            .iter()
            .zip(parts)
            .all(|(folder, part)| shell_glob_matches(folder, part))
}

/// Returns `true` if a pattern of the shell contains enough of a name to be meant for it; `chunks` is
/// the text between its wildcards. A short part of a name fits many other names.
fn is_specific(chunks: &[&str], above: &str, last: &str) -> bool {
    // Bytes, because a search for a character in a few of them takes twice as long.
    let last = last.as_bytes();
    let is_star = |byte: &u8| *byte == b'*';
    let head = last.iter().position(is_star).unwrap_or(last.len());
    if head > 0 {
        let stem = chunks[0].as_bytes();
        let known = stem.len().min(head);
        let min_length = if above.is_empty() && !last.starts_with(b".") {
            4
        } else {
            1
        };
        return known >= min_length && stem.starts_with(&last[..known]);
    }
    let tail = last
        .iter()
        .rposition(is_star)
        .map_or(last, |at| &last[at + 1..]);
    // `*.json` is not `*.tfvars.json`.
    let is_most_of_tail = |end: &&&str| end.len() >= 3 && end.len() > tail.len() / 2;
    let end = chunks.last().filter(is_most_of_tail);
    let ends = end.is_some_and(|end| tail.ends_with(end.as_bytes()));
    ends || !tail.is_empty()
        && chunks.iter().any(|chunk| {
            let chunk = chunk.as_bytes();
            let longest = chunk.len().min(tail.len() - 1);
            chunk.windows(tail.len()).any(|part| part == tail)
                || (3..=longest).any(|length| chunk.ends_with(&tail[..length]))
        })
}

/// Splits a path before its last name: the folder and the name.
fn split_last(path: &str) -> (&str, &str) {
    match path.bytes().rposition(|byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("", path),
    }
}

/// Returns `true` if a pattern matches a path.
fn path_matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_prefix('/') {
        Some(below_root) => matches_below(below_root, path),
        None if pattern.contains('/') => matches_below(pattern, path) || matches(pattern, path),
        None => matches(pattern, split_last(path).1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables::compiled::SECRETS;

    const ALL_SETS: u8 = 31;

    /// Texts that fit patterns in part: patterns, their parts, and what `*` may stand for.
    fn part_of_path() -> impl Strategy<Value = String> {
        let patterns: Vec<&str> = SECRETS.patterns.all_in(PathSets(ALL_SETS)).collect();
        let count = patterns.len();
        let pattern = (0..count, "[a-z/.]{0,3}");
        let pattern = pattern.prop_map(move |(at, star)| patterns[at].replace('*', &star));
        let cut = (pattern.clone(), any::<prop::sample::Index>(), any::<bool>());
        let cut = cut.prop_map(|(text, at, head)| {
            let at = at.index(text.len() + 1);
            let (before, after) = text.split_at_checked(at).unwrap_or((&text, ""));
            if head { before } else { after }.to_owned()
        });
        prop_oneof![pattern, cut, "[a-z._*/-]{0,4}", Just("/".to_owned())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn automaton_finds_what_each_pattern_alone_matches(
            parts in prop::collection::vec(part_of_path(), 1..4)
        ) {
            let (path, patterns) = (parts.concat(), &SECRETS.patterns);
            let mut alone = 0;
            for (number, sets) in (0..).zip(patterns.sets) {
                if path_matches(patterns.pattern(number), &path) {
                    alone |= sets.0;
                }
            }
            prop_assert_eq!(patterns.sets_of(&path).0, alone, "{}", path);
        }
    }

    #[test]
    fn each_pattern_matches_its_own_text_also_below_a_folder() {
        let patterns = &SECRETS.patterns;
        assert!(patterns.groups.len() <= MAX_GROUPS);
        for (number, sets) in (0..).zip(patterns.sets) {
            let own = patterns.pattern(number).replace('*', "x");
            let below = format!("folder/{}", own.trim_start_matches('/'));
            for path in [own, below] {
                assert_eq!(patterns.sets_of(&path).0 & sets.0, sets.0, "{path}");
            }
        }
    }
}
