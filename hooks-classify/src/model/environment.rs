//! [`Environment`] of a shell: the variables, functions, aliases, files and folders that a text sets.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::arg::Arg;
use super::assigned_values::AssignedValues;
use super::possible_options::PossibleOptions;
use super::possible_path::PossiblePath;
use super::script::Command;
use super::value::Value;

/// Path of the folder in which a command starts.
pub(crate) const START_FOLDER: &str = "./";

/// Limit of folders in which the shell may be; more are not followed.
const MAX_FOLDERS: usize = 8;

/// Values that earlier commands of a text set and later commands read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) variables: HashMap<String, Value>,
    /// The values that the whole text assigns.
    pub(crate) assigned: AssignedValues,
    /// Words of the whole text that an unknown word may be.
    pub(crate) options: PossibleOptions,
    /// `true` if an earlier command may have ended the list before the next assignments.
    pub(crate) may_have_ended: bool,
    /// Variables that may be read-only: an assignment to them ends the list.
    pub(crate) readonly_variables: HashSet<String>,
    /// Associative arrays, whose keys are not evaluated.
    pub(crate) associative_arrays: HashSet<String>,
    pub(crate) functions: HashMap<String, Rc<Command>>,
    /// Functions whose definition may not have run.
    pub(crate) conditionally_defined: HashSet<String>,
    /// Files that variables with unknown values may name.
    pub(crate) possible_paths: HashMap<String, Vec<PossiblePath>>,
    /// Variables whose values contain that of a variable which is a secret by its name.
    pub(crate) secret_variables: HashSet<String>,
    /// Variables that programs get, with the words that set them: `export A=b`, `env A=b`.
    pub(crate) exported_assignments: Vec<(String, Arg)>,
    /// Variables that are exported before they are set: `export A; A=b`.
    pub(crate) exported_names: HashSet<String>,
    /// `true` if the shell may export each variable that is set: `set -a`.
    pub(crate) exports_all: bool,
    /// Paths of variables that are set by means of other variables: `d=$HOME/.config`.
    pub(crate) variable_paths: HashMap<String, String>,
    /// Values of variables outside a child process, which it may inherit.
    pub(crate) inherited_values: HashSet<String>,
    /// Variables that may be integers: the shell evaluates each value that is assigned to them.
    pub(crate) integer_variables: HashSet<String>,
    /// Variables that may be arrays.
    pub(crate) arrays: HashSet<String>,
    /// Variables whose values the shell converts: case, width.
    pub(crate) formatted_variables: HashSet<String>,
    /// Name references: a variable and the variable that it may refer to.
    pub(crate) namerefs: HashSet<(String, String)>,
    /// `true` if the input or output of later commands may be redirected: `exec > file`, a trap.
    pub(crate) stdio_redirected: bool,
    /// Functions that child processes inherit and may call.
    pub(crate) exported_functions: HashSet<String>,
    /// Functions that the text calls.
    pub(crate) called_functions: HashSet<String>,
    pub(crate) aliases: HashMap<String, Option<String>>,
    /// Files that the text writes, with their contents.
    pub(crate) files: HashMap<String, FileContents>,
    /// Folders in which the shell may be.
    pub(crate) working_directories: BTreeSet<String>,
    /// Folders in which the shell was before.
    pub(crate) earlier_directories: BTreeSet<String>,
    /// `$0` of a child shell, if the text sets it.
    pub(crate) command_name: Option<Arg>,
    /// `$1`, `$2` …; `None` if they are unknown.
    pub(crate) positional: Option<Vec<Arg>>,
    /// `true` if the text sets the positional parameters to unknown values.
    pub(crate) has_unknown_positional: bool,
    /// `true` if the text sets or shifts the positional parameters.
    pub(crate) sets_positional: bool,
    /// `true` if the action of a trap does so: they may then change at any time.
    pub(crate) traps_set_positional: bool,
}

/// Variables that the shell sets.
pub(crate) const SHELL_VARIABLES: &[&str] = &[
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

/// Variables that shells keep as numbers: assigned values are evaluated.
pub(crate) const INTEGER_VARIABLES: &[&str] = &[
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
    "MAILCHECK",
    "PIPESTATUS",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "ARGC",
    "JOBMAX",
    "ZSH_SUBSHELL",
    "CURSOR",
    "HISTNO",
    "MARK",
    "NUMERIC",
];

/// Variables that a shell does not let a text change: an assignment ends the list.
pub(crate) const READONLY_VARIABLES: &[&str] = &[
    "BASHOPTS",
    "BASH_VERSINFO",
    "SHELLOPTS",
    "PPID",
    "UID",
    "EUID",
    "ARGC",
    "HISTCMD",
    "LINENO",
    "TTYIDLE",
    "ZSH_EVAL_CONTEXT",
    "zsh_eval_context",
    "ZSH_SUBSHELL",
    "status",
];

/// Variables that the shell sets to text that it reads or compares.
pub(crate) const INPUT_VARIABLES: &[&str] = &[
    "BASH_REMATCH",
    "REPLY",
    "MAPFILE",
    "_",
    "MATCH",
    "match",
    "reply",
];

/// Contents of a file, as far as the text sets them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FileContents {
    Text(String),
    /// Link to, or copy of, this path.
    CopyOf(String),
    /// A plan that deletes what it is applied to.
    Destruction,
    Unknown,
}

impl Environment {
    /// Enters a child process: only exported functions remain, and variables may or may not be
    /// exported.
    pub(crate) fn enter_child_process(&mut self) {
        for value in self.variables.values_mut() {
            self.inherited_values
                .extend(value.text().map(str::to_owned));
            *value = match value.is_inert() {
                true => Value::Inert,
                false => Value::Unknown,
            };
        }
        let exported = &self.exported_functions;
        self.functions.retain(|name, _| exported.contains(name));
        self.aliases.clear();
        self.positional = Some(Vec::new());
        self.has_unknown_positional = false;
        self.traps_set_positional = false;
        self.stdio_redirected = false;
    }

    /// Returns a path and, if it is relative, the path from each folder in which the shell may be.
    pub(crate) fn candidate_paths(&self, path: &str) -> impl Iterator<Item = String> {
        let relative = !path.starts_with(['/', '~']);
        let folders = self.working_directories.iter().filter(move |_| relative);
        std::iter::once(path.to_owned())
            .chain(folders.map(move |folder| format!("{folder}/{path}")))
    }

    /// Sets the positional parameters; `None` if they are unknown.
    pub(crate) fn set_positional(&mut self, words: Option<Vec<Arg>>) {
        self.sets_positional = true;
        self.positional = words.filter(|_| !self.traps_set_positional);
        self.has_unknown_positional = self.positional.is_none();
    }

    /// Sets a variable and each variable that it may refer to.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if name == "argv" {
            // The positional parameters, in zsh.
            self.set_positional(None);
        }
        match &value {
            Value::Text(text) => self.options.note(text),
            Value::List(words) => words.split(' ').for_each(|word| self.options.note(word)),
            Value::Address(_) | Value::Inert | Value::Unknown => {}
        }
        let names = self.nameref_targets(name);
        let refers = names.len() > 1;
        for name in names {
            let unclear = (refers || self.formatted_variables.contains(&name)) && !value.is_inert();
            let value = if unclear {
                Value::Unknown
            } else {
                value.clone()
            };
            let mut value = self.assigned.assign(&name, value);
            self.may_have_ended |= self.readonly_variables.contains(&name)
                || READONLY_VARIABLES.contains(&name.as_str());
            if self.may_have_ended {
                let before = self.variables.get(&name).unwrap_or(&Value::Inert);
                value = before.join(&value);
            }
            self.variables.insert(name, value);
        }
    }

    /// Sets the variable of a loop to each of these values in turn, of which the whole text sees the
    /// join.
    pub(crate) fn begin_loop(&self, name: &str, values: impl Iterator<Item = Value>) {
        if let Some(join) = values.reduce(|one, other| one.join(&other)) {
            self.assigned.assign(name, join);
        }
    }

    /// Sets the variable of a loop for one round.
    pub(crate) fn set_in_loop(&mut self, name: &str, value: Value) {
        if let Some(text) = value.text() {
            self.options.note(text);
        }
        let value = self.assigned.in_loop(name, value);
        self.variables.insert(name.to_owned(), value);
    }

    /// Sets a variable to an unknown value.
    pub(crate) fn set_unknown(&mut self, name: &str) {
        self.set(name, Value::Unknown);
    }

    /// Returns `true` if a variable is a name reference.
    pub(crate) fn is_nameref(&self, name: &str) -> bool {
        self.namerefs.iter().any(|(from, _)| from == name)
    }

    /// Changes the working directory. A relative path is followed from each folder in which the
    /// shell may be.
    pub(crate) fn change_directory(&mut self, path: &str) {
        self.earlier_directories.extend(self.folders());
        let folders = &mut self.working_directories;
        if path.starts_with(['/', '~']) || folders.is_empty() {
            *folders = [path.to_owned()].into();
        } else if folders.len() <= MAX_FOLDERS {
            *folders = folders.iter().map(|f| format!("{f}/{path}")).collect();
        }
    }

    /// Returns to one of the folders in which the shell was before, which may be any of them.
    pub(crate) fn return_to_earlier_directory(&mut self) {
        let mut folders = std::mem::take(&mut self.earlier_directories);
        folders.extend(self.folders());
        self.earlier_directories.clone_from(&folders);
        self.working_directories = folders;
    }

    /// Returns the folders in which the shell may be: [`START_FOLDER`] if it was not changed.
    fn folders(&self) -> BTreeSet<String> {
        match self.working_directories.is_empty() {
            true => [START_FOLDER.to_owned()].into(),
            false => self.working_directories.clone(),
        }
    }

    /// Records that a file gets the contents of another file.
    pub(crate) fn copy_file(&mut self, source: String, mut target: String) {
        if target.ends_with('/') || target == "." {
            let folder = target.trim_end_matches('/');
            let name = source.rsplit('/').next().unwrap_or("");
            target = format!("{folder}/{name}");
        }
        let contents = self.files.get(&source).cloned();
        let contents = contents.unwrap_or(FileContents::CopyOf(source));
        let without_dot = target.trim_start_matches("./").to_owned();
        self.files.insert(without_dot, contents.clone());
        self.files.insert(target, contents);
    }

    /// Returns the name of a variable, followed by the names that it may refer to.
    pub(crate) fn nameref_targets(&self, name: &str) -> Vec<String> {
        let mut names = vec![name.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for (from, to) in &self.namerefs {
                if *from == name && !names.contains(to) {
                    names.push(to.clone());
                }
            }
            at += 1;
        }
        names
    }

    /// Records that a variable may have no value.
    pub(crate) fn mark_possibly_unset(&mut self, name: &str) {
        let before = self.variables.get(name).unwrap_or(&Value::Inert);
        let value = before.join(&Value::Inert);
        self.set(name, value);
    }

    /// Merges the environment of another branch: values on which both agree are kept.
    pub(crate) fn join(&mut self, other: &Self) {
        // A variable that the text does not set has its inherited value.
        for (name, value) in &other.variables {
            let own = self
                .variables
                .get(name)
                .unwrap_or(&Value::Inert)
                .join(value);
            self.variables.insert(name.clone(), own);
        }
        for (name, value) in &mut self.variables {
            if !other.variables.contains_key(name) {
                *value = value.join(&Value::Inert);
            }
        }
        for assignment in &other.exported_assignments {
            if !self.exported_assignments.contains(assignment) {
                self.exported_assignments.push(assignment.clone());
            }
        }
        self.exported_names
            .extend(other.exported_names.iter().cloned());
        self.exports_all |= other.exports_all;
        self.associative_arrays
            .retain(|name| other.associative_arrays.contains(name));
        if self.positional != other.positional {
            self.positional = None;
            self.has_unknown_positional = true;
        }
        self.has_unknown_positional |= other.has_unknown_positional;
        self.sets_positional |= other.sets_positional;
        self.traps_set_positional |= other.traps_set_positional;
        self.may_have_ended |= other.may_have_ended;
        self.readonly_variables
            .extend(other.readonly_variables.iter().cloned());
        self.conditionally_defined
            .extend(other.conditionally_defined.iter().cloned());
        let (own, others) = (&self.functions, &other.functions);
        let own_alone = own.keys().filter(|name| !others.contains_key(*name));
        let others_alone = others.keys().filter(|name| !own.contains_key(*name));
        self.conditionally_defined
            .extend(own_alone.chain(others_alone).cloned());
        for (name, body) in &other.functions {
            self.functions
                .entry(name.clone())
                .or_insert_with(|| Rc::clone(body));
        }
        if self.working_directories.is_empty() != other.working_directories.is_empty() {
            self.working_directories.insert(START_FOLDER.to_owned());
        }
        self.working_directories
            .extend(other.working_directories.iter().cloned());
        self.earlier_directories
            .extend(other.earlier_directories.iter().cloned());
        self.called_functions
            .extend(other.called_functions.iter().cloned());
        self.integer_variables
            .extend(other.integer_variables.iter().cloned());
        for (name, paths) in &other.possible_paths {
            let paths = || paths.clone();
            self.possible_paths
                .entry(name.clone())
                .or_insert_with(paths);
        }
        self.secret_variables
            .extend(other.secret_variables.iter().cloned());
        // A path that only one branch sets may apply in the other branch too.
        for (name, place) in &other.variable_paths {
            let place = || place.clone();
            self.variable_paths
                .entry(name.clone())
                .or_insert_with(place);
        }
        self.inherited_values
            .extend(other.inherited_values.iter().cloned());
        self.arrays.extend(other.arrays.iter().cloned());
        self.formatted_variables
            .extend(other.formatted_variables.iter().cloned());
        self.namerefs.extend(other.namerefs.iter().cloned());
        self.stdio_redirected |= other.stdio_redirected;
        self.exported_functions
            .extend(other.exported_functions.iter().cloned());
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
                *own = FileContents::Unknown;
            }
        }
    }
}
