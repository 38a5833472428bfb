//! Paths that pass between commands: paths that a command prints in, paths that a later command may
//! read out. They pass through pipelines, substitutions and variables.

use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::possible_path::PossiblePath;

/// Limit of names in one pipeline.
const MAX_PIPELINE_PATHS: usize = 64;

/// Key of the descriptors that `exec` opens, among the variables.
pub(crate) const DESCRIPTORS: &str = "<&";

impl Interpreter<'_> {
    /// Records a file or folder whose name the current pipeline prints.
    pub(crate) fn add_printed_path(&mut self, arg: &Arg) {
        let path = arg.path();
        let value = path.split_once('=').map(|(_, value)| value);
        for path in [Some(path), value.filter(|_| path.starts_with('-'))] {
            let Some(path) = path.filter(|path| !path.starts_with('-') && !path.is_empty()) else {
                continue;
            };
            let possible = self.possible_path(path);
            self.add_pipeline_path(possible);
        }
    }

    pub(crate) fn add_pipeline_path(&mut self, possible: PossiblePath) {
        // Secrets are always kept, other names up to the limit.
        if possible.secret || self.shell.paths_in_pipeline.len() < MAX_PIPELINE_PATHS {
            self.shell.paths_in_pipeline.push(possible);
        }
    }

    pub(crate) fn possible_path(&self, path: &str) -> PossiblePath {
        self.context().possible_path(path)
    }

    /// Returns the names that a command reads from its input.
    pub(crate) fn paths_in_input(&self, input: &Input) -> Vec<PossiblePath> {
        match input {
            Input::Known(text) => {
                let words = text.split(|c: char| c.is_whitespace() || c == '\0');
                let words = words
                    .filter(|word| !word.is_empty())
                    .take(MAX_PIPELINE_PATHS);
                words.map(|word| self.possible_path(word)).collect()
            }
            Input::Inherited | Input::Unknown => {
                let known = self
                    .shell
                    .paths_in_pipeline
                    .iter()
                    .chain(&self.shell.paths_of_unknown_words);
                known.cloned().collect()
            }
        }
    }

    /// Returns the names that a text or a function reads from its own input.
    pub(crate) fn paths_in_own_input(&self, input: &Input) -> Vec<PossiblePath> {
        match input {
            Input::Inherited => Vec::new(),
            input => self.paths_in_input(input),
        }
    }

    /// Runs something whose unknown words may be these names: the names before it in a pipeline, or
    /// the names that a loop iterates over.
    pub(crate) fn with_paths<T>(
        &mut self,
        paths: Vec<PossiblePath>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if paths.is_empty() {
            return run(self);
        }
        let mut paths = paths;
        paths.extend(self.shell.paths_of_unknown_words.iter().cloned());
        paths.dedup();
        paths.sort_by_key(|name| !name.secret);
        paths.truncate(MAX_PIPELINE_PATHS);
        let outer_paths = std::mem::replace(&mut self.shell.paths_of_unknown_words, paths);
        let output = run(self);
        self.shell.paths_of_unknown_words = outer_paths;
        output
    }

    /// Returns the names in a file. A file that a process writes has the names that the process
    /// prints.
    pub(crate) fn paths_in_file(&self, file: &Arg) -> Vec<PossiblePath> {
        match self.shell.environment.files.get(&file.text) {
            Some(FileContents::Text(text)) => self.paths_in_input(&Input::Known(text.clone())),
            _ => self.paths_in_input(&Input::Unknown),
        }
    }

    /// Returns the names of files that unknown arguments may be.
    pub(crate) fn paths_of_arguments(&self, args: &[Arg]) -> Vec<PossiblePath> {
        // Which argument a parameter is may be unknown, too.
        let secret = |arg: &Arg| self.tables.may_read_secrets(arg.path());
        let unknown_args = args
            .iter()
            .filter(|arg| !arg.is_known() || arg.glob || secret(arg));
        let mut paths: Vec<PossiblePath> = unknown_args
            .map(|arg| self.possible_path(arg.path()))
            .collect();
        if !paths.is_empty() {
            paths.extend(self.shell.paths_of_unknown_words.iter().cloned());
        }
        paths.truncate(MAX_PIPELINE_PATHS);
        paths
    }

    /// Runs a function or a text whose arguments may be these names.
    pub(crate) fn with_argument_paths<T>(
        &mut self,
        paths: Vec<PossiblePath>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer_paths = self
            .shell
            .environment
            .possible_paths
            .insert("@".to_owned(), paths);
        let output = run(self);
        match outer_paths {
            Some(paths) => self
                .shell
                .environment
                .possible_paths
                .insert("@".to_owned(), paths),
            None => self.shell.environment.possible_paths.remove("@"),
        };
        output
    }
}
