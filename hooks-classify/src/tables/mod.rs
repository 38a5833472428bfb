//! Tables: the name of a program, variable or path in, static data about it out. The build script
//! compiles the files in `programs/`; a process neither reads nor allocates any of them.

mod calls;
mod facts;
mod glob;
mod hosts;
#[cfg(test)]
mod inventory;
mod lists;
mod path_patterns;
mod private;
mod secrets;

mod compiled {
    //! The tables, as the build script writes them.

    use super::calls::CallPattern;
    use super::hosts::HostSpelling;
    use super::lists::{CommandTable, Details, OperandList, OptionTable, Phrase};
    use super::path_patterns::{PathPatterns, PathSets, PatternGroup};
    use super::private::{FolderPattern, PathRoot, PrivateFolders};
    use super::secrets::SecretPaths;
    use super::{
        CodeFiles, CommandSource, ContentsRule, FileLocator, FileSearch, InteractiveRule, LoadRule,
        OperandCount, OptionSpec, PagerRule, Program, ProgramDetails, RecursionRule, SecretRule,
        ShimFolder, Style, TableCheck, ValueArity, VariableRule,
    };
    use crate::model::effect::{Effect, OptionEffect};
    use crate::model::language::Language;
    use crate::model::notation::{FileNotation, ProgramNotation};
    use crate::model::program_facts::{
        ClientAddress, ControlTarget, DiscardedData, FileOperation, OutputSource, SlashWords,
    };
    use crate::model::role::Role;
    use crate::model::secret_shape::{SecretInput, SecretShape};
    use crate::model::sql_dialect::SqlDialect;
    use crate::settings::SettingsFormat;

    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub use calls::PackageRun;
pub(crate) use compiled::{CHECKED, FUNCTIONS};
pub(crate) use glob::matches;
pub(crate) use lists::{CommandTable, Details, OperandList, OptionTable, Phrase, WordSet};

use crate::model::effect::{Effect, OptionEffect};
use crate::model::language::Language;
use crate::model::notation::{FileNotation, ProgramNotation};
use crate::model::program_facts::{
    ClientAddress, ControlTarget, DiscardedData, FileOperation, OutputSource, SlashWords,
};
use crate::model::role::Role;
use crate::model::secret_shape::{SecretInput, SecretShape};
use crate::model::sql_dialect::SqlDialect;
use crate::settings::SettingsFormat;
use calls::CallPattern;
use compiled::{CODE_FILES, HARMLESS_VARIABLES, PROGRAMS_BY_NAME, SECRETS, SHIMS, VARIABLES};

/// Style of a command line, from which [`options`](crate::options) derives the rules for reading it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// `getopt_long` of GNU: options and operands mix, long names may be abbreviated.
    Gnu,
    /// The first operand ends the options.
    Posix,
    /// As `Gnu` or as `Posix`, depending on the version or the option.
    Bsd,
    Git,
    BashBuiltin,
    ZshBuiltin,
    Cobra,
    /// As `Cobra`; the first operand ends the options.
    CobraPosix,
    Clap,
    /// As `Clap`; the first operand ends the options.
    ClapPosix,
    Argparse,
    Aws,
    /// Long names have one dash, or two.
    SingleDash,
    /// As `SingleDash` for operands as with `Bsd`: the package `flag` of Go.
    SingleDashBsd,
    /// As `SingleDash`; the first operand ends the options.
    SingleDashPosix,
    /// As `Bsd`, with letters without a dash in the first word, whose values are the words after
    /// it.
    Bundled,
    /// As `Bundled`; the first word is an operand to the options after it.
    Jar,
    /// As `Gnu`, with letters without a dash, whose values may follow them in one word.
    Ps,
    Assign,
    /// As `SingleDash`, with `/name:value` for `-name=value`, in any case.
    Slash,
    /// Every word is an operand.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ValueArity {
    None,
    Required,
    /// Only where it is joined to the option.
    Joined,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptionSpec {
    pub(crate) arity: ValueArity,
    pub(crate) role: Role,
    /// The part of its value that is a secret.
    pub(crate) secret: SecretShape,
    pub(crate) effect: Option<OptionEffect>,
}

impl OptionSpec {
    /// Returns `true` if the option makes a call harmless: `--help`, `--dry-run`.
    pub(crate) fn makes_harmless(&self) -> bool {
        matches!(
            self.effect,
            Some(OptionEffect::Forces(Effect::Read) | OptionEffect::Replaces(Effect::Read))
        )
    }

    /// Returns `true` if the option does more than read.
    pub(crate) fn does_more_than_read(&self) -> bool {
        match self.effect {
            Some(
                OptionEffect::AtLeast(_) | OptionEffect::Reveals | OptionEffect::ReplacesAndReveals,
            ) => true,
            Some(OptionEffect::Replaces(effect) | OptionEffect::Forces(effect))
                if effect != Effect::Read =>
            {
                true
            }
            _ => !matches!(
                self.role,
                Role::Text | Role::Input | Role::Filter | Role::List | Role::Folder
            ),
        }
    }
}

/// How many operands a role takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OperandCount {
    One,
    Optional,
    Many,
}

/// Secrets of the calls of a program with one of the options in `on`, or of all calls.
#[derive(Debug)]
pub(crate) struct SecretRule {
    /// Options, each a name or `NAME=VALUE`, one of which the call must have; empty for all calls.
    pub(crate) on: &'static [&'static str],
    /// Operands by position.
    pub(crate) operands: &'static [(SecretShape, OperandCount)],
    /// Options whose values are secrets.
    pub(crate) options: &'static [&'static str],
    /// Options whose joined values are secrets, in a style that joins no letters: `-pSECRET`.
    pub(crate) joined: &'static [&'static str],
    pub(crate) stdin: Option<SecretInput>,
}

/// Files of the project that a program loads although no word names them.
#[derive(Debug)]
pub(crate) struct LoadRule {
    /// Paths in the folder that is searched; the name may be a pattern.
    pub(crate) files: &'static [&'static str],
    pub(crate) search: FileSearch,
    /// Format of the files, if their settings decide.
    pub(crate) format: Option<SettingsFormat>,
    /// Patterns of settings, of which one has to match; empty if each of the files counts.
    pub(crate) settings: &'static [&'static str],
    /// Settings that name further files with settings.
    pub(crate) follows: &'static [&'static str],
    /// Modules: only their files count, and only where the program imports modules.
    pub(crate) modules: &'static [&'static str],
    /// `true` if the program changes files then; else it runs code.
    pub(crate) writes: bool,
    /// `true` if the program makes files then.
    pub(crate) creates: bool,
    /// `true` if a link that leads out of the project is no code of the project.
    pub(crate) inside_only: bool,
    /// Names of the command that loads the files; empty if all its names do.
    pub(crate) names: &'static [&'static str],
    /// Files, one of which has to be in the folder that is searched; empty if none has to.
    pub(crate) beside: &'static [&'static str],
    /// Files, none of which may be in the folder that is searched.
    pub(crate) unless: &'static [&'static str],
    /// Patterns of settings, each of which has to match in the same file.
    pub(crate) requires: &'static [&'static str],
    /// Options whose values name the files instead.
    pub(crate) instead: &'static [&'static str],
    /// Options, `NAME` or `NAME=VALUE`, one of which has to be there; empty if none has to.
    pub(crate) on: &'static [&'static str],
    /// Options, `NAME` or `NAME=VALUE`, with which it does not load the files.
    pub(crate) off: &'static [&'static str],
    /// Variables, `NAME` or `NAME=VALUE`, with which it does not load the files.
    pub(crate) off_variables: &'static [&'static str],
}

/// Folder of a version manager, whose programs (shims) stand for programs of the same names.
#[derive(Debug)]
pub(crate) struct ShimFolder {
    /// Path in the home folder.
    pub(crate) folder: &'static str,
    /// Files that name the program that a shim starts.
    pub(crate) loads: &'static [LoadRule],
}

/// Folders in which a program searches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSearch {
    /// The folder in which it runs.
    Folder,
    /// The folder in which it runs and those above it.
    Upwards,
    /// As `Upwards`, also from the files and folders that the operands name, and the folders below.
    Operands,
    /// No folder: the files that the operands name, and the files below the folders that they name.
    Named,
    /// The repository that it finds from the folder in which it runs.
    Repository,
    /// The repositories of the submodules of that repository.
    Submodules,
    /// The folder with the hooks of that repository.
    Hooks,
}

/// Where a program takes commands from, such as a pager's `!rm x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CommandSource {
    /// Its standard input, where that is a terminal.
    Stdin,
    /// The terminal, wherever its standard input comes from.
    Terminal,
    /// The terminal, if its standard output is one.
    TerminalOfStdout,
}

/// When a program takes commands from a terminal.
#[derive(Debug)]
pub(crate) struct InteractiveRule {
    pub(crate) source: CommandSource,
    /// Options with which it takes no commands.
    pub(crate) off: &'static [&'static str],
    /// Options with which it takes commands despite `off`.
    pub(crate) on: &'static [&'static str],
    /// Number of operands from which on it takes no commands.
    pub(crate) operands: Option<usize>,
}

/// When a program shows its output in the pager of the user.
#[derive(Debug)]
pub(crate) struct PagerRule {
    /// Options that turn the pager off; `None` if only an option turns it on.
    pub(crate) off: Option<&'static [&'static str]>,
    /// Options that turn the pager on.
    pub(crate) on: &'static [&'static str],
}

/// When a program prints the contents of its operands with the role `name`, and not only their
/// metadata.
#[derive(Debug)]
pub(crate) struct ContentsRule {
    /// Options with which it prints metadata only.
    pub(crate) off: &'static [&'static str],
    /// Options with which it prints contents.
    pub(crate) on: &'static [&'static str],
    /// Names of the command that prints contents only with an option of `on`.
    pub(crate) only_on: &'static [&'static str],
}

/// When a program reads all files in a folder: always if `on` is empty.
#[derive(Debug)]
pub(crate) struct RecursionRule {
    /// Options with which it reads the folder.
    pub(crate) on: &'static [&'static str],
    /// Options with which it does not read the folder.
    pub(crate) off: &'static [&'static str],
    /// Names of the program that reads the folder without an option.
    pub(crate) names: &'static [&'static str],
}

/// A program or one of its commands.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) does: Phrase,
    pub(crate) effect: Effect,
    pub(crate) given: Option<Effect>,
    pub(crate) operands: OperandList,
    pub(crate) options: OptionTable,
    pub(crate) style: Style,
    /// Name of its function in `programs/`.
    pub(super) function: Option<Phrase>,
    pub(crate) commands: CommandTable,
    pub(crate) details: Details,
}

/// The part of a table in which many programs and commands are alike.
#[derive(Debug)]
pub(crate) struct ProgramDetails {
    /// Path of another command of the program, whose commands are looked up after its own.
    pub(crate) commands_of: Option<&'static str>,
    pub(crate) options_anywhere: bool,
    pub(crate) reveals: Option<&'static str>,
    /// The secret that it prints if it has an operand.
    pub(crate) reveals_given: Option<&'static str>,
    /// `true` if its words may be text of a shell.
    pub(crate) shell_text: bool,
    /// `true` if it prints its words, or a part of them.
    pub(crate) prints_words: bool,
    /// `true` if it prints paths among its words, as they are or resolved.
    pub(crate) prints_paths: bool,
    /// The dialect of SQL that it speaks.
    pub(crate) dialect: SqlDialect,
    pub(crate) files_in_words: Option<FileNotation>,
    pub(crate) programs_in_words: Option<ProgramNotation>,
    pub(crate) sends: bool,
    /// `true` if `-` is the name of a file where the program writes to a file.
    pub(crate) dash_is_file: bool,
    /// `true` if addresses among its words are only text: the program connects to none.
    pub(crate) offline: bool,
    /// `true` if its words may be a place on another machine without `://`: `host:path`.
    pub(crate) hosts: bool,
    /// `true` if it only looks up or probes the machines among its words, and receives no data.
    pub(crate) probes: bool,
    /// Variables whose values it sends to a machine.
    pub(crate) shows: &'static [&'static str],
    /// `true` if an option with the effect `only` counts as the first word alone.
    pub(crate) only_first: bool,
    /// `true` if every word after an operand is an operand, also with a dash.
    pub(crate) options_first: bool,
    pub(crate) terminal: Option<InteractiveRule>,
    pub(crate) pager: Option<PagerRule>,
    pub(crate) contents: Option<ContentsRule>,
    /// When it reads all files in a folder among its operands.
    pub(crate) recurses: Option<RecursionRule>,
    /// The folder whose files it reads if no operand names one.
    pub(crate) finds: Option<&'static str>,
    /// Words that print its help if they are its only word.
    pub(crate) help: &'static [&'static str],
    pub(crate) variables: &'static [&'static str],
    /// Variables that change neither what the program runs nor what it writes.
    pub(crate) harmless_variables: &'static [&'static str],
    /// `true` if it replaces a word `@FILE` by the options and operands in the file.
    pub(crate) expands_files: bool,
    /// Options with which an agent runs without its own checks: a name, or a name with a value.
    pub(crate) unguarded: &'static [&'static str],
    pub(crate) harmless_config: &'static [&'static str],
    /// `runs_input` of the table, or of the table of the program that it is a command of.
    pub(crate) runs_input: bool,
    /// Files that decide its effect, at least one of which it needs. If the table has none, the files
    /// of the program above it.
    pub(crate) decided_by: &'static [FileLocator],
    /// Files that decide its effect and may all be missing.
    pub(crate) configured_by: &'static [FileLocator],
    /// The scripts of `package.json` or `composer.json` that it runs, and `operand` for the one
    /// that its first operand names.
    pub(crate) package_scripts: &'static [&'static str],
    /// `true` if it may replace files that exist.
    pub(crate) replaces_files: bool,
    /// Calls that change something outside of the project, whichever files they name. As with
    /// the other keys that select calls, only programs have patterns, and commands have none.
    pub(crate) outside: &'static [CallPattern],
    /// Calls that download packages, and may run their code.
    pub(crate) installs: &'static [CallPattern],
    /// Calls that run a package that they name, and download it if it is not installed.
    pub(crate) runs_packages: &'static [CallPattern],
    /// Folder with the programs of installed packages, which `runs_packages` prefers to a download.
    pub(crate) packages_in: Option<&'static str>,
    /// Calls that may put a symbolic link into a folder.
    pub(crate) places_links: &'static [CallPattern],
    /// Calls that record the files among their words and change none of them.
    pub(crate) keeps_files: &'static [CallPattern],
    /// Calls that control a target besides the files among their words.
    pub(crate) controls: &'static [(ControlTarget, &'static [CallPattern])],
    /// Calls that discard data of a repository besides the files among their words.
    pub(crate) discards: &'static [(DiscardedData, &'static [CallPattern])],
    /// Calls that set variables of the shell that their operands name.
    pub(crate) sets_shell_variables: &'static [CallPattern],
    /// The words with which it names an address to which it connects. As the keys below that have no
    /// method of a call, only programs have it.
    pub(crate) client: Option<ClientAddress>,
    pub(crate) file_operation: Option<FileOperation>,
    pub(crate) output: Option<OutputSource>,
    /// `true` if it changes only files that its words name.
    pub(crate) edits_named_files: bool,
    /// `true` if it changes the directory of the shell to its first operand.
    pub(crate) changes_directory: bool,
    pub(crate) slash_words: Option<SlashWords>,
    /// `true` if it sets variables by words such as `NAME=VALUE`.
    pub(crate) sets_variables: bool,
    /// `true` if it runs its standard input later.
    pub(crate) schedules_input: bool,
    /// Secrets among its operands, in values of options and on its standard input.
    pub(crate) secrets: &'static [SecretRule],
    /// Files of the project that it loads although no word names them.
    pub(crate) loads: &'static [LoadRule],
    /// Options without which a call without operands prints all variables; `None` if none does.
    pub(crate) prints_variables: Option<&'static [&'static str]>,
    /// `true` if it runs the command among its words on another machine or in a container.
    pub(crate) elsewhere: bool,
    /// `true` if it does nothing but run the scripts of `package_scripts`.
    pub(crate) runs_scripts: bool,
    /// Files of the settings that it reveals: in the folder, in those above it and in the home.
    pub(crate) reveals_from: &'static [&'static str],
    /// `true` if it only reads unless it loads one of the files in `loads`.
    pub(crate) loads_decide: bool,
}

/// Files that decide the effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileLocator {
    /// The values of these options.
    Options(&'static [&'static str]),
    /// The first operand.
    Operand,
    /// Every operand.
    Operands,
    /// A file of this name in the folder that an operand names.
    InOperand(&'static str),
    /// A file of this name in the folder that the value of one of these options names.
    InOption(&'static [&'static str], &'static str),
    /// A file of this name, for a command of the program that its table does not know.
    UnknownCommand(&'static str),
    /// A file of this name where the program runs; with `^` there and in every folder above.
    Manifest(&'static str),
}

/// How a program may run code from its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StdinUse {
    /// The standard input is data, according to the table.
    Data,
    /// The program is a wrapper: it passes its standard input to the command among its words, and
    /// may start a shell where there is none.
    PassedToCommand,
    /// The standard input may contain code or commands.
    MayRun,
}

impl Program {
    /// Returns `true` if an operand is a script in this language.
    pub(crate) fn takes_script_of(&self, language: Language) -> bool {
        let script = Role::Script(language);
        self.operands.iter().any(|(role, _)| *role == script)
    }

    /// Returns how the program may run its standard input. It follows from the roles of the table: an
    /// interpreter takes a script, a client takes statements, a wrapper takes a command.
    pub(crate) fn stdin_use(&self) -> StdinUse {
        let takes_code = |role: Role| match role {
            Role::Script(language) => !language.reads_data_from_stdin(),
            Role::Shell | Role::ScriptFile | Role::Argv { more: true } => true,
            _ => false,
        };
        // A file of code as the value of an option is often a setting of a program that runs no code.
        let option =
            |option: &OptionSpec| matches!(option.role, Role::Script(_)) && takes_code(option.role);
        if self.details.runs_input
            || self.effect == Effect::Code
            || self.operands.iter().any(|(role, _)| takes_code(*role))
            || self.options.values().any(option)
        {
            return StdinUse::MayRun;
        }
        let command = |role: Role| matches!(role, Role::Argv { more: false });
        match self.operands.iter().any(|(role, _)| command(*role)) {
            true => StdinUse::PassedToCommand,
            false => StdinUse::Data,
        }
    }

    /// Returns `true` if the program may connect to an address among its words. A text in another
    /// language connects only as code, which has separate findings.
    pub(crate) fn connects(&self) -> bool {
        use Language::{Lua, Node, Perl, Php, Python, Ruby};
        let interprets =
            |role: Role| matches!(role, Role::Script(Python | Node | Perl | Ruby | Php | Lua));
        let options = self.options.values().map(|option| option.role);
        let operands = self.operands.iter().map(|(role, _)| *role);
        !self.details.offline && !options.chain(operands).any(interprets)
    }

    /// Returns `true` if the program runs statements, or takes a password beside code: a client of a
    /// server, which never runs the password.
    pub(crate) fn is_client(&self) -> bool {
        let is_statement = |role: &Role| {
            matches!(
                role,
                Role::Script(Language::Sql | Language::Redis | Language::Mongo)
            )
        };
        let is_code = |role: &Role| {
            matches!(role, Role::Script(_) | Role::Argv { .. } | Role::Shell) && !is_statement(role)
        };
        let is_password = |option: &OptionSpec| {
            !matches!(option.secret, SecretShape::Unstated | SecretShape::Name)
        };
        let roles = || {
            let operands = self.operands.iter().map(|(role, _)| role);
            operands.chain(self.options.values().map(|option| &option.role))
        };
        let takes_password = !self.details.secrets.is_empty()
            || self.options.values().any(is_password)
            || roles().any(is_statement);
        takes_password && !roles().any(is_code)
    }

    /// Returns the command that a word names: by name, then by pattern, then among the commands of
    /// `commands_of`.
    pub(crate) fn command(&self, root: &Self, word: &str) -> Option<&'static Self> {
        let own_command = |place: &Self| {
            let fits = |(pattern, _): &(&str, _)| matches(pattern, word);
            // An unknown word may be the name of another command.
            let by_pattern = || {
                let known = !word.contains(crate::model::arg::UNKNOWN);
                known.then(|| place.commands.patterns().find(fits))?
            };
            let by_name = place.commands.get(word);
            by_name.or_else(|| by_pattern().map(|(_, command)| command))
        };
        own_command(self).or_else(|| {
            let mut names = self.details.commands_of?.split_whitespace().skip(1);
            own_command(
                names.try_fold(root, |place, name| place.commands.by_name_or_pattern(name))?,
            )
        })
    }

    /// Returns `true` if the program is a file of a project: the file decides what it does.
    pub(crate) fn is_file_of_project(&self, name: &str) -> bool {
        let mut files = self.details.configured_by.iter();
        files.any(|file| {
            matches!(file, FileLocator::Manifest(file) if file.trim_start_matches('^') == name)
        })
    }

    /// Returns the name of its function in `programs/`.
    pub(crate) fn function(&self) -> Option<&'static str> {
        self.function.map(Phrase::text)
    }

    pub(crate) fn has_commands(&self) -> bool {
        !self.commands.is_empty() || self.details.commands_of.is_some()
    }

    /// Returns `true` if all calls have one effect.
    pub(crate) fn has_single_effect(&self) -> bool {
        !self.has_commands()
            && self.given.is_none()
            && self.function.is_none()
            && self.options.values().all(|option| option.effect.is_none())
    }
}

/// Files whose contents run later.
#[derive(Debug)]
pub(crate) struct CodeFiles {
    names: &'static [&'static str],
    endings: &'static [&'static str],
    folders: &'static [&'static str],
}

/// When the table of a program was last compared with the program itself.
#[derive(Debug)]
pub struct TableCheck {
    /// The first name in the table of the program.
    pub program: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// Command that lists the commands and options of the program.
    pub by: &'static str,
    /// The day: `2026-11-25`.
    pub on: &'static str,
}

/// A variable that changes the effects of programs.
#[derive(Debug)]
pub(crate) struct VariableRule {
    pub(crate) pattern: &'static str,
    pub(crate) why: &'static str,
    pub(crate) harmless: &'static [&'static str],
    /// Folders of the system: a list of them, separated by colons, changes nothing.
    pub(crate) harmless_folders: &'static [&'static str],
    /// True if the value is a command line that programs run.
    pub(crate) runs_value: bool,
    /// True if the value is a list of files of settings, which may name programs.
    pub(crate) settings: bool,
    /// The only values with which it changes anything, if not all do.
    pub(crate) only: &'static [&'static str],
}

/// Tables of programs, variables and files that contain secrets.
#[derive(Debug)]
pub struct Tables {
    secrets: &'static secrets::SecretPaths,
}

impl Tables {
    /// Returns the tables that are compiled into this crate.
    #[must_use]
    pub fn embedded() -> &'static Self {
        static TABLES: Tables = Tables { secrets: &SECRETS };
        &TABLES
    }

    /// Iterates over the names of all programs, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        PROGRAMS_BY_NAME.names()
    }

    /// Returns `true` if the words of a program may be text of a shell, such as those of `sh` and
    /// `eval`.
    #[must_use]
    pub fn is_shell(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.shell_text)
    }

    /// Returns `true` if a program prints its words, or a part of them.
    pub(crate) fn prints_words(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.prints_words)
    }

    /// Returns `true` if a program prints paths among its words.
    pub(crate) fn prints_paths(&self, name: &str) -> bool {
        self.details_of(name)
            .is_some_and(|details| details.prints_paths)
    }

    fn details_of(&self, name: &str) -> Option<&'static ProgramDetails> {
        self.program(name).map(|program| program.details.get())
    }

    pub(crate) fn program(&self, name: &str) -> Option<&'static Program> {
        let named = |name| PROGRAMS_BY_NAME.get(name);
        named(name).or_else(|| named(without_exe(name)?))
    }

    /// Returns the name of a program without the `.exe` of Windows, unless a table has that name.
    pub(crate) fn without_suffix<'n>(&self, name: &'n str) -> &'n str {
        match without_exe(name) {
            Some(stem) if PROGRAMS_BY_NAME.get(name).is_none() => stem,
            _ => name,
        }
    }

    /// Returns `true` if a program that may run its standard input has this name, or this name
    /// without a version: `python3.99` is a `python`. For programs without a table.
    #[must_use]
    pub fn is_interpreter(&self, name: &str) -> bool {
        let runs_stdin = |name: &str| {
            let program = self.program(name);
            program.is_some_and(|program| program.stdin_use() != StdinUse::Data)
        };
        let digit = name.find(|c: char| c.is_ascii_digit());
        let stem = digit.map(|at| name[..at].trim_end_matches(['-', '.', '_']));
        runs_stdin(name) || stem.is_some_and(runs_stdin)
    }

    /// Returns the folders of version managers.
    pub(crate) fn shim_folders(&self) -> &'static [ShimFolder] {
        SHIMS
    }

    /// Returns `true` if there is a rule for a variable.
    pub(crate) fn has_variable_rule(&self, name: &str) -> bool {
        let mut rules = VARIABLES.iter();
        rules.any(|rule| matches(rule.pattern, name))
    }

    /// Returns `true` if a variable is known to change nothing for any program.
    pub(crate) fn is_harmless_variable(&self, name: &str) -> bool {
        HARMLESS_VARIABLES
            .iter()
            .any(|pattern| matches(pattern, name))
    }

    /// Returns the variable `name`, if the value changes the programs that run.
    pub(crate) fn variable_rule(
        &self,
        name: &str,
        value: Option<&str>,
    ) -> Option<&'static VariableRule> {
        VARIABLES.iter().find(|variable| {
            variable.only.is_empty()
                && matches(variable.pattern, name)
                && !value.is_some_and(|value| {
                    let of_system = |folder: &str| {
                        let mut folders = variable.harmless_folders.iter();
                        folders.any(|known| *known == folder)
                    };
                    value.split(':').all(of_system)
                        || variable.harmless.iter().any(|harmless| {
                            // A `*` fits one word.
                            matches(harmless, value)
                                && (*harmless == "*"
                                    || !harmless.contains('*')
                                    || !value.contains(|c: char| {
                                        c.is_whitespace() || "`$;&|<>()".contains(c)
                                    }))
                        })
                })
        })
    }

    /// Returns the variable that changes the programs that run with special values only, if `value` is
    /// special. A list begins with `(`.
    pub(crate) fn special_value_rule(
        &self,
        name: &str,
        value: &str,
    ) -> Option<&'static VariableRule> {
        let unknown = value.contains(crate::model::arg::UNKNOWN);
        let list = value.starts_with('(');
        VARIABLES.iter().find(|variable| {
            let is_special = |only: &&str| match *only {
                "$" => unknown,
                only if only.starts_with('(') && list && unknown => true,
                only => matches(only, value),
            };
            !variable.only.is_empty()
                && matches(variable.pattern, name)
                && variable.only.iter().any(is_special)
                && !variable.harmless.iter().any(|text| matches(text, value))
        })
    }

    /// Returns `true` if the contents of a file run later: a script, a file of start, a hook,
    /// settings that name programs.
    pub(crate) fn is_code_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        ending.is_some_and(|(_, ending)| CODE_FILES.endings.contains(&ending))
            || CODE_FILES.names.contains(&name.trim_start_matches('.'))
            || CODE_FILES
                .folders
                .iter()
                .any(|folder| path.contains(folder))
    }

    /// Returns `true` if a path is known to contain secrets.
    #[must_use]
    pub fn is_secret(&self, path: &str) -> bool {
        self.secrets.is_secret(path)
    }

    /// Returns `true` if reading the whole path may read secrets: the path is known to contain
    /// secrets, is a folder of secrets, or may be such a path by its unknown parts.
    #[must_use]
    pub fn may_read_secrets(&self, path: &str) -> bool {
        self.secrets.may_read_secrets(path)
    }

    /// Returns `true` if a name or pattern to search for fits names of secrets.
    #[must_use]
    pub fn matches_secret_names(&self, name: &str) -> bool {
        self.is_secret(name)
            || self.is_secret(&name.to_lowercase())
            || self.secrets.matches_names(name)
    }

    /// Returns `true` if a file that a path with wildcards or unknown parts fits may be a secret:
    /// its folder may contain secrets, and its name is not known to be harmless.
    #[must_use]
    pub fn may_be_private_file(&self, path: &str) -> bool {
        self.secrets.private.may_be_private_file(path) && !self.secrets.is_harmless(path)
    }

    /// Returns `true` if reading a path and all files below it may read a secret.
    #[must_use]
    pub fn may_read_secrets_below(&self, path: &str) -> bool {
        self.may_be_private_file(path) || self.secrets.private.may_be_private_folder(path)
    }

    /// Returns `true` if files of this name, which may be a pattern, contain source text and no
    /// secrets.
    pub(crate) fn is_source(&self, name: &str) -> bool {
        self.secrets.private.is_source(name)
    }

    /// Returns the path that a variable has where the command does not set it: `~` for `HOME`.
    pub(crate) fn default_path_of_variable(&self, variable: &str) -> Option<&str> {
        self.secrets.private.path_of_variable(variable)
    }

    /// Returns `true` if machines in clouds get their keys from a host.
    pub(crate) fn is_metadata_host(&self, host: &str) -> bool {
        self.secrets.hosts.contains(&host)
    }

    /// Returns the host of keys that a text in lower case contains as a whole name, or else the host
    /// whose address is a part of a longer name: there are services that resolve
    /// `169.254.169.254.nip.io`, `169-254-169-254.sslip.io` and `a9fea9fe.nip.io` to the address in the
    /// name.
    pub(crate) fn find_metadata_host(&self, text: &str) -> Option<&'static str> {
        hosts::find(self.secrets.host_spellings, text)
    }

    /// Returns `true` if no file of a name contains secrets.
    pub(crate) fn is_harmless_file(&self, name: &str) -> bool {
        self.secrets.is_harmless(name)
    }
}

/// Returns the name of a program before the `.exe` of Windows, if it ends so.
fn without_exe(name: &str) -> Option<&str> {
    let (stem, suffix) = name.split_at_checked(name.len().checked_sub(4)?)?;
    suffix.eq_ignore_ascii_case(".exe").then_some(stem)
}
