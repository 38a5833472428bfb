//! Index of the parts of a command. In: parts. Out: their relations and the variables that they set
//! and expand, found without a pass over all parts each time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::model::parts::{Part, Parts, Word};
use crate::programs::builtins::Builtin;

#[derive(Debug)]
pub(super) struct PartIndex<'p> {
    /// For each part, the parts directly inside it.
    pub(super) children: Vec<Vec<usize>>,
    /// Parts that run a script in another language.
    pub(super) has_script: Vec<bool>,
    /// `true` if a part fills variables from its input.
    pub(super) reads_variables: bool,
    /// Names that words or assignments of the command may set.
    pub(super) set_names: HashSet<&'p str>,
    /// Words of the parts that are not understood, with their parts.
    pub(super) opaque_words: Vec<(usize, &'p Word)>,
    /// Words after the program's name without a `=`, with their parts.
    pub(super) arguments: Vec<(usize, &'p Word)>,
    /// Values of variables: a word, and where the value starts in it.
    values: HashMap<&'p str, Vec<(&'p Word, usize)>>,
    /// Expansions of variables in the order of their starts, with the greatest end so far.
    expansions: Vec<(Range<usize>, usize, &'p str)>,
}

impl<'p> PartIndex<'p> {
    pub(super) fn new(parts: &'p Parts) -> Self {
        let mut index = Self {
            children: vec![Vec::new(); parts.all.len()],
            has_script: vec![false; parts.all.len()],
            reads_variables: parts.all.iter().any(reads_variables),
            set_names: HashSet::new(),
            opaque_words: Vec::new(),
            arguments: Vec::new(),
            values: HashMap::new(),
            expansions: Vec::new(),
        };
        for script in &parts.scripts {
            if let Some(part) = script.part {
                index.has_script[part] = true;
            }
        }
        for (at, part) in parts.all.iter().enumerate() {
            index.add(at, part);
        }
        index.expansions.sort_by_key(|(span, ..)| span.start);
        let mut end = 0;
        for (span, greatest, _) in &mut index.expansions {
            end = end.max(span.end);
            *greatest = end;
        }
        index
    }

    fn add(&mut self, at: usize, part: &'p Part) {
        if let Some(around) = part.parent {
            self.children[around].push(at);
        }
        for one in &part.assignments {
            self.set_names.insert(&one.name);
            self.values
                .entry(&one.name)
                .or_default()
                .push((&one.value, 0));
        }
        let set_name = |word: &'p Word| word.text.split(['=', '+', '[']).next().unwrap_or_default();
        self.set_names.extend(part.words.iter().map(set_name));
        for word in part.words.iter().skip(1) {
            match word.text.split_once('=') {
                Some((name, value)) => {
                    let start = word.text.len() - value.len();
                    self.values.entry(name).or_default().push((word, start));
                }
                None => self.arguments.push((at, word)),
            }
        }
        if part.is_opaque {
            self.opaque_words
                .extend(part.words.iter().map(|word| (at, word)));
        }
        let expansions = part.expansions.iter();
        let expansions = expansions.map(|one| (one.span.start..one.span.end, 0, one.name.as_str()));
        self.expansions.extend(expansions);
    }

    /// Returns the parts inside a part, in their order.
    pub(super) fn inside(&self, at: usize) -> Vec<usize> {
        let mut inside = self.children[at].clone();
        let mut next = 0;
        while let Some(part) = inside.get(next) {
            inside.extend_from_slice(&self.children[*part]);
            next += 1;
        }
        inside.sort_unstable();
        inside
    }

    /// Returns the values that the command gives a variable: a word, and where the value starts in
    /// it.
    pub(super) fn values_named(&self, name: &str) -> Vec<(&'p Word, usize)> {
        self.values.get(name).cloned().unwrap_or_default()
    }

    /// Returns the names of the variables that are expanded in a place.
    pub(super) fn names_expanded_in(&self, place: &Range<usize>) -> BTreeSet<&'p str> {
        let end = self
            .expansions
            .partition_point(|(span, ..)| span.start < place.end);
        let before = self.expansions[..end].iter().rev();
        let near = before.take_while(|(_, greatest, _)| *greatest > place.start);
        let inside = near.filter(|(span, ..)| span.end > place.start);
        inside.map(|(.., name)| *name).collect()
    }
}

/// Returns `true` if a part fills variables from its input.
fn reads_variables(part: &Part) -> bool {
    let builtin = part.program().and_then(Builtin::named);
    matches!(builtin, Some(Builtin::Read | Builtin::ReadLines))
}
