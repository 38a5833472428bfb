//! What a command is made of: every program that would run, with its words,
//! the files it names, its redirections and assignments.
//!
//! [`Parts`] are what rules are held against, and what an explanation tells; they
//! are recorded on the same walk that classifies the command. What is known only
//! when the command runs is marked so, and never left out.

use super::arg::{Arg, UNKNOWN};
use super::effect::Crud;
use super::language::Language;
use super::program_name::plain_program;
use super::span::Span;
use super::unseen_code::UnseenCode;

/// What a command is made of (P-09).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parts {
    /// In the order in which they were met; what one runs comes after it.
    pub all: Vec<Part>,
    /// Whether both parsers read every text the same.
    pub agreed: bool,
    /// Whether everything was followed to its end.
    pub complete: bool,
    /// Whether a function is defined.
    pub functions: bool,
    /// Whether something is substituted outside of any part, such as in the list of a loop.
    pub substitutions: bool,
    /// The strongest effect that has to be asked about and belongs to no part.
    pub loose: Option<Crud>,
    /// The texts in other languages that run, each with the part that runs it.
    pub scripts: Vec<Script>,
    /// Where code that belongs to no part comes from, if it is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// A command that would run: a program with its words; or, without words, what stands around
/// others or alone: a group with redirections, an assignment (P-09).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Where it begins in the command, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// The part that runs this one, by its place in [`Parts::all`]: a wrapper such as `sudo`, a
    /// shell with `-c`, the command in which it is substituted, the group around it.
    pub within: Option<usize>,
    /// The program and what it is told, after expansion as far as that is known.
    pub words: Vec<Word>,
    /// What its tables make of it; several where a program stands for another.
    pub calls: Vec<PartCall>,
    /// The files that it names, as far as its tables tell.
    pub touches: Vec<Touch>,
    /// Its own redirections from and to files; none to nowhere (`/dev/null`), none between
    /// descriptors.
    pub redirections: Vec<Touch>,
    /// The files whose contents it reads, also those of which only a folder is known.
    pub reads: Vec<FileRead>,
    /// The texts that it is given by here-documents and here-strings.
    pub documents: Vec<Word>,
    /// The variables that it sets.
    pub assignments: Vec<PartAssignment>,
    /// Whether something is substituted in it.
    pub substitutions: bool,
    /// Whether it reads a pipe, a file or a document; what that holds, if it is known.
    pub input: Option<Option<String>>,
    /// Whether it is told a setting that may change what runs (`git -c core.pager=…`).
    pub told: bool,
    /// The strongest effect of its own, without what it runs.
    pub effect: Crud,
    /// The strongest effect of it and of all that it runs in turn.
    pub effect_in_all: Crud,
    /// Whether something about it has to be asked about.
    pub ask: bool,
    /// Whether it runs code that the command does not show, or is not understood.
    pub code: bool,
    /// Whether code in what it reads may run: it is an interpreter, a client of one, or a wrapper
    /// that may start a shell.
    pub runs_input: bool,
    /// The files whose code it runs, which its words name: the script of an interpreter, a
    /// program by its path.
    pub code_files: Vec<Word>,
    /// Words that name files which decide what it does, if there are such files.
    pub settings_files: Vec<Word>,
    /// Whether it may put other files in place of those that are there, such as `git pull`.
    pub replaces_files: bool,
    /// The files that it looks up by a name of its own, such as `Makefile`.
    pub manifests: Vec<Manifest>,
    /// The scripts of a manifest that it runs, such as `test` of `package.json`.
    pub package_scripts: Vec<Word>,
    /// Where code that it runs comes from, if that is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// A file that a program looks up by a name that its table knows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// Its name, as the key `decided_by` of a table has it.
    pub pattern: String,
    /// The folder that is searched, if it is not the one in which the command runs.
    pub folder: Option<Word>,
    /// Whether the program does nothing without one of them.
    pub needed: bool,
}

/// A word after quotes and expansions, as far as these are known (P-09).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// Its text, with [`UNKNOWN`] for what is not known.
    pub text: String,
    /// Whether all of it is known, and that it is one word.
    pub known: bool,
    /// Whether it is a pattern, in whose place the shell puts names of files.
    pub pattern: bool,
    /// Where it stands in the command, in bytes; for a word of a text within the text, such as
    /// that of `sh -c`, where the outer word stands.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// A command as its table reads it (P-09).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PartCall {
    /// `["git", "push"]`
    pub path: Vec<String>,
    /// Its options by the names that the table has for them, with their values.
    pub options: Vec<(String, Option<Word>)>,
    /// Its operands.
    pub operands: Vec<Word>,
    /// Whether the table knows all of it.
    pub understood: bool,
    /// Whether it may connect to an address among its words.
    pub connects: bool,
    /// Whether it connects to this machine, because no option names another.
    pub connects_here: bool,
}

/// A text in another language that a part runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Its language.
    pub language: Language,
    /// Its text, with [`UNKNOWN`] for what is not known.
    pub text: String,
    /// The part, by its place in [`Parts::all`].
    pub part: Option<usize>,
}

/// A file that is named (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touch {
    /// Its path, as it is given.
    pub path: Word,
    /// What happens to it.
    pub effect: Crud,
}

/// A file whose contents are read (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Its path, with `~` for the user's home where the command has a variable for it.
    pub path: Word,
    /// Whether all that lies in it is read, if it is a folder.
    pub below: bool,
}

/// A variable that is set (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartAssignment {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
}

impl Part {
    pub(crate) fn new(span: Span) -> Self {
        Self {
            start: span.start,
            end: span.end,
            within: None,
            words: Vec::new(),
            calls: Vec::new(),
            touches: Vec::new(),
            reads: Vec::new(),
            redirections: Vec::new(),
            documents: Vec::new(),
            assignments: Vec::new(),
            substitutions: false,
            input: None,
            told: false,
            effect: Crud::Read,
            effect_in_all: Crud::Read,
            ask: false,
            code: false,
            runs_input: false,
            code_files: Vec::new(),
            settings_files: Vec::new(),
            replaces_files: false,
            manifests: Vec::new(),
            package_scripts: Vec::new(),
            unseen_code: None,
        }
    }

    /// Every word, in whatever it is told.
    pub(crate) fn every_word(&mut self) -> impl Iterator<Item = &mut Word> {
        let calls = self.calls.iter_mut().flat_map(|call| {
            let options = call.options.iter_mut();
            let values = options.filter_map(|(_, value)| value.as_mut());
            values.chain(&mut call.operands)
        });
        let files = self.touches.iter_mut().chain(&mut self.redirections);
        let values = self.assignments.iter_mut().map(|one| &mut one.value);
        (self.words.iter_mut())
            .chain(calls)
            .chain(files.map(|file| &mut file.path))
            .chain(self.reads.iter_mut().map(|file| &mut file.path))
            .chain(&mut self.documents)
            .chain(values)
    }

    /// The program, without the folder if that is one of the system's; nothing if that is only
    /// known when it runs, or nothing runs.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.words.first().filter(|name| !name.pattern)?;
        name.value().map(plain_program)
    }

    /// The arguments, as far as they are known.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).filter_map(Word::value)
    }
}

impl Parts {
    /// The programs that would run, each before those that it runs in turn; one in a loop more
    /// than once.
    pub fn runs(&self) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(|part| !part.words.is_empty())
    }

    /// The files that something is redirected from or to.
    pub fn redirections(&self) -> impl Iterator<Item = &Touch> {
        self.all.iter().flat_map(|part| &part.redirections)
    }
}

impl Word {
    pub(crate) fn of(arg: &Arg) -> Self {
        Self {
            text: arg.text.clone(),
            known: arg.known() && !arg.glob && !arg.many && !arg.maybe,
            pattern: arg.glob,
            start: arg.span.start,
            end: arg.span.end,
        }
    }

    /// Returns a known word that stands nowhere in the command.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            known: true,
            ..Self::default()
        }
    }

    /// What the program would be given; nothing if a part of it is only known when it runs.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN)).then_some(&self.text)
    }

    /// The same word, with a part of its text.
    #[must_use]
    pub fn with(&self, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..self.clone()
        }
    }
}

impl Touch {
    pub(crate) fn of(arg: &Arg, effect: Crud) -> Self {
        Self {
            path: Word::of(arg),
            effect,
        }
    }
}
