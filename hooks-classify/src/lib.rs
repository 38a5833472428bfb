//! Classifies shell commands by their effects: read, create, update or delete, with the reason for
//! each.
//!
//! Two parsers read a command, and tables of programs define the effect of each option and operand.
//! The strongest effect decides the class. An unknown program or option is never a read. The crate
//! runs nothing, reads no file and opens no connection.
//!
//! ```
//! use hooks_classify::{Classifier, Crud, Decision};
//!
//! let analysis = Classifier::new().analyze("git push --force && ls")?;
//! assert_eq!(analysis.classification.crud, Crud::Delete);
//! assert_eq!(analysis.classification.decision, Decision::RequiresConfirmation);
//! let programs: Vec<_> = analysis.parts.runs().filter_map(|part| part.program()).collect();
//! assert_eq!(programs, ["git", "ls"]);
//! # Ok::<(), hooks_classify::InputError>(())
//! ```
//!
//! | Type | Description |
//! |---|---|
//! | [`Classifier`] | classifies commands; cheap to create and to clone |
//! | [`CommandAnalysis`] | classification and parts of one command |
//! | [`Classification`], [`Finding`] | class, decision, confidence; effect and reason of each span |
//! | [`Parts`], [`Part`] | programs with words, options, files, hosts, redirections, variables |
//! | [`Explanation`] | the command with its findings, for a terminal |
//! | [`host`] | functions that read hosts in words |
//!
//! # Features
//! `python`, `javascript`, `sql` and `powershell` (all default) parse code of these languages.
//! Without the feature, such code counts as code that the command does not show. `utoipa` derives
//! OpenAPI schemas.
#![forbid(unsafe_code)]

// Layers, the lowest first. A layer imports the layers above it in this list and none below it;
// `tests/layers.rs` checks the imports.

// Words in, the hosts that they name out.
pub mod host;
// Data types of all layers: words, effects, spans, parts, the syntax tree of a script.
mod model;
// Shell text in, its syntax tree out, read by two parsers.
mod shell;
// The name of a program, variable or path in, static data about it out.
mod tables;
// The words of a command and a table in, its options, values and operands out.
mod options;
// The list of effects and commands that `languages` and `programs` return.
mod analysis;
// A script in another language than the shell's in, its analysis out.
mod languages;
// A call of a program in, its analysis out.
mod programs;
// The interpreter: a script in, findings and parts out. Performs each analysis.
mod walk;
// Findings in, class, decision, confidence and reason out.
mod classification;
// A classification and the context of the caller in, an equal or stronger class out.
mod context;
// A classification and its parts in, text for a terminal out.
mod explain;
// The name of a program in, its entry in the tables out, for tests.
mod inspect;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use classification::{Classification, CommandAnalysis, Decision, Finding, Method, ToolEffect};
pub use explain::Explanation;
#[doc(hidden)]
pub use inspect::{
    CommandLine, OptionEntry, ProgramEntry, options_of, programs, read_command_line,
};
pub use model::arg::UNKNOWN;
pub use model::effect::Crud;
pub use model::language::Language;
pub use model::parts::{
    FileRead, Manifest, Part, PartAssignment, PartCall, PartHost, Parts, PathEffect, Script, Word,
};
pub use model::program_name::without_system_folder;
pub use model::terminal_input::TerminalInput;
pub use model::unseen_code::UnseenCode;
pub use tables::{TableCheck, Tables};

use model::trace::Trace;
use thiserror::Error;
use walk::interpreter::Interpreter;
use walk::recorder::Recorder;

/// Compiles the Rust blocks of the README and of the page in the book as tests of this crate.
#[cfg(all(doctest, feature = "sql"))]
mod pages {
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../../docs/hooks-classify.md")]
    mod book {}
}

/// Maximum length of a command, in characters.
pub const MAX_COMMAND_CHARS: usize = 10_000;
/// Maximum length of a context, in characters.
pub const MAX_CONTEXT_CHARS: usize = 100;

/// Error for a text that is not a command.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// The command is empty or has blanks only.
    #[error("the command is empty; pass a command")]
    Empty,
    /// The command or the context is too long.
    #[error("the {field} has {length} characters; at most {max} are allowed")]
    TooLong {
        /// Name of the field: `command` or `context`.
        field: &'static str,
        /// Length in characters.
        length: usize,
        /// Maximum length in characters.
        max: usize,
    },
    /// The command has a NUL, which no shell accepts.
    #[error("the command has a NUL character in it; remove it")]
    Nul,
    /// The bytes of the command are not UTF-8; see [`Classifier::classify_bytes`].
    #[error("the command is not valid UTF-8; encode it as UTF-8")]
    Encoding,
}

/// Classifier of shell commands.
///
/// A classifier is cheap to create, to clone and to share between threads. The tables are part of the
/// crate.
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
    /// Creates a classifier with the embedded tables.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: Tables::embedded(),
        }
    }

    /// Classifies a command.
    ///
    /// # Errors
    /// Returns an error if the command is empty, too long or contains a NUL.
    pub fn classify(&self, command: &str) -> Result<Classification, InputError> {
        self.classify_in_context(command, None)
    }

    /// Classifies a command that may not be UTF-8.
    ///
    /// # Errors
    /// As [`classify`](Self::classify), and if the bytes are not UTF-8.
    pub fn classify_bytes(&self, command: &[u8]) -> Result<Classification, InputError> {
        self.classify(std::str::from_utf8(command).map_err(|_| InputError::Encoding)?)
    }

    /// Classifies a command with a context, for example `git`.
    ///
    /// A context never lowers a class. If the context is the name of a program and the command is
    /// not understood, the command is also read as the words of the program: `tag -d v1` as
    /// `git tag -d v1`. The second reading may raise the class.
    ///
    /// # Errors
    /// As [`classify`](Self::classify), and if the context is too long.
    pub fn classify_in_context(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<Classification, InputError> {
        Ok(self
            .classify_with_tables(command, context, Recorder::default())?
            .classification)
    }

    /// Classifies a command and returns its parts: programs with their options, files and hosts.
    ///
    /// ```
    /// use hooks_classify::{Classifier, Crud};
    ///
    /// let analysis = Classifier::new().analyze("curl https://example.com/a > a.html")?;
    /// let part = &analysis.parts.all[0];
    /// assert_eq!(part.hosts[0].name, "example.com");
    /// assert_eq!(part.redirections[0].path.value(), Some("a.html"));
    /// assert_eq!(part.redirections[0].effect, Crud::Create);
    /// # Ok::<(), hooks_classify::InputError>(())
    /// ```
    ///
    /// # Errors
    /// As [`classify`](Self::classify).
    pub fn analyze(&self, command: &str) -> Result<CommandAnalysis, InputError> {
        self.analyze_in_context(command, None)
    }

    /// As [`analyze`](Self::analyze), with the context of [`classify_in_context`](Self::classify_in_context).
    ///
    /// # Errors
    /// As [`classify_in_context`](Self::classify_in_context).
    pub fn analyze_in_context(
        &self,
        command: &str,
        context: Option<&str>,
    ) -> Result<CommandAnalysis, InputError> {
        let TracedClassification {
            classification,
            trace,
        } = self.classify_with_tables(command, context, Recorder::enabled())?;
        Ok(CommandAnalysis::new(
            classification,
            trace.map(|trace| trace.parts),
        ))
    }

    /// Returns `true` if a path is known to contain secrets, for example `~/.ssh/id_rsa` or `.env`.
    #[must_use]
    pub fn is_secret_path(&self, path: &str) -> bool {
        self.tables.is_secret(path)
    }

    /// Checks that a text is a command with a context that can be classified.
    ///
    /// # Errors
    /// If the command is empty, has a NUL or is longer than [`MAX_COMMAND_CHARS`], or the context is
    /// longer than [`MAX_CONTEXT_CHARS`].
    pub fn check_input(command: &str, context: Option<&str>) -> Result<(), InputError> {
        check(command)?;
        let length = context.map_or(0, |context| context.chars().count());
        if length > MAX_CONTEXT_CHARS {
            return Err(InputError::TooLong {
                field: "context",
                length,
                max: MAX_CONTEXT_CHARS,
            });
        }
        Ok(())
    }

    fn classify_with_tables(
        &self,
        command: &str,
        context: Option<&str>,
        parts: Recorder,
    ) -> Result<TracedClassification, InputError> {
        Self::check_input(command, context)?;
        let trace = self.trace(command, parts);
        let mut classification = match &trace {
            Some(trace) => Classification {
                terminal_input: trace.terminal_input,
                ..Classification::new(command, &trace.findings, trace.parsers_agree)
            },
            None => Classification::fallback("the command could not be analysed"),
        };
        let known = |name: &str| self.tables.program(name).is_some();
        if let Some(text) = context::command_in_context(command, context, &classification, known)
            && let Some(inner) = self.trace(&text, Recorder::default())
        {
            let terminal_input = classification.terminal_input.max(inner.terminal_input);
            let inner = Classification::new(&text, &inner.findings, inner.parsers_agree);
            classification = context::raise_by_context(
                classification,
                context.unwrap_or_default().trim(),
                &inner,
            );
            classification.terminal_input = terminal_input;
        }
        classification.context = context.map(str::to_owned);
        Ok(TracedClassification {
            classification,
            trace,
        })
    }

    /// Returns the parts of a text, whose length is not limited. Returns `None` if the analysis
    /// panicked or could not be finished.
    #[must_use]
    pub fn parts(&self, command: &str) -> Option<Parts> {
        self.trace(command, Recorder::enabled())
            .map(|trace| trace.parts)
    }

    /// Classifies a command and returns a drawing of its findings.
    ///
    /// # Errors
    /// As [`classify`](Self::classify).
    pub fn explain(&self, command: &str) -> Result<Explanation, InputError> {
        let TracedClassification {
            classification,
            trace,
        } = self.classify_with_tables(command, None, Recorder::enabled())?;
        Ok(Explanation::new(command, classification, trace))
    }

    fn trace(&self, command: &str, parts: Recorder) -> Option<Trace> {
        let tables = self.tables;
        let run = || {
            catch_unwind(AssertUnwindSafe(|| {
                Interpreter::new(tables, parts).interpret(command)
            }))
            .ok()
        };
        if !shell::is_deeply_nested(command) {
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

/// Classification by the tables, with the trace that it came from.
struct TracedClassification {
    classification: Classification,
    /// `None` if the walk panicked.
    trace: Option<Trace>,
}

fn check(command: &str) -> Result<(), InputError> {
    if command.trim().is_empty() {
        return Err(InputError::Empty);
    }
    if command.len() > MAX_COMMAND_CHARS {
        let length = command.chars().count();
        if length > MAX_COMMAND_CHARS {
            return Err(InputError::TooLong {
                field: "command",
                length,
                max: MAX_COMMAND_CHARS,
            });
        }
    }
    if command.contains('\0') {
        return Err(InputError::Nul);
    }
    Ok(())
}
