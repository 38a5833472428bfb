//! Facts that tables state about whole programs: a name or a part of a command in, the value of the key
//! out.

use super::{Program, StdinUse, Tables};
use crate::model::program_facts::{ClientAddress, FileOperation, OutputSource, SlashWords};

impl Tables {
    /// Returns the words with which a program names the address to which it connects, by the key
    /// `client`.
    #[must_use]
    pub fn client_address(&self, name: &str) -> Option<ClientAddress> {
        self.details_of(name)?.client
    }

    /// Returns the operation of a program on the files that its words name, by the key
    /// `file_operation`.
    #[must_use]
    pub fn file_operation(&self, name: &str) -> Option<FileOperation> {
        self.details_of(name)?.file_operation
    }

    /// Returns `true` if a program sets variables by words such as `NAME=VALUE`, by the key
    /// `sets_variables`.
    #[must_use]
    pub fn sets_variables(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.sets_variables)
    }

    /// Returns `true` if a program sets variables for the command among its words, such as `env`.
    #[must_use]
    pub fn sets_variables_of_command(&self, name: &str) -> bool {
        let is_wrapper = |program: &Program| program.stdin_use() == StdinUse::PassedToCommand;
        self.sets_variables(name) && self.program(name).is_some_and(is_wrapper)
    }

    /// Returns the source of the output of a program, by the key `output`.
    #[must_use]
    pub fn output_source(&self, name: &str) -> Option<OutputSource> {
        self.details_of(name)?.output
    }

    /// Returns `true` if a program changes only files that its words name, by the key
    /// `edits_named_files`.
    #[must_use]
    pub fn edits_named_files(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.edits_named_files)
    }

    /// Returns `true` if a program changes the directory of the shell to its first operand, by the
    /// key `changes_directory`.
    #[must_use]
    pub fn changes_directory(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.changes_directory)
    }

    /// Returns the meaning of words of a program that begin with `/` and name no path, by the key
    /// `slash_words`.
    #[must_use]
    pub fn slash_words(&self, name: &str) -> Option<SlashWords> {
        self.details_of(name)?.slash_words
    }
}
