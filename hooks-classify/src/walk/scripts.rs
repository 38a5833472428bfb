//! In: a script in another language than the shell's. Out: its effects, noted by the interpreter.

use super::interpreter::Interpreter;
use crate::languages;
use crate::model::analysis::{Analysis, OutputOf};
use crate::model::arg::Arg;
use crate::model::language::Language;

impl Interpreter<'_> {
    /// Runs a script that a program was given.
    pub(crate) fn script_in(&mut self, language: Language, script: &Arg, path: &str) {
        let analysis = languages::read(language, script, path, self.tables);
        self.perform_script(analysis);
    }

    /// Runs a text in PowerShell that a command is itself.
    pub(crate) fn powershell(&mut self, text: &Arg) {
        let analysis = languages::powershell::read(text, self.tables);
        self.perform_script(analysis);
    }

    /// A script has findings and actions, and neither a table nor an output.
    fn perform_script(&mut self, analysis: Analysis) {
        self.perform(analysis.actions, OutputOf::NOTHING);
    }
}
