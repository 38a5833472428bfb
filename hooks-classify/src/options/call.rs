//! [`Call`]: a command line as its program reads it, with its options, values, operands and the command
//! that the words name.

use super::roles::{OperandRoles, assign_roles};
use crate::model::arg::Arg;
use crate::model::device::is_unstored_output;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::tables::{OptionSpec, Program, StdinUse};

/// A command line as its program reads it.
#[derive(Debug)]
pub(crate) struct Call {
    /// The innermost command that the words name.
    pub(crate) program: &'static Program,
    /// `git push`
    pub(crate) path: String,
    pub(crate) options: Vec<ParsedOption>,
    pub(crate) operands: Vec<Operand>,
    /// Reasons and places of words that the table does not know.
    pub(crate) unrecognized: Vec<(String, Span)>,
    /// The words after the names of the program and its commands.
    pub(crate) args: Vec<Arg>,
}

/// An option of a command line.
#[derive(Debug)]
pub(crate) struct ParsedOption {
    /// The name in the table: an abbreviation is written out.
    pub(crate) name: String,
    pub(crate) spec: OptionSpec,
    pub(crate) value: Option<Arg>,
    /// The words that follow, if the option takes a whole command.
    pub(crate) command: Vec<Arg>,
    pub(crate) span: Span,
    /// The number of words from the option to the end of the command line. Positions do not
    /// distinguish words: in a text passed to another command, all words have one span.
    pub(crate) words_left: usize,
    /// `true` if only some versions of the program read this option. It never makes a call
    /// harmless.
    pub(crate) version_dependent: bool,
}

/// A word of a command line that is neither an option nor a value.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) arg: Arg,
    pub(crate) after_double_dash: bool,
    /// The number of words from the operand to the end of the command line.
    pub(crate) words_left: usize,
}

impl ParsedOption {
    /// Returns the index among the words of the call, or `None` for an option before the name of
    /// the command.
    pub(crate) fn index_in(&self, call: &Call) -> Option<usize> {
        call.args.len().checked_sub(self.words_left)
    }
}

/// Returns `true` if a file is the standard input by another name.
fn is_stdin(file: &str) -> bool {
    file == "-"
        || file.starts_with("/dev/")
        || file.starts_with("/proc/") && file.ends_with("/fd/0")
}

impl Call {
    /// Returns how the call may run its standard input, which an option may name as a file of
    /// code.
    pub(crate) fn stdin_use(&self) -> StdinUse {
        let named = self.options.iter().any(|opt| {
            opt.spec.role == Role::ScriptFile
                && opt
                    .value
                    .as_ref()
                    .is_some_and(|value| is_stdin(&value.text))
        });
        match named {
            true => StdinUse::MayRun,
            false => self.program.stdin_use(),
        }
    }

    /// Returns `true` if the program has an option for a host, and the call does not use it.
    pub(crate) fn connects_to_localhost(&self) -> bool {
        let is_host = |option: &OptionSpec| option.role == Role::Host;
        self.program.options.values().any(is_host)
            && !self.options.iter().any(|opt| is_host(&opt.spec))
    }

    /// Returns `true` if output to `path` goes to a file. Some programs write a file with the name
    /// `-`.
    pub(crate) fn is_file(&self, path: &str) -> bool {
        path == "-" && self.program.details.dash_is_file || !is_unstored_output(path)
    }

    /// Returns the operands by role, and the operands for which the table has no role.
    pub(crate) fn roles(&self) -> OperandRoles {
        let operands = self.operands.iter().map(|operand| operand.arg.clone());
        assign_roles(&self.program.operands, operands.collect())
    }

    /// Returns `true` if one of the options is used.
    pub(crate) fn has_option(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|opt| names.contains(&opt.name.as_str()))
    }
}
