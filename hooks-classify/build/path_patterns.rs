//! Patterns of paths: the lists of `secrets.toml` in, source of one automaton out, which finds the
//! patterns that a path may match in one pass.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::emit::list;
use crate::raw::RawSecrets;

/// Maximum length of the part of a pattern that the automaton searches. Longer parts need more states
/// and leave fewer patterns to compare.
const MAX_LITERAL: usize = 6;

/// Returns the expression of the crate's `PathPatterns`.
pub(crate) fn path_patterns(secrets: &RawSecrets) -> String {
    let patterns = patterns(secrets);
    let mut by_literal: BTreeMap<Literal, Vec<(&str, &BTreeSet<&str>)>> = BTreeMap::new();
    for (pattern, sets) in &patterns {
        let group = by_literal.entry(Literal::of(pattern)).or_default();
        group.push((pattern, sets));
    }
    let automaton = Automaton::new(by_literal.keys());
    let (mut text, mut ends, mut sets_of_all) = (String::new(), vec![0], Vec::new());
    let mut groups = Vec::new();
    for (number, group) in by_literal.values().enumerate() {
        groups.push(format!(
            "PatternGroup {{ first: {}, next: {} }}",
            sets_of_all.len(),
            automaton.next_groups[number]
        ));
        for (pattern, sets) in group {
            text.push_str(pattern);
            ends.push(text.len());
            let names = sets.iter().map(|set| format!("PathSets::{set}.0"));
            let names: Vec<String> = names.collect();
            sets_of_all.push(format!("PathSets({})", names.join(" | ")));
        }
    }
    groups.push(format!(
        "PatternGroup {{ first: {}, next: 0 }}",
        sets_of_all.len()
    ));
    let ordered: Vec<&str> = by_literal
        .values()
        .flatten()
        .map(|(pattern, _)| *pattern)
        .collect();
    let (by_last, last_starts) = by_last(&ordered);
    format!(
        "PathPatterns {{\ntext: {text:?},\nends: &{ends:?},\nsets: {},\ngroups: {},\nclasses: &{:?},\n\
         width: {},\nstart: {},\nnext: &{:?},\ninside: &{:?},\nat_end: &{:?},\nby_last: &{by_last:?},\n\
         last_starts: &{last_starts:?},\n}}",
        list(sets_of_all),
        list(groups),
        automaton.classes,
        automaton.width,
        automaton.start,
        automaton.next,
        automaton.inside,
        automaton.at_end,
    )
}

/// Returns all patterns with the names of their sets.
fn patterns(secrets: &RawSecrets) -> BTreeMap<&str, BTreeSet<&'static str>> {
    let mut patterns: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let lists = [
        ("SECRET", &secrets.paths),
        ("FOLDER", &secrets.folders),
        ("HARMLESS", &secrets.harmless),
        ("SEARCHED", &secrets.searched),
    ];
    for (set, list) in lists {
        for pattern in list {
            let sets = patterns.entry(pattern).or_default();
            sets.insert(set);
            if set == "SECRET" && pattern.contains('/') && !pattern.contains('*') {
                sets.insert("SECRET_END");
            }
        }
    }
    patterns
}

/// Part of a pattern that is in every path which the pattern matches. A path is read as if a `/`
/// preceded it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Literal {
    text: Vec<u8>,
    /// `true` if the path ends with it.
    at_end: bool,
}

impl Literal {
    fn of(pattern: &str) -> Self {
        let chunks: Vec<&str> = pattern.split('*').collect();
        let literals = chunks.iter().enumerate().map(|(at, chunk)| {
            let begins = at == 0 && !chunk.is_empty() && !chunk.starts_with('/');
            let text = format!("{}{chunk}", if begins { "/" } else { "" });
            let start = text.len().saturating_sub(MAX_LITERAL);
            Self {
                text: text.as_bytes()[start..].to_vec(),
                at_end: at + 1 == chunks.len(),
            }
        });
        let longest = literals.max_by_key(|literal| literal.text.len());
        let longest = longest.filter(|literal| !literal.text.is_empty());
        longest.unwrap_or_else(|| panic!("the pattern `{pattern}` matches every path"))
    }
}

/// Automaton that reads a text and finds all literals in it (Aho and Corasick), with a row of next
/// states for each state.
struct Automaton {
    /// The column of each byte. All bytes that no literal has share the first column.
    classes: Vec<u8>,
    width: usize,
    start: usize,
    next: Vec<u16>,
    /// For each state, one more than the number of the longest literal that ends there, or 0.
    inside: Vec<u16>,
    /// As `inside`, with the literals at the end of a path.
    at_end: Vec<u16>,
    /// For each literal, as `inside`, the next shorter literal that ends at the same place.
    next_groups: Vec<u16>,
}

impl Automaton {
    fn new<'l>(literals: impl Iterator<Item = &'l Literal>) -> Self {
        let literals: Vec<&Literal> = literals.collect();
        let bytes: BTreeSet<u8> = literals.iter().flat_map(|one| one.text.clone()).collect();
        let mut classes = vec![0; 256];
        for (class, byte) in (1..).zip(&bytes) {
            classes[usize::from(*byte)] = class;
        }
        let width = bytes.len() + 1;
        let mut tree: Vec<Vec<Option<usize>>> = vec![vec![None; width]];
        let mut own: Vec<[u16; 2]> = vec![[0; 2]];
        for (number, literal) in literals.iter().enumerate() {
            let mut state = 0;
            for byte in &literal.text {
                let class = usize::from(classes[usize::from(*byte)]);
                state = match tree[state][class] {
                    Some(next) => next,
                    None => {
                        tree.push(vec![None; width]);
                        own.push([0; 2]);
                        let added = tree.len() - 1;
                        tree[state][class] = Some(added);
                        added
                    }
                };
            }
            own[state][usize::from(literal.at_end)] = to_u16(number + 1);
        }
        // In the order of their depth, so that the state to fall back to is complete.
        let mut next = vec![vec![0; width]; tree.len()];
        let mut fallback = vec![0; tree.len()];
        let mut longest = own.clone();
        let mut next_groups = vec![0; literals.len()];
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            let shorter = fallback[state];
            if state != 0 {
                for kind in 0..2 {
                    match own[state][kind].checked_sub(1) {
                        Some(group) => next_groups[usize::from(group)] = longest[shorter][kind],
                        None => longest[state][kind] = longest[shorter][kind],
                    }
                }
            }
            for class in 0..width {
                let of_shorter = if state == 0 { 0 } else { next[shorter][class] };
                next[state][class] = match tree[state][class] {
                    Some(child) => {
                        fallback[child] = of_shorter;
                        queue.push_back(child);
                        child
                    }
                    None => of_shorter,
                };
            }
        }
        let slash = usize::from(classes[usize::from(b'/')]);
        Self {
            width,
            start: next[0][slash],
            next: next.iter().flatten().copied().map(to_u16).collect(),
            inside: longest.iter().map(|groups| groups[0]).collect(),
            at_end: longest.iter().map(|groups| groups[1]).collect(),
            next_groups,
            classes,
        }
    }
}

/// Returns the numbers of the patterns, sorted by the part after their last `/`, and where the
/// numbers begin for each first byte of that part. A pattern that ends with `/*` has no such part.
fn by_last(patterns: &[&str]) -> (Vec<usize>, Vec<usize>) {
    let last = |number: &usize| {
        patterns[*number]
            .rsplit('/')
            .next()
            .unwrap_or("")
            .as_bytes()
    };
    let mut numbers: Vec<usize> = (0..patterns.len()).collect();
    numbers.retain(|number| last(number) != b"*");
    numbers.sort_by_key(last);
    let starts = (0..=255).map(|byte| numbers.partition_point(|number| last(number) < &[byte][..]));
    let starts = starts.chain([numbers.len()]).collect();
    (numbers, starts)
}

fn to_u16(number: usize) -> u16 {
    u16::try_from(number).expect("fewer states and patterns than a `u16` counts")
}
