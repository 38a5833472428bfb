//! Names of files that commands print, and that commands behind them read: in a pipeline, by a
//! substitution, from a variable.

use super::{Arg, Input, Judge, UNKNOWN};
use crate::tables::{Call, Role};

/// A file or folder that a word names which is not known when the command is judged; or a folder in
/// which such a file lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) path: String,
    /// Whether it is a secret, or may hold some.
    pub(crate) secret: bool,
}

/// No more names than this are kept of one pipeline.
const MOST_NAMES: usize = 64;

/// Stands among the variables for the descriptors that `exec` opens.
pub(super) const DESCRIPTORS: &str = "<&";

impl Judge<'_> {
    /// Notes a file or folder whose name the current pipeline prints.
    pub(crate) fn name(&mut self, arg: &Arg) {
        let path = arg.path();
        let value = path.split_once('=').map(|(_, value)| value);
        for path in [Some(path), value.filter(|_| path.starts_with('-'))] {
            let Some(path) = path.filter(|path| !path.starts_with('-') && !path.is_empty()) else {
                continue;
            };
            let named = self.named_file(path);
            self.add_name(named);
        }
    }

    pub(crate) fn add_name(&mut self, named: Named) {
        // A secret always counts, what else is named while there is room.
        if named.secret || self.noted.len() < MOST_NAMES {
            self.noted.push(named);
        }
    }

    pub(super) fn named_file(&self, path: &str) -> Named {
        let mut places = self.places(path);
        let secret = places.any(|place| {
            self.tables.secret_within(&place) || self.tables.reads_secrets_below(&place)
        });
        Named {
            path: path.to_owned(),
            secret,
        }
    }

    /// Returns a path as it stands and, if it is relative, from each folder in which the shell may be.
    pub(crate) fn places(&self, path: &str) -> impl Iterator<Item = String> {
        let relative = !path.starts_with(['/', '~', UNKNOWN]) || path.starts_with(UNKNOWN);
        let folders = self.environment.folders.iter().filter(move |_| relative);
        std::iter::once(path.to_owned())
            .chain(folders.map(move |folder| format!("{folder}/{path}")))
    }

    /// Returns the names that a command reads from its input.
    pub(crate) fn names_in(&self, input: &Input) -> Vec<Named> {
        match input {
            Input::Known(text) => {
                let words = text.split(|c: char| c.is_whitespace() || c == '\0');
                let words = words.filter(|word| !word.is_empty()).take(MOST_NAMES);
                words.map(|word| self.named_file(word)).collect()
            }
            Input::Inherited | Input::Unknown => {
                let known = self.noted.iter().chain(&self.handed);
                known.cloned().collect()
            }
        }
    }

    /// Returns the names that a text or a function reads whose commands have its input.
    pub(super) fn names_read(&self, input: &Input) -> Vec<Named> {
        match input {
            Input::Inherited => Vec::new(),
            input => self.names_in(input),
        }
    }

    /// Runs what gets names of files that are not known: those that came before it in a pipeline, or
    /// that a loop goes through.
    pub(crate) fn with_names<T>(
        &mut self,
        names: Vec<Named>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if names.is_empty() {
            return run(self);
        }
        let mut names = names;
        names.extend(self.handed.iter().cloned());
        names.dedup();
        names.sort_by_key(|name| !name.secret);
        names.truncate(MOST_NAMES);
        let outer = std::mem::replace(&mut self.handed, names);
        let output = run(self);
        self.handed = outer;
        output
    }

    /// Notes a file with names of files that are read, or the input where it is `-`.
    pub(super) fn listed(&mut self, call: &Call, list: &Arg, input: &Input) {
        use super::environment::Contents;
        let contents = match list.text.as_str() {
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(input.clone()),
            file => match self.environment.files.get(file) {
                Some(Contents::Text(text)) => Some(Input::Known(text.clone())),
                Some(_) => Some(Input::Unknown),
                None => None,
            },
        };
        let Some(contents) = contents else {
            // What is no name of a file is printed.
            self.input_file(list);
            return;
        };
        if super::table::roles::prints_facts(call) {
            return;
        }
        let names = self.names_in(&contents);
        let file = Arg::unknown(list.span);
        let below = super::table::roles::recurses(call);
        self.with_names(names, |judge| judge.reads(&file, below));
    }

    /// Returns the names that are in a file: those of the command that writes it, if it is a process.
    pub(super) fn names_of_file(&self, file: &Arg) -> Vec<Named> {
        use super::environment::Contents;
        match self.environment.files.get(&file.text) {
            Some(Contents::Text(text)) => self.names_in(&Input::Known(text.clone())),
            _ => self.names_in(&Input::Unknown),
        }
    }

    /// Returns the names of files that arguments may be which are not known.
    pub(super) fn names_of_arguments(&self, args: &[Arg]) -> Vec<Named> {
        let open = args.iter().filter(|arg| !arg.known() || arg.glob);
        let mut names: Vec<Named> = open.map(|arg| self.named_file(arg.path())).collect();
        if !names.is_empty() {
            names.extend(self.handed.iter().cloned());
        }
        names.truncate(MOST_NAMES);
        names
    }

    /// Notes the names of files that a variable may hold; of parameters, those of each.
    pub(super) fn names_held(&mut self, variable: &str) {
        let parameter = variable == "*" || variable.starts_with(|c: char| c.is_ascii_digit());
        let variable = if parameter { "@" } else { variable };
        let held = self.environment.secrets.get(variable).cloned();
        self.noted.extend(held.into_iter().flatten());
    }

    /// Runs a function or a text with arguments of its own.
    pub(super) fn with_arguments<T>(
        &mut self,
        names: Vec<Named>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.environment.secrets.insert("@".to_owned(), names);
        let output = run(self);
        match outer {
            Some(names) => self.environment.secrets.insert("@".to_owned(), names),
            None => self.environment.secrets.remove("@"),
        };
        output
    }

    /// Notes a program that finds files of its own accord.
    pub(super) fn finds(&mut self, call: &Call) {
        if let Some(folder) = call.program.details.finds {
            let named = self.named_file(folder);
            self.add_name(named);
        }
        for given in &call.options {
            if given.option.role == Role::Folder
                && let Some(value) = &given.value
            {
                self.name(value);
            }
        }
    }

    /// Runs a call in the folder that one of its options names.
    pub(super) fn in_folder<T>(&mut self, call: &Call, run: impl FnOnce(&mut Self) -> T) -> T {
        let folders = call
            .options
            .iter()
            .filter(|given| given.option.role == Role::Folder);
        let folders: Vec<String> = folders
            .filter_map(|given| Some(given.value.as_ref()?.path().to_owned()))
            .collect();
        if folders.is_empty() {
            return run(self);
        }
        let before = self.environment.folders.clone();
        for folder in folders {
            self.goes_to(&folder);
        }
        let output = run(self);
        self.environment.folders = before;
        output
    }
}
