//! Checked tables: the facts of the files, checked and inherited. `load` fills them, `emit` writes them.
//!
//! Words of the tables (`read`, `input`, `script:sql`) are already expressions of the crate's source,
//! such as `Effect::Read`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::raw::{RawFiles, RawSecrets};
use crate::secret_words::WordLists;
use crate::tokens::TokensDef;

/// An expression of Rust.
pub(crate) type Code = String;

/// All tables.
#[derive(Debug)]
pub(crate) struct TablesDef {
    /// In the order of the files.
    pub(crate) programs: Vec<NamedProgram>,
    pub(crate) variables: VariablesDef,
    pub(crate) shims: Vec<ShimFolderDef>,
    pub(crate) secrets: RawSecrets,
    pub(crate) tokens: TokensDef,
    pub(crate) secret_words: WordLists,
    pub(crate) files: RawFiles,
    pub(crate) languages: Vec<LanguageDef>,
}

/// A program with its names.
#[derive(Debug)]
pub(crate) struct NamedProgram {
    /// The file of its table.
    pub(crate) file: String,
    pub(crate) names: Vec<String>,
    pub(crate) checked: Option<CheckDef>,
    pub(crate) program: Rc<ProgramDef>,
}

/// When a table was last compared with the program itself.
#[derive(Debug)]
pub(crate) struct CheckDef {
    pub(crate) version: String,
    pub(crate) by: String,
    /// A day: `2026-11-25`.
    pub(crate) on: String,
}

/// A program or one of its commands; the fields are those of `Program` in the crate.
#[derive(Debug)]
pub(crate) struct ProgramDef {
    pub(crate) does: String,
    pub(crate) effect: Code,
    pub(crate) given: Option<Code>,
    pub(crate) operands: Vec<OperandDef>,
    pub(crate) options: BTreeMap<String, OptionDef>,
    pub(crate) style: Code,
    pub(crate) function: Option<String>,
    pub(crate) commands: BTreeMap<String, Rc<ProgramDef>>,
    pub(crate) patterns: Vec<(String, Rc<ProgramDef>)>,
    pub(crate) details: DetailsDef,
}

impl CountDef {
    pub(crate) fn code(self) -> Code {
        let count = match self {
            Self::One => "One",
            Self::Optional => "Optional",
            Self::Many => "Many",
        };
        format!("OperandCount::{count}")
    }
}

impl ProgramDef {
    /// Returns the commands by their names, then those by patterns of names.
    pub(crate) fn every_command(&self) -> impl Iterator<Item = (&str, &Rc<Self>)> {
        let by_name = (self.commands.iter()).map(|(name, command)| (name.as_str(), command));
        let by_pattern = (self.patterns.iter()).map(|(name, command)| (name.as_str(), command));
        by_name.chain(by_pattern)
    }

    /// Returns `true` if the program or one of its commands has an option of this name that fits.
    pub(crate) fn has_option(&self, name: &str, fits: fn(&OptionDef) -> bool) -> bool {
        let mut commands = self.every_command();
        self.options.get(name).is_some_and(fits)
            || commands.any(|(_, command)| command.has_option(name, fits))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DetailsDef {
    pub(crate) commands_of: Option<String>,
    pub(crate) options_anywhere: bool,
    pub(crate) reveals: Option<String>,
    pub(crate) reveals_given: Option<String>,
    pub(crate) dash_is_file: bool,
    pub(crate) shell_text: bool,
    pub(crate) prints_words: bool,
    pub(crate) prints_paths: bool,
    pub(crate) dialect: Option<Code>,
    pub(crate) files_in_words: Option<Code>,
    pub(crate) programs_in_words: Option<Code>,
    pub(crate) sends: bool,
    pub(crate) offline: bool,
    pub(crate) hosts: bool,
    pub(crate) probes: bool,
    pub(crate) shows: Vec<String>,
    pub(crate) only_first: bool,
    pub(crate) options_first: bool,
    pub(crate) help: Vec<String>,
    pub(crate) terminal: Option<InteractiveDef>,
    pub(crate) pager: Option<PagerDef>,
    pub(crate) contents: Option<ContentsDef>,
    pub(crate) recurses: Option<RecursionDef>,
    pub(crate) finds: Option<String>,
    pub(crate) variables: Vec<String>,
    pub(crate) harmless_variables: Vec<String>,
    pub(crate) expands_files: bool,
    pub(crate) unguarded: Vec<String>,
    pub(crate) harmless_config: Vec<String>,
    pub(crate) runs_input: bool,
    pub(crate) decided_by: Vec<FileLocatorDef>,
    pub(crate) configured_by: Vec<FileLocatorDef>,
    pub(crate) package_scripts: Vec<String>,
    pub(crate) replaces_files: bool,
    pub(crate) outside: Vec<CallPatternDef>,
    pub(crate) installs: Vec<CallPatternDef>,
    pub(crate) runs_packages: Vec<CallPatternDef>,
    pub(crate) packages_in: Option<String>,
    pub(crate) places_links: Vec<CallPatternDef>,
    pub(crate) keeps_files: Vec<CallPatternDef>,
    pub(crate) controls: Vec<(Code, Vec<CallPatternDef>)>,
    pub(crate) discards: Vec<(Code, Vec<CallPatternDef>)>,
    pub(crate) sets_shell_variables: Vec<CallPatternDef>,
    pub(crate) client: Option<Code>,
    pub(crate) file_operation: Option<Code>,
    pub(crate) output: Option<Code>,
    pub(crate) edits_named_files: bool,
    pub(crate) changes_directory: bool,
    pub(crate) slash_words: Option<Code>,
    pub(crate) sets_variables: bool,
    pub(crate) schedules_input: bool,
    pub(crate) secrets: Vec<SecretRuleDef>,
    pub(crate) loads: Vec<LoadRuleDef>,
    pub(crate) prints_variables: Option<Vec<String>>,
    pub(crate) elsewhere: bool,
    pub(crate) runs_scripts: bool,
    pub(crate) reveals_from: Vec<String>,
    pub(crate) loads_decide: bool,
}

#[derive(Debug)]
pub(crate) struct OperandDef {
    pub(crate) role: Code,
    pub(crate) secret: Code,
    pub(crate) count: CountDef,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountDef {
    One,
    Optional,
    Many,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionDef {
    pub(crate) arity: ArityDef,
    pub(crate) role: Code,
    pub(crate) secret: Code,
    pub(crate) effect: Option<Code>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArityDef {
    None,
    Required,
    Joined,
}

/// Files of the project that a program loads.
#[derive(Clone, Debug)]
pub(crate) struct LoadRuleDef {
    pub(crate) files: Vec<String>,
    pub(crate) search: Code,
    pub(crate) format: Option<Code>,
    pub(crate) settings: Vec<String>,
    pub(crate) follows: Vec<String>,
    pub(crate) modules: Vec<String>,
    pub(crate) writes: bool,
    pub(crate) creates: bool,
    pub(crate) inside_only: bool,
    /// Paths of the commands below that load the files; empty if all calls do.
    pub(crate) calls: Vec<Vec<String>>,
    /// Names of the command, if only some of them load the files.
    pub(crate) names: Vec<String>,
    pub(crate) beside: Vec<String>,
    pub(crate) unless: Vec<String>,
    pub(crate) requires: Vec<String>,
    pub(crate) instead: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) off: Vec<String>,
    pub(crate) off_variables: Vec<String>,
}

impl LoadRuleDef {
    /// Returns the rule as the command with these names inherits it; `None` if it concerns other
    /// commands.
    pub(crate) fn of_command(&self, names: &[String]) -> Option<Self> {
        let mut rule = self.clone();
        rule.names.clear();
        if rule.calls.is_empty() {
            return Some(rule);
        }
        let paths = std::mem::take(&mut rule.calls);
        let is_own = |first: &String| {
            let mut known = first.split('|');
            known.any(|name| names.iter().any(|own| own == name))
        };
        for path in &paths {
            match path.split_first() {
                Some((first, [])) if is_own(first) => {
                    let known: Vec<&str> = first.split('|').collect();
                    if !names.iter().all(|own| known.contains(&own.as_str())) {
                        rule.names.extend(known.into_iter().map(str::to_owned));
                    }
                    rule.calls.clear();
                    return Some(rule);
                }
                Some((first, rest)) if is_own(first) => rule.calls.push(rest.to_vec()),
                _ => {}
            }
        }
        (!rule.calls.is_empty()).then_some(rule)
    }
}

/// Secrets of a call with one of the options in `on`, or of every call.
#[derive(Clone, Debug)]
pub(crate) struct SecretRuleDef {
    pub(crate) on: Vec<String>,
    pub(crate) operands: Vec<(Code, CountDef)>,
    pub(crate) options: Vec<String>,
    pub(crate) joined: Vec<String>,
    pub(crate) stdin: Option<Code>,
}

#[derive(Clone, Debug)]
pub(crate) struct InteractiveDef {
    pub(crate) source: Code,
    pub(crate) off: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) operands: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct PagerDef {
    pub(crate) off: Option<Vec<String>>,
    pub(crate) on: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct ContentsDef {
    pub(crate) off: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) only_on: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct RecursionDef {
    pub(crate) on: Vec<String>,
    pub(crate) off: Vec<String>,
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum FileLocatorDef {
    Options(Vec<String>),
    Operand,
    Operands,
    InOperand(String),
    InOption(Vec<String>, String),
    UnknownCommand(String),
    Manifest(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallPatternDef {
    Every,
    /// Path of the command.
    Command(Vec<String>),
    /// Path of the command, and options of which a call needs one.
    CommandWithOptions(Vec<String>, Vec<String>),
    Options(Vec<String>),
    OtherHost,
    /// Calls without operands.
    Alone,
    /// Calls with a setting that may change which programs run.
    ConfigOverride,
    Request,
}

/// A folder of `shims.toml`.
#[derive(Debug)]
pub(crate) struct ShimFolderDef {
    pub(crate) folder: String,
    pub(crate) loads: Vec<LoadRuleDef>,
}

/// The lists of `variables.toml`.
#[derive(Debug, Default)]
pub(crate) struct VariablesDef {
    pub(crate) rules: Vec<VariableDef>,
    pub(crate) harmless: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct VariableDef {
    pub(crate) pattern: String,
    pub(crate) why: String,
    pub(crate) harmless: Vec<String>,
    pub(crate) harmless_folders: Vec<String>,
    pub(crate) runs_value: bool,
    pub(crate) settings: bool,
    pub(crate) only: Vec<String>,
}

/// The lists of a file in `languages/`.
#[derive(Debug)]
pub(crate) struct LanguageDef {
    /// The name of the static item: `PYTHON`.
    pub(crate) item: &'static str,
    /// The name of its type: `CodeNames`.
    pub(crate) type_name: &'static str,
    pub(crate) lists: Vec<WordList>,
}

#[derive(Debug)]
pub(crate) struct WordList {
    pub(crate) key: &'static str,
    /// Sorted if words are looked up in it.
    pub(crate) is_set: bool,
    pub(crate) words: Vec<String>,
}
