//! Classifies shell commands by their effects: read, create, update or delete, with the reason for
//! each.
//!
//! A command is text for bash; text that sh or zsh would run differently is considered as well. Two
//! parsers read the command, and tables of programs define the effect of each option and operand.
//! The strongest effect decides the class. A program or an option without an entry in the tables is
//! never a read. *Unseen code*, which the command runs but does not show (a script file, a
//! `Makefile`), counts as CREATE and needs confirmation. The crate executes no command, reads no file
//! and opens no connection.
//!
//! A word that is only known at run time counts as an operand, although it could be an option:
//! `git log $(cat list)` is a read. The README lists the other limits.
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
//! | [`Classification`] | class ([`Crud`]), [`Decision`], confidence and [`Method`] of one command |
//! | [`Finding`] | effect of one span of the command, with its text ([`Finding::part`]) and the reason |
//! | [`Parts`], [`Part`] | programs that would run, with words, options, files, hosts, redirections, variables |
//! | [`UNKNOWN`] | character in a [`Word`] for each part of it that is only known at run time |
//! | [`Manifest`] | file that a program looks up by a fixed name, such as `Makefile` |
//! | [`UnseenCode`] | source of code that is only known at run time |
//! | [`Explanation`] | the command with its findings, for a terminal |
//! | [`ToolEffect`] | effect of a tool that is not a shell, as input of [`Classification::of_tool`] |
//! | [`Tables`], [`TableCheck`], [`PackageRun`] | tables of the programs; the program version that a table was compared with; a package that a part runs |
//! | [`host`] | functions that read hosts in words |
//!
//! # Features
//! `python`, `javascript`, `sql` and `powershell` (all default) parse code of these languages.
//! Without the feature, such code counts as unseen code. `utoipa` derives OpenAPI schemas.
//!
//! # The book
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [The classifier as a library](../../book/hooks-classify.html), [How a command is
//! classified](../../book/classifier.html).
#![forbid(unsafe_code)]

// Layers, the lowest first. A layer imports only layers that are listed before it;
// `tests/layers.rs` checks the imports.

// Words in, the hosts that they name out.
pub mod host;
// The place where a command runs: questions in, answers of the caller out.
mod workspace;
// Data types of all layers: words, effects, spans, parts, the syntax tree of a script.
mod model;
// A text or a name in, the secrets in it out.
mod secrets;
// The text of a settings file in, its keys and values out.
mod settings;
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
use std::sync::Arc;

pub use classification::{Classification, CommandAnalysis, Decision, Finding, Method, ToolEffect};
pub use explain::Explanation;
#[doc(hidden)]
pub use inspect::{
    CommandLine, OptionEntry, ProgramEntry, options_of, programs, read_command_line,
};
pub use model::arg::UNKNOWN;
pub use model::code_span::{CodeKind, CodeSpan};
pub use model::effect::Crud;
pub use model::language::Language;
pub use model::parts::{
    FileRead, Manifest, Part, PartAssignment, PartCall, PartHost, Parts, PathEffect, Script, Word,
};
pub use model::program_facts::{
    ClientAddress, ControlTarget, DiscardedData, FileOperation, OutputSource, SlashWords,
};
pub use model::program_name::without_system_folder;
pub use model::secret_span::{SecretKind, SecretSpan};
pub use model::shells::Shells;
pub use model::terminal_input::TerminalInput;
pub use model::unseen_code::UnseenCode;
pub use secrets::secrets_in_text;
pub use settings::git_variables;
pub use tables::{PackageRun, TableCheck, Tables};
pub use workspace::{Answer, Entry, Variable, Workspace};

use model::trace::Trace;
use model::workspace_view::WorkspaceView;
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

/// Error for a command or a context that cannot be classified.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// The command is empty or contains only blanks.
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
    /// The command contains a NUL, which no shell accepts.
    #[error("the command has a NUL character in it; remove it")]
    Nul,
    /// The bytes of the command are not UTF-8. Only [`Classifier::classify_bytes`] returns this error.
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
    shells: Shells,
    workspace: Option<Arc<dyn Workspace>>,
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
            shells: Shells::ALL,
            workspace: None,
        }
    }

    /// Sets the shells that may read the command. Without it, all of them count.
    ///
    /// A text that a command hands to a shell by its name, such as that of `sh -c`, is read by that
    /// shell.
    #[must_use]
    pub fn with_shells(mut self, shells: Shells) -> Self {
        self.shells = shells;
        self
    }

    /// Sets the place where the commands run, which is asked for files and variables that decide what
    /// a command does. Without it, the text of a command decides.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Workspace + 'static) -> Self {
        self.workspace = Some(Arc::new(workspace));
        self
    }

    /// Classifies a command.
    ///
    /// # Errors
    /// Returns an error if the command is empty, too long or contains a NUL.
    pub fn classify(&self, command: &str) -> Result<Classification, InputError> {
        self.classify_in_context(command, None)
    }

    /// Classifies a command, given as bytes that may not be UTF-8.
    ///
    /// # Errors
    /// As [`classify`](Self::classify), and if the bytes are not UTF-8.
    pub fn classify_bytes(&self, command: &[u8]) -> Result<Classification, InputError> {
        self.classify(std::str::from_utf8(command).map_err(|_| InputError::Encoding)?)
    }

    /// Classifies a command with a context, for example `git`.
    ///
    /// A context never lowers a class. If the context is the name of a program and the command is
    /// not [understood](Classification::understood), the command is also read as the words of the
    /// program: `tag -d v1` as `git tag -d v1`. The second reading may raise the class.
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
    /// If the analysis fails, the parts are empty and not [`complete`](Parts::complete), and the
    /// classification is a [`fallback`](Classification::fallback), which needs confirmation. A check
    /// that searches the parts for something to deny finds nothing then. Such a check must test
    /// [`Classification::decision`] as well.
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

    /// Returns `true` if the tables list a path as a place of secrets, such as `~/.ssh/id_rsa` or
    /// `.env`.
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
        recorder: Recorder,
    ) -> Result<TracedClassification, InputError> {
        Self::check_input(command, context)?;
        let trace = self.trace(command, recorder);
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

    /// Returns the parts of a text. Unlike [`analyze`](Self::analyze), it accepts every text: of any
    /// length, empty, or with a NUL. Returns `None` if the analysis panicked, or if the thread for a
    /// deeply nested text could not be started.
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

    /// Interprets a command. Returns `None` if the analysis panicked, or if the thread for a deeply
    /// nested command could not be started. With `panic = "abort"`, a panic ends the process instead.
    fn trace(&self, command: &str, recorder: Recorder) -> Option<Trace> {
        let run = || {
            catch_unwind(AssertUnwindSafe(|| {
                let view = WorkspaceView::new(self.workspace.as_deref());
                Interpreter::new(self.tables, &view, self.shells, recorder).interpret(command)
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
    /// `None` if [`Classifier::trace`] returned `None`.
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
