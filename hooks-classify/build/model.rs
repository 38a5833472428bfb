//! Checked tables: the facts of the files, checked and inherited. `load` fills them, `emit` writes them.
//!
//! Words of the tables (`read`, `input`, `script:sql`) are already expressions of the crate's source,
//! such as `Effect::Read`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::raw::RawSecrets;

/// An expression of Rust.
pub(crate) type Code = String;

/// All tables.
#[derive(Debug)]
pub(crate) struct Tables {
    /// In the order of the files.
    pub(crate) programs: Vec<Entry>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) secrets: RawSecrets,
    pub(crate) languages: Vec<Language>,
}

/// A program with its names.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The file of its table.
    pub(crate) file: String,
    pub(crate) names: Vec<String>,
    pub(crate) checked: Option<Checked>,
    pub(crate) program: Rc<Program>,
}

/// When a table was last compared with the program itself.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) version: String,
    pub(crate) by: String,
    /// A day: `2026-11-25`.
    pub(crate) on: String,
}

/// A program or one of its commands; the fields are those of `Program` in the crate.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) does: String,
    pub(crate) effect: Code,
    pub(crate) given: Option<Code>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) options: BTreeMap<String, Opt>,
    pub(crate) style: Code,
    pub(crate) function: Option<String>,
    pub(crate) commands: BTreeMap<String, Rc<Program>>,
    pub(crate) patterns: Vec<(String, Rc<Program>)>,
    pub(crate) details: Details,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
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
    pub(crate) terminal: Option<Terminal>,
    pub(crate) pager: Option<Pager>,
    pub(crate) contents: Option<Contents>,
    pub(crate) recurses: Option<Recurses>,
    pub(crate) finds: Option<String>,
    pub(crate) variables: Vec<String>,
    pub(crate) harmless_config: Vec<String>,
    pub(crate) runs_input: bool,
    pub(crate) decided_by: Vec<Decides>,
    pub(crate) configured_by: Vec<Decides>,
    pub(crate) package_scripts: Vec<String>,
    pub(crate) replaces_files: bool,
}

#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) role: Code,
    pub(crate) count: Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    Maybe,
    Many,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opt {
    pub(crate) takes: Takes,
    pub(crate) role: Code,
    pub(crate) effect: Option<Code>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Value,
    Maybe,
}

#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    pub(crate) reads: Code,
    pub(crate) off: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) operands: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Pager {
    pub(crate) off: Option<Vec<String>>,
    pub(crate) on: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) off: Vec<String>,
    pub(crate) on: Vec<String>,
    pub(crate) only_on: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Recurses {
    pub(crate) on: Vec<String>,
    pub(crate) off: Vec<String>,
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Decides {
    Options(Vec<String>),
    Operand,
    Operands,
    InOperand(String),
    UnknownCommand(String),
    Manifest(String),
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) pattern: String,
    pub(crate) why: String,
    pub(crate) harmless: Vec<String>,
    pub(crate) harmless_folders: Vec<String>,
    pub(crate) runs_value: bool,
    pub(crate) only: Vec<String>,
}

/// The lists of a file in `languages/`.
#[derive(Debug)]
pub(crate) struct Language {
    /// The name of the static item: `PYTHON`.
    pub(crate) item: &'static str,
    /// The name of its type: `CodeNames`.
    pub(crate) type_name: &'static str,
    pub(crate) lists: Vec<List>,
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) key: &'static str,
    /// Sorted if words are looked up in it.
    pub(crate) is_set: bool,
    pub(crate) words: Vec<String>,
}
