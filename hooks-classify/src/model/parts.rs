//! [`Parts`] of a command: every program that would run, with its words, files, redirections and
//! assignments.
//!
//! Rules match [`Parts`], and explanations show them. The interpreter records them while it
//! classifies the command. Words that are only known when the command runs are marked, never left
//! out.

use std::ops::Range;

use super::arg::{Arg, UNKNOWN};
use super::effect::Crud;
use super::language::Language;
use super::program_name::without_system_folder;
use super::secret_shape::{SecretInput, SecretShape};
use super::span::Span;
use super::unseen_code::UnseenCode;

/// Parts of a command.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parts {
    /// All parts in the order of the walk; a part precedes the parts that it runs.
    pub all: Vec<Part>,
    /// `true` if both parsers agree on every text.
    pub parsers_agree: bool,
    /// `true` if the interpreter followed the whole command.
    pub complete: bool,
    /// `true` if the command defines a function.
    pub defines_functions: bool,
    /// `true` if the command has a substitution outside all parts, such as in the list of a loop.
    pub has_substitutions: bool,
    /// Strongest effect that must be confirmed and belongs to no part.
    pub effect_outside_parts: Option<Crud>,
    /// Scripts in other languages, each with the part that runs it.
    pub scripts: Vec<Script>,
    /// Source of code that belongs to no part and is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
    /// The command.
    pub(crate) command: String,
}

impl Parts {
    /// Returns the command.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns `true` if [`all`](Self::all) has every command that a shell would run: both parsers
    /// agree on every text, and the interpreter followed the whole command.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.parsers_agree && self.complete
    }
}

/// Command that would run: a program with its words. A part without words is a group with
/// redirections or an assignment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Start in the command, in bytes.
    pub start: usize,
    /// End in the command, in bytes.
    pub end: usize,
    /// Index in [`Parts::all`] of the part that runs this part: a wrapper such as `sudo`, a shell
    /// with `-c`, the command around a substitution, the surrounding group.
    pub parent: Option<usize>,
    /// Program and arguments after expansion.
    pub words: Vec<Word>,
    /// Calls as tables read them; several if a program is an alias of another program.
    pub calls: Vec<PartCall>,
    /// Files that the words name, according to the tables.
    pub path_effects: Vec<PathEffect>,
    /// Redirections from and to files, without `/dev/null` and without descriptors.
    pub redirections: Vec<PathEffect>,
    /// Hosts that the words and redirections name, as the URL standard reads them.
    pub hosts: Vec<PartHost>,
    /// Files whose contents the part reads, including files of which only the folder is known.
    pub file_reads: Vec<FileRead>,
    /// Texts of here-documents and here-strings.
    pub here_documents: Vec<Word>,
    /// Variables that the part sets.
    pub assignments: Vec<PartAssignment>,
    /// `true` if the part contains a substitution.
    pub has_substitutions: bool,
    /// Input from a pipe, a file or a document, with its text if that is known; `None` without such
    /// an input.
    pub input: Option<Option<String>>,
    /// `true` if the part sets a configuration option that may change which programs run (`git -c
    /// core.pager=…`).
    pub has_config_override: bool,
    /// Strongest effect of the part itself.
    pub effect: Crud,
    /// Strongest effect of the part and of all parts that it runs.
    pub effect_with_children: Crud,
    /// `true` if the part must be confirmed.
    pub ask: bool,
    /// `true` if the part must be confirmed because of its program, `false` if only because of its
    /// redirections.
    pub asks_by_program: bool,
    /// `true` if the part runs code that the command does not show, or is not understood.
    pub is_opaque: bool,
    /// `true` if code in its input may run: the part is an interpreter, a client of one, or a
    /// wrapper that may start a shell.
    pub runs_input: bool,
    /// Files named by the words whose code runs: the script of an interpreter, a program by its
    /// path.
    pub code_files: Vec<Word>,
    /// Words that may name files with settings of the program.
    pub settings_files: Vec<Word>,
    /// `true` if the part may replace existing files, such as `git pull`.
    pub replaces_files: bool,
    /// Files that the program looks up by a fixed name, such as `Makefile`.
    pub manifests: Vec<Manifest>,
    /// Scripts of a manifest that the part runs, such as `test` of `package.json`.
    pub package_scripts: Vec<Word>,
    /// Source of code that the part runs and that is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
    /// Parts whose output the part reads from a pipe.
    pub(crate) fed_by: Option<Range<usize>>,
    /// Texts that the part runs in a shell.
    pub(crate) run_texts: Vec<Word>,
    /// Values of variables and settings that name programs.
    pub(crate) run_values: Vec<Word>,
    /// Variables that the words of the part expand.
    pub(crate) expansions: Vec<Expansion>,
}

/// Expansion of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expansion {
    /// Name of the variable, or a sign such as `@`.
    pub(crate) name: String,
    /// The word that has the expansion.
    pub(crate) span: Span,
}

/// File that a program looks up by a name from its table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// Pattern of the name, from the key `decided_by` of the table.
    pub pattern: String,
    /// Folder of the file; `None` for the working directory.
    pub folder: Option<Word>,
    /// `true` if the program does nothing without the file.
    pub required: bool,
}

/// Word after quote removal and expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// Text, with [`UNKNOWN`] for each unknown part.
    pub text: String,
    /// `true` if the text is known and is exactly one word.
    pub known: bool,
    /// `true` if the word is a pattern that the shell replaces by file names.
    pub is_glob: bool,
    /// Start in the command, in bytes. A word of a nested text, such as the text of `sh -c`, has
    /// the position of the outer word.
    pub start: usize,
    /// End in the command, in bytes.
    pub end: usize,
}

/// Call of a program as its table reads it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PartCall {
    /// `["git", "push"]`
    pub path: Vec<String>,
    /// Options by their names in the table, with their values.
    pub options: Vec<(String, Option<Word>)>,
    /// Operands.
    pub operands: Vec<Word>,
    /// `true` if the table knows every word.
    pub understood: bool,
    /// `true` if addresses among its words are only text, by its table.
    pub offline: bool,
    /// `true` if the program may connect to an address among its words.
    pub connects: bool,
    /// `true` if the program connects to this machine because no option names another host.
    pub connects_to_localhost: bool,
    /// Words that the table reads as secrets or as names of secrets.
    pub(crate) secret_words: Vec<(Word, SecretShape)>,
    /// Values of options that are neither text nor secrets: files, programs, scripts.
    pub(crate) plain_values: Vec<Word>,
    /// Words with code: a script, a program.
    pub(crate) code_words: Vec<Word>,
    /// Secrets that the program reads from its standard input.
    pub(crate) secret_input: Option<SecretInput>,
    /// `true` if the program prints its words.
    pub(crate) prints_words: bool,
    /// `true` if the program sets variables by its words: `env`, `docker run -e`.
    pub(crate) sets_variables: bool,
    /// `true` if the program runs its input later: `crontab`.
    pub(crate) schedules_input: bool,
    /// `true` if the program runs statements and takes a password, which it never runs.
    pub(crate) is_client: bool,
}

/// Script in another language that a part runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Language of the script.
    pub language: Language,
    /// Text, with [`UNKNOWN`] for each unknown part.
    pub text: String,
    /// Index of the part in [`Parts::all`].
    pub part: Option<usize>,
}

/// Effect on a file that a word names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathEffect {
    /// Path as the word gives it.
    pub path: Word,
    /// Effect on the file.
    pub effect: Crud,
}

/// Host that a part names: in an address, as a host by its table, or in `/dev/tcp/host/port`.
///
/// A part may reach other hosts, which settings or code name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartHost {
    /// The host, normalized by [`host::normalize`](crate::host::normalize): `2130706433` is `127.0.0.1`.
    /// It has [`UNKNOWN`] for each unknown part.
    pub name: String,
    /// The word that names the host.
    pub word: Word,
}

/// File whose contents are read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Path, with `~` for a variable that contains the home directory.
    pub path: Word,
    /// `true` if a folder is read with everything below it.
    pub recursive: bool,
}

/// Variable that a part sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartAssignment {
    /// Name of the variable.
    pub name: String,
    /// Value of the variable.
    pub value: Word,
}

impl Part {
    pub(crate) fn new(span: Span) -> Self {
        Self {
            start: span.start,
            end: span.end,
            parent: None,
            words: Vec::new(),
            calls: Vec::new(),
            path_effects: Vec::new(),
            hosts: Vec::new(),
            file_reads: Vec::new(),
            redirections: Vec::new(),
            here_documents: Vec::new(),
            assignments: Vec::new(),
            has_substitutions: false,
            input: None,
            has_config_override: false,
            effect: Crud::Read,
            effect_with_children: Crud::Read,
            ask: false,
            asks_by_program: false,
            is_opaque: false,
            runs_input: false,
            code_files: Vec::new(),
            settings_files: Vec::new(),
            replaces_files: false,
            manifests: Vec::new(),
            package_scripts: Vec::new(),
            unseen_code: None,
            fed_by: None,
            run_texts: Vec::new(),
            run_values: Vec::new(),
            expansions: Vec::new(),
        }
    }

    /// Returns every word of the part.
    pub(crate) fn every_word(&mut self) -> impl Iterator<Item = &mut Word> {
        let calls = self.calls.iter_mut().flat_map(|call| {
            let options = call.options.iter_mut();
            let values = options.filter_map(|(_, value)| value.as_mut());
            let secrets = call.secret_words.iter_mut().map(|(word, _)| word);
            (values.chain(&mut call.operands).chain(secrets))
                .chain(&mut call.plain_values)
                .chain(&mut call.code_words)
        });
        let files = self.path_effects.iter_mut().chain(&mut self.redirections);
        let values = self.assignments.iter_mut().map(|one| &mut one.value);
        let values = values
            .chain(&mut self.run_texts)
            .chain(&mut self.run_values);
        (self.words.iter_mut())
            .chain(calls)
            .chain(files.map(|file| &mut file.path))
            .chain(self.file_reads.iter_mut().map(|file| &mut file.path))
            .chain(self.hosts.iter_mut().map(|host| &mut host.word))
            .chain(&mut self.here_documents)
            .chain(values)
    }

    /// Returns the name of the program, without a system folder. Returns `None` if the name is
    /// unknown or the part has no words.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.words.first().filter(|name| !name.is_glob)?;
        name.value().map(without_system_folder)
    }

    /// Returns `true` if the tables know the program and every word of the part, so that its calls
    /// have all options and operands.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.understood)
    }

    /// Returns `true` if the part names a host that is not this machine.
    #[must_use]
    pub fn names_other_host(&self) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.any(|host| !crate::host::is_localhost(&host.name))
    }

    /// Returns the known arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).filter_map(Word::value)
    }
}

impl Parts {
    /// Returns the programs that would run, each before the programs that it runs. A program in a
    /// loop may occur more than once.
    pub fn runs(&self) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(|part| !part.words.is_empty())
    }

    /// Returns the files of all redirections.
    pub fn redirections(&self) -> impl Iterator<Item = &PathEffect> {
        self.all.iter().flat_map(|part| &part.redirections)
    }
}

impl Word {
    pub(crate) fn of(arg: &Arg) -> Self {
        Self {
            text: arg.text.clone(),
            known: arg.is_known() && !arg.glob && !arg.may_split && arg.overridden.is_none(),
            is_glob: arg.glob,
            start: arg.span.start,
            end: arg.span.end,
        }
    }

    /// Returns a known word without a position in the command.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            known: true,
            ..Self::default()
        }
    }

    /// Returns the text, or `None` if a part of it is unknown.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN)).then_some(&self.text)
    }

    /// Returns the word with a part of its text.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..self.clone()
        }
    }
}

impl PartHost {
    pub(crate) fn new(host: &str, arg: &Arg) -> Self {
        Self {
            name: crate::host::normalize(host),
            word: Word::of(arg),
        }
    }
}

impl PathEffect {
    pub(crate) fn of(arg: &Arg, effect: Crud) -> Self {
        Self {
            path: Word::of(arg),
            effect,
        }
    }
}
