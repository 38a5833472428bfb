//! What earlier parts of a command set that later parts see.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::Arg;
use crate::classify::shell::Command;

/// Variables, functions, aliases and files, as far as the text sets them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// Values; `None` where one is set but not known.
    pub(crate) variables: HashMap<String, Option<String>>,
    pub(crate) functions: HashMap<String, Rc<Command>>,
    /// Whether a variable is a number: what it is set to is computed.
    pub(crate) integers: bool,
    /// Functions that programs are given, which may call them.
    pub(crate) exported: HashSet<String>,
    /// Functions that were called.
    pub(crate) called: HashSet<String>,
    pub(crate) aliases: HashMap<String, Option<String>>,
    /// Files that the text writes: what is in them, or the program they link to.
    pub(crate) files: HashMap<String, Contents>,
    /// Where the shell may have gone.
    pub(crate) folders: BTreeSet<String>,
    /// `$1`, `$2`…; `None` where nothing is known about them.
    pub(crate) positional: Option<Vec<Arg>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Contents {
    Text(String),
    /// A link to, or a copy of, this path.
    Same(String),
    Unknown,
}

impl Environment {
    /// What holds after either of two ways: the values that both agree on.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, value) in &other.variables {
            match self.variables.get_mut(name) {
                Some(own) if own != value => *own = None,
                Some(_) => {}
                None => {
                    self.variables.insert(name.clone(), None);
                }
            }
        }
        for (name, value) in &mut self.variables {
            if !other.variables.contains_key(name) {
                *value = None;
            }
        }
        for (name, body) in &other.functions {
            self.functions
                .entry(name.clone())
                .or_insert_with(|| Rc::clone(body));
        }
        self.folders.extend(other.folders.iter().cloned());
        self.called.extend(other.called.iter().cloned());
        self.integers |= other.integers;
        self.exported.extend(other.exported.iter().cloned());
        for (name, text) in &other.aliases {
            self.aliases
                .entry(name.clone())
                .or_insert_with(|| text.clone());
        }
        for (name, contents) in &other.files {
            let own = self
                .files
                .entry(name.clone())
                .or_insert_with(|| contents.clone());
            if own != contents {
                *own = Contents::Unknown;
            }
        }
    }
}
