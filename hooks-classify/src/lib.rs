//! Classifies shell commands: the effect of every program that would run, and why.
//!
//! A command is parsed by two parsers, each program in it is looked up in tables of its options,
//! and the strongest effect decides: read, create, update or delete. Text that is not understood is
//! never a read. The crate runs nothing and reads no file.
//!
//! ```
//! use hooks_classify::{Classifier, Crud, Decision};
//!
//! let judgement = Classifier::new().judge("git push --force && ls")?;
//! assert_eq!(judgement.classification.crud, Crud::Delete);
//! assert_eq!(judgement.classification.decision, Decision::RequiresConfirmation);
//! let programs: Vec<_> = judgement.parts.runs().filter_map(|part| part.program()).collect();
//! assert_eq!(programs, ["git", "ls"]);
//! # Ok::<(), hooks_classify::InputError>(())
//! ```
//!
//! # Features
//! `python`, `javascript`, `sql` and `powershell` (all default) parse code of these languages; without
//! the feature, such code counts as code that is not shown. `utoipa` derives OpenAPI schemas.
#![forbid(unsafe_code)]

mod context;
mod explain;
pub mod host;
mod judge;
mod language;
mod parts;
mod shell;
mod tables;
mod verdict;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use explain::Explanation;
pub use judge::plain as plain_program;
pub use parts::{
    FileRead, Judgement, Manifest, Part, PartAssignment, PartCall, Parts, Script, Touch, UNKNOWN,
    UnseenCode, Word,
};
#[doc(hidden)]
pub use tables::Checked;
pub use tables::{Language, Tables};
pub use verdict::{Classification, Crud, Decision, Finding, Method, TerminalInput, ToolEffect};

use judge::Judge;
use parts::Recorder;
use thiserror::Error;

/// The longest command, in characters (P-01).
pub const MOST_CHARACTERS: usize = 10_000;
/// The longest context, in characters (P-01).
pub const MOST_CONTEXT: usize = 100;

/// A command that is none (P-03, P-04).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// P-03.
    #[error("the command is empty; say what is to be run")]
    Empty,
    /// P-04.
    #[error("the {field} has {length} characters; at most {most} are allowed")]
    TooLong {
        /// `command` or `context`.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// The limit in characters.
        most: usize,
    },
    /// No shell can be given a NUL.
    #[error("the command has a NUL character in it; remove it")]
    Nul,
    /// See [`Classifier::classify_bytes`].
    #[error("the command is not valid UTF-8; encode it as UTF-8")]
    Encoding,
}

/// Says of commands what they would do (P-07, P-09).
///
/// Cheap to make and to share: the tables are static data.
#[derive(Clone, Debug)]
pub struct Classifier {
    tables: &'static Tables,
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

impl Classifier {
    /// A classifier with the embedded tables.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: Tables::embedded(),
        }
    }

    /// Judges a command.
    ///
    /// # Errors
    /// When the command is empty, too long, or has a NUL in it.
    pub fn classify(&self, command: &str) -> Result<Classification, InputError> {
        self.classify_in(command, None)
    }

    /// Judges bytes that should be a command.
    ///
    /// # Errors
    /// As [`classify`](Self::classify), and when they are not UTF-8.
    pub fn classify_bytes(&self, command: &[u8]) -> Result<Classification, InputError> {
        self.classify(std::str::from_utf8(command).map_err(|_| InputError::Encoding)?)
    }

    /// Judges a command of which the caller says where it belongs (`git`,
    /// `npm`…). The context is recorded, and lowers no class. If it is the name
    /// of a program, and the command as it stands is not understood, then it is
    /// read as the words of that program as well (`tag -d v1`), which may
    /// raise the class; and a second stage is told it, which may, too.
    ///
    /// # Errors
    /// As [`classify`](Self::classify), and when the context is too long.
    pub fn classify_in(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<Classification, InputError> {
        Ok(self
            .by_tables(command, context, Recorder::default())?
            .verdict)
    }

    /// Classifies a command and returns its parts: programs with their options, files and hosts.
    ///
    /// # Errors
    /// As [`classify`](Self::classify).
    pub fn judge(&self, command: &str) -> Result<Judgement, InputError> {
        self.judge_in(command, None)
    }

    /// As [`judge`](Self::judge), with the context of [`classify_in`](Self::classify_in).
    ///
    /// # Errors
    /// As [`classify_in`](Self::classify_in).
    pub fn judge_in(&self, command: &str, context: Option<&str>) -> Result<Judgement, InputError> {
        let ByTables { verdict, judged } = self.by_tables(command, context, Recorder::on())?;
        Ok(Judgement::new(verdict, judged.map(|judged| judged.parts)))
    }

    /// Whether the name of a file says that it holds secrets, such as `~/.ssh/id_rsa` or `.env`.
    #[must_use]
    pub fn holds_secrets(&self, path: &str) -> bool {
        self.tables.secret(path)
    }

    /// Checks that a text is a command with a context that can be classified.
    ///
    /// # Errors
    /// If the command is empty, has a NUL or is longer than [`MOST_CHARACTERS`], or the context is
    /// longer than [`MOST_CONTEXT`].
    pub fn check_input(command: &str, context: Option<&str>) -> Result<(), InputError> {
        check(command)?;
        let length = context.map_or(0, |context| context.chars().count());
        if length > MOST_CONTEXT {
            return Err(InputError::TooLong {
                field: "context",
                length,
                most: MOST_CONTEXT,
            });
        }
        Ok(())
    }

    fn by_tables(
        &self,
        command: &str,
        context: Option<&str>,
        parts: Recorder,
    ) -> Result<ByTables, InputError> {
        Self::check_input(command, context)?;
        let judged = self.judged(command, parts);
        let mut verdict = match &judged {
            Some(judged) => Classification {
                terminal_input: judged.terminal_input,
                ..Classification::new(command, &judged.findings, judged.agreed)
            },
            None => Classification::fallback("the command could not be analysed"),
        };
        let known = |name: &str| self.tables.program(name).is_some();
        if let Some(text) = context::within(command, context, &verdict, known)
            && let Some(inner) = self.judged(&text, Recorder::default())
        {
            let terminal_input = verdict.terminal_input.max(inner.terminal_input);
            let inner = Classification::new(&text, &inner.findings, inner.agreed);
            verdict = context::raised(verdict, context.unwrap_or_default().trim(), &inner);
            verdict.terminal_input = terminal_input;
        }
        verdict.context = context.map(str::to_owned);
        Ok(ByTables { verdict, judged })
    }

    /// Returns the parts of a text, whose length is not limited. Returns `None` if the analysis
    /// panicked or could not be finished.
    #[must_use]
    pub fn parts(&self, command: &str) -> Option<Parts> {
        self.judged(command, Recorder::on())
            .map(|judged| judged.parts)
    }

    /// Draws what would run, with effects and reasons.
    ///
    /// # Errors
    /// As [`classify`](Self::classify).
    pub fn explain(&self, command: &str) -> Result<Explanation, InputError> {
        let ByTables { verdict, judged } = self.by_tables(command, None, Recorder::on())?;
        Ok(Explanation::new(command, verdict, judged))
    }

    fn judged(&self, command: &str, parts: Recorder) -> Option<Judged> {
        let tables = self.tables;
        let run = || {
            catch_unwind(AssertUnwindSafe(|| {
                let mut judge = Judge::new(tables);
                judge.parts = parts;
                judge.whole(command);
                Judged {
                    findings: judge.findings,
                    steps: judge.steps,
                    parts: judge.parts.done(command, judge.agreed, judge.complete),
                    agreed: judge.agreed,
                    terminal_input: judge.terminal_input,
                }
            }))
            .ok()
        };
        if !shell::deep(command) {
            return run();
        }
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(256 << 20)
                .spawn_scoped(scope, run)
                .ok()?
                .join()
                .ok()?
        })
    }
}

/// What the tables say.
struct ByTables {
    verdict: Classification,
    /// None if there was no end to the walk.
    judged: Option<Judged>,
}

/// What a walk found.
#[derive(Debug)]
pub(crate) struct Judged {
    findings: Vec<judge::Finding>,
    steps: Vec<judge::Step>,
    agreed: bool,
    terminal_input: TerminalInput,
    parts: Parts,
}

fn check(command: &str) -> Result<(), InputError> {
    if command.trim().is_empty() {
        return Err(InputError::Empty);
    }
    if command.len() > MOST_CHARACTERS {
        let length = command.chars().count();
        if length > MOST_CHARACTERS {
            return Err(InputError::TooLong {
                field: "command",
                length,
                most: MOST_CHARACTERS,
            });
        }
    }
    if command.contains('\0') {
        return Err(InputError::Nul);
    }
    Ok(())
}

/// A program of the tables.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ProgramEntry {
    /// What it is called.
    pub names: Vec<String>,
    /// Whether every call has the one effect.
    pub one_effect: bool,
    /// When its table was last compared with the program itself.
    pub checked: Option<&'static Checked>,
}

/// All programs of the embedded tables.
#[doc(hidden)]
#[must_use]
pub fn programs() -> Vec<ProgramEntry> {
    let tables = Tables::embedded();
    let mut entries: Vec<(*const tables::Program, ProgramEntry)> = Vec::new();
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
                    one_effect: program.single(),
                    checked: None,
                };
                entries.push((key, entry));
            }
        }
    }
    let with_origin = |(_, mut entry): (_, ProgramEntry)| {
        let of_entry = |checked: &&Checked| entry.names.iter().any(|name| name == checked.program);
        entry.checked = tables::CHECKED.iter().find(of_entry);
        entry
    };
    entries.into_iter().map(with_origin).collect()
}
