//! Views of the tables for tests: the name of a program, its command or a command line in, the
//! entry of the table or the command line as the table reads it out. Not a part of the documented
//! interface.

use crate::model::arg::Arg;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;
use crate::tables::{CHECKED, OptionSpec, Program, TableCheck, Tables, ValueArity};

/// A program of the tables.
#[derive(Clone, Debug)]
pub struct ProgramEntry {
    /// Names of the program.
    pub names: Vec<String>,
    /// `true` if all calls have one effect.
    pub has_single_effect: bool,
    /// When its table was last compared with the program itself.
    pub last_check: Option<&'static TableCheck>,
    /// `true` if its table has the key `outside`.
    pub has_outside: bool,
    /// `true` if its table has the key `installs`.
    pub has_installs: bool,
    /// `true` if its table has the key `runs_packages`.
    pub has_runs_packages: bool,
    /// `true` if its table has the key `places_links`.
    pub has_places_links: bool,
    /// `true` if its table has the key `controls`.
    pub has_controls: bool,
    /// `true` if its table has the key `sets_shell_variables`.
    pub has_sets_shell_variables: bool,
}

/// Returns all programs of the embedded tables.
#[must_use]
pub fn programs() -> Vec<ProgramEntry> {
    let tables = Tables::embedded();
    let mut entries: Vec<(*const Program, ProgramEntry)> = Vec::new();
    for name in tables.names() {
        let Some(program) = tables.program(name) else {
            continue;
        };
        let key = std::ptr::from_ref(program);
        match entries.iter_mut().find(|(known, _)| *known == key) {
            Some((_, entry)) => entry.names.push(name.to_owned()),
            None => {
                let entry = ProgramEntry {
                    names: vec![name.to_owned()],
                    has_single_effect: program.has_single_effect(),
                    last_check: None,
                    has_outside: !program.details.outside.is_empty(),
                    has_installs: !program.details.installs.is_empty(),
                    has_runs_packages: !program.details.runs_packages.is_empty(),
                    has_places_links: !program.details.places_links.is_empty(),
                    has_controls: !program.details.controls.is_empty(),
                    has_sets_shell_variables: !program.details.sets_shell_variables.is_empty(),
                };
                entries.push((key, entry));
            }
        }
    }
    let with_origin = |(_, mut entry): (_, ProgramEntry)| {
        let of_entry =
            |checked: &&TableCheck| entry.names.iter().any(|name| name == checked.program);
        entry.last_check = CHECKED.iter().find(of_entry);
        entry
    };
    entries.into_iter().map(with_origin).collect()
}

/// A command line as the table of its program reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and the commands that the words name.
    pub path: String,
    /// Names and values of options.
    pub options: Vec<(String, Option<String>)>,
    /// Names and values of options that only some versions of the program read.
    pub version_dependent: Vec<(String, Option<String>)>,
    /// The words that are neither options nor values.
    pub operands: Vec<String>,
    /// Words that the table does not know.
    pub unrecognized: Vec<String>,
}

/// Reads a command line by the table of its program. Returns `None` if there is no table.
#[must_use]
pub fn read_command_line(words: &[&str]) -> Option<CommandLine> {
    let (name, rest) = words.split_first()?;
    let program = Tables::embedded().program(name)?;
    let args: Vec<_> = rest
        .iter()
        .map(|word| Arg::new(*word, Span::default()))
        .collect();
    let call = Call::read(name, program, &args);
    let mut line = CommandLine {
        path: call.path,
        operands: call.operands.into_iter().map(|o| o.arg.text).collect(),
        unrecognized: call.unrecognized.into_iter().map(|(why, _)| why).collect(),
        ..CommandLine::default()
    };
    for opt in call.options {
        let list = match opt.version_dependent {
            true => &mut line.version_dependent,
            false => &mut line.options,
        };
        list.push((opt.name, opt.value.map(|value| value.text)));
    }
    Some(line)
}

/// An option of a table under one of its names.
#[derive(Clone, Debug)]
pub struct OptionEntry {
    /// With its dashes.
    pub name: String,
    /// `true` if it has a value, joined or in the next word.
    pub requires_value: bool,
    /// `true` if it may have a value, which is joined to it.
    pub may_have_value: bool,
    /// `true` if all words after it are a command that it runs.
    pub takes_command: bool,
    /// `true` if it makes a call harmless.
    pub makes_harmless: bool,
}

/// The style of a program or of one of its commands, and its options, by name.
#[must_use]
pub fn options_of(path: &str) -> Option<(String, Vec<OptionEntry>)> {
    let mut words = path.split(' ');
    let mut program = Tables::embedded().program(words.next()?)?;
    for word in words {
        program = program.command(program, word)?;
    }
    let entry = |(name, option): (&str, &OptionSpec)| OptionEntry {
        name: name.to_owned(),
        requires_value: option.arity == ValueArity::Required,
        may_have_value: option.arity == ValueArity::Joined,
        takes_command: matches!(option.role, Role::Argv { .. }),
        makes_harmless: option.makes_harmless(),
    };
    let mut entries: Vec<_> = program.options.iter().map(entry).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Some((format!("{:?}", program.style), entries))
}
