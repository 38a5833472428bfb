//! What earlier parts of a command set that later parts see.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::{Arg, Named, UNKNOWN};
use crate::shell::Command;

/// Variables, functions, aliases and files, as far as the text sets them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) variables: HashMap<String, Value>,
    /// Arrays whose keys are words, and are not computed.
    pub(crate) keyed: HashSet<String>,
    pub(crate) functions: HashMap<String, Rc<Command>>,
    /// Functions that may not have been defined.
    pub(crate) maybe: HashSet<String>,
    /// Files that variables may name whose values are not known.
    pub(crate) secrets: HashMap<String, Vec<Named>>,
    /// Paths that variables hold where the text names another variable for them: `d=$HOME/.config`.
    pub(crate) places: HashMap<String, String>,
    /// Values of variables outside of a program, which it may be given.
    pub(crate) outer: HashSet<String>,
    /// Variables that may be integers: the shell computes each value that they take.
    pub(crate) integers: HashSet<String>,
    /// Variables that may be arrays.
    pub(crate) arrays: HashSet<String>,
    /// Variables whose values the shell changes: case, width.
    pub(crate) reshaped: HashSet<String>,
    /// Name references: a variable, and the variable that it may stand for.
    pub(crate) references: HashSet<(String, String)>,
    /// Whether the shell may print something else than its commands do, or elsewhere, or read
    /// from elsewhere: `exec > file`, a trap.
    pub(crate) moved: bool,
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
    /// Whether the text set them to what is not known.
    pub(crate) given: bool,
}

/// Variables that the shell sets by itself.
pub(super) const OWN: &[&str] = &[
    "_",
    "PWD",
    "OLDPWD",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "REPLY",
    "OPTARG",
    "OPTIND",
    "PIPESTATUS",
    "BASH_REMATCH",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_SUBSHELL",
    "FUNCNAME",
    "DIRSTACK",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "HISTCMD",
    "MAPFILE",
    "UID",
    "EUID",
    "PPID",
    "GROUPS",
    "SHELLOPTS",
    "BASHOPTS",
    "COLUMNS",
    "LINES",
    "path",
    "pipestatus",
    "status",
    "argv",
    "reply",
    "match",
    "MATCH",
    "USERNAME",
    "GID",
    "EGID",
    "TTYIDLE",
    "ERRNO",
    "SHLVL",
];

/// Variables that shells keep as numbers: what they are set to is computed.
pub(super) const COMPUTED: &[&str] = &[
    "OPTIND",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "HISTCMD",
    "HISTSIZE",
    "SAVEHIST",
    "LINES",
    "COLUMNS",
    "TMOUT",
    "KEYTIMEOUT",
    "LISTMAX",
    "BAUD",
    "FUNCNEST",
    "EPOCHSECONDS",
    "PPID",
    "BASHPID",
    "ERRNO",
    "UID",
    "EUID",
    "GID",
    "EGID",
    "SHLVL",
    "LINENO",
    "TTYIDLE",
    "PGRP",
    "KSHUID",
    "KSHEUID",
    "KSHGID",
    "KSHEGID",
    "USER_ID",
];

/// Variables that the shell itself fills with what it reads and compares.
pub(super) const FILLED: &[&str] = &[
    "BASH_REMATCH",
    "REPLY",
    "MAPFILE",
    "_",
    "MATCH",
    "match",
    "reply",
];

/// The value of a variable that the text sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// Plain words in brackets: what its name alone stands for differs between shells.
    List(String),
    /// An address on another machine, and what is not known behind it; where that stands before
    /// it, too, there may be something else.
    Address(String),
    /// Not known, but no code: numbers, and what the shell was started with. Computed, it runs
    /// nothing.
    Inert,
    Unknown,
}

impl Value {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Address(_) | Self::Inert | Self::Unknown => None,
        }
    }

    /// Whether nothing, or little, is known of it, and it may hold what commands print.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown | Self::Address(_))
    }

    /// All elements of a list.
    pub(crate) fn list(&self) -> Option<&str> {
        match self {
            Self::List(words) => Some(words),
            _ => self.text(),
        }
    }

    fn is_inert(&self) -> bool {
        match self {
            Self::Text(text) | Self::List(text) => is_numeric(text),
            Self::Inert => true,
            Self::Address(_) | Self::Unknown => false,
        }
    }

    /// What holds where either of two may be.
    pub(crate) fn or(&self, other: &Self) -> Self {
        match (self, other) {
            _ if self == other => self.clone(),
            (Self::Address(address), _) | (_, Self::Address(address)) => {
                Self::Address(perhaps(address))
            }
            _ if self.is_inert() && other.is_inert() => Self::Inert,
            _ => Self::Unknown,
        }
    }
}

/// An address, unless something else stands there.
pub(super) fn perhaps(address: &str) -> String {
    format!("{UNKNOWN}{}", address.trim_start_matches(UNKNOWN))
}

/// Whether a text holds nothing but digits and what stands between them.
pub(super) fn is_numeric(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_digit() || "-+. :\n".contains(c))
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Contents {
    Text(String),
    /// A link to, or a copy of, this path.
    Same(String),
    Unknown,
}

impl Environment {
    /// What a program that is started sees: functions that it is given, and variables that are its
    /// own where they are exported.
    pub(crate) fn enter(&mut self) {
        for value in self.variables.values_mut() {
            self.outer.extend(value.text().map(str::to_owned));
            *value = match value.is_inert() {
                true => Value::Inert,
                false => Value::Unknown,
            };
        }
        let exported = &self.exported;
        self.functions.retain(|name, _| exported.contains(name));
        self.aliases.clear();
        self.positional = Some(Vec::new());
        self.given = false;
        self.moved = false;
    }

    /// Sets a variable, and each variable that it may refer to.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let names = self.referents(name);
        let refers = names.len() > 1;
        for name in names {
            let unclear = (refers || self.reshaped.contains(&name)) && !value.is_inert();
            let value = if unclear {
                Value::Unknown
            } else {
                value.clone()
            };
            self.variables.insert(name, value);
        }
    }

    /// Sets a variable to what is only known when it runs.
    pub(crate) fn set_unknown(&mut self, name: &str) {
        self.set(name, Value::Unknown);
    }

    /// Returns true if a variable is a name reference.
    pub(crate) fn refers(&self, name: &str) -> bool {
        self.references.iter().any(|(from, _)| from == name)
    }

    /// Returns the name of a variable, followed by those that it may refer to.
    pub(crate) fn referents(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for (from, to) in &self.references {
                if *from == name && !names.contains(to) {
                    names.push(to.clone());
                }
            }
            at += 1;
        }
        names
    }

    /// Leaves open whether a variable has its value, or none.
    pub(crate) fn doubt(&mut self, name: &str) {
        let before = self.variables.get(name).unwrap_or(&Value::Inert);
        let value = before.or(&Value::Inert);
        self.set(name, value);
    }

    /// What holds after either of two ways: the values that both agree on.
    pub(crate) fn merge(&mut self, other: &Self) {
        // What the text does not set is what the shell was started with.
        for (name, value) in &other.variables {
            let own = self.variables.get(name).unwrap_or(&Value::Inert).or(value);
            self.variables.insert(name.clone(), own);
        }
        for (name, value) in &mut self.variables {
            if !other.variables.contains_key(name) {
                *value = value.or(&Value::Inert);
            }
        }
        self.keyed.retain(|name| other.keyed.contains(name));
        let same = match (&self.positional, &other.positional) {
            (Some(own), Some(others)) => {
                own.len() == others.len()
                    && own
                        .iter()
                        .zip(others)
                        .all(|(own, other)| own.is_same(other))
            }
            (own, other) => own.is_none() && other.is_none(),
        };
        if !same {
            self.positional = None;
            self.given = true;
        }
        self.given |= other.given;
        self.maybe.extend(other.maybe.iter().cloned());
        let (own, others) = (&self.functions, &other.functions);
        let own_alone = own.keys().filter(|name| !others.contains_key(*name));
        let others_alone = others.keys().filter(|name| !own.contains_key(*name));
        self.maybe.extend(own_alone.chain(others_alone).cloned());
        for (name, body) in &other.functions {
            self.functions
                .entry(name.clone())
                .or_insert_with(|| Rc::clone(body));
        }
        self.folders.extend(other.folders.iter().cloned());
        self.called.extend(other.called.iter().cloned());
        self.integers.extend(other.integers.iter().cloned());
        for (name, paths) in &other.secrets {
            let paths = || paths.clone();
            self.secrets.entry(name.clone()).or_insert_with(paths);
        }
        // A variable of which it is not known where it is set has its place only perhaps.
        for (name, place) in &other.places {
            let place = || place.clone();
            self.places.entry(name.clone()).or_insert_with(place);
        }
        self.outer.extend(other.outer.iter().cloned());
        self.arrays.extend(other.arrays.iter().cloned());
        self.reshaped.extend(other.reshaped.iter().cloned());
        self.references.extend(other.references.iter().cloned());
        self.moved |= other.moved;
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
