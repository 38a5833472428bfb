//! [`ShellScript`]: the syntax tree of shell text. The parsers of `shell/` build it, and the interpreter
//! walks it.

use super::shells::Shells;
use super::span::Span;

/// Commands in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShellScript {
    pub(crate) items: Vec<AndOr>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
    /// `true` if the list ends with `&` and runs in a subshell.
    pub(crate) background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Join {
    And,
    Or,
}

/// Commands, each of which reads the output of the previous one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
    /// `time` before a simple command: some shells run a program of this name, which changes nothing in
    /// the shell.
    pub(crate) time: Option<TimeKeyword>,
}

/// The word `time` before a pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TimeKeyword {
    /// `time`
    Plain,
    /// `time -p`
    PosixFormat,
}

impl TimeKeyword {
    /// Returns the shells in which it may be a program.
    pub(crate) const fn shells_without(self) -> Shells {
        match self {
            Self::Plain => Shells::WITHOUT_TIME,
            Self::PosixFormat => Shells::WITHOUT_POSIX_TIME,
        }
    }
}

/// A command. Commands that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) kind: CommandKind,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CommandKind {
    /// Assignments and a program with its arguments.
    Simple {
        assigns: Vec<ShellWord>,
        words: Vec<ShellWord>,
    },
    /// `[ … ]`, `[[ … ]]`, `(( … ))`: text in which only substitutions run.
    Test(ShellWord),
    /// `{ …; }`
    Group(ShellScript),
    /// `( … )`
    Subshell(ShellScript),
    /// `for` and `select`; without `in`, over the positional parameters.
    For {
        name: String,
        words: Option<Vec<ShellWord>>,
        body: ShellScript,
    },
    /// `if`: conditions and branches in source order.
    If(Vec<ShellScript>),
    /// `while` and `until`; also `for ((…))`, whose head is the word.
    While {
        head: Option<ShellWord>,
        scripts: Vec<ShellScript>,
    },
    /// `case`; the patterns run only their substitutions.
    Case {
        subject: ShellWord,
        arms: Vec<(Vec<ShellWord>, ShellScript)>,
    },
    /// Definition of a function.
    Function { name: String, body: Box<Command> },
}

/// A redirection. Redirections that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) operator: RedirectOperator,
    /// Descriptor that is redirected: the written number or the default of the operator.
    pub(crate) descriptor: u32,
    /// `true` if standard error is redirected too: `&>`, `&>>`.
    pub(crate) includes_stderr: bool,
    pub(crate) target: ShellWord,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RedirectOperator {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`, `>&` with a descriptor or `-`
    Duplicate,
    /// `<<`; the target is the document
    HereDocument,
    /// `<<<`
    HereString,
}

/// A word before expansion. Words that differ only in their positions are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShellWord {
    pub(crate) pieces: Vec<WordPiece>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WordPiece {
    /// Text after quote removal. In unquoted text, `*`, `?`, `[`, `{` and `~` keep their meaning.
    Text { text: String, quoted: bool },
    /// `$name` and `${name…}`.
    Variable {
        name: String,
        operator: ParameterOperator,
        quoted: bool,
        /// `[…]` after a `$name` without braces, which is its subscript in zsh. It is also in the
        /// pieces after this one.
        subscript: Option<Box<ShellWord>>,
    },
    /// `$(…)` and backquotes.
    CommandSubstitution {
        text: SubstitutionText,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    ProcessSubstitution { text: SubstitutionText },
    /// `$((…))`: a number; the substitutions in it run.
    Arithmetic {
        inner: ShellWord,
        /// `true` for `$[…]`, which some shells do not have.
        bracketed: bool,
    },
}

/// Operator of `${name…}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParameterOperator {
    None,
    /// `:-` and `-`
    Default(DefaultWord),
    /// `:=` and `=`
    Assign(DefaultWord),
    /// An operator with a quote that ends the expansion at different places in different shells, or in
    /// which they expand different parts.
    Disputed(ShellWord),
    /// `${#name}`: the length of the value.
    Length(ShellWord),
    /// `${!name}`: the value of the variable named by the value.
    Indirect(ShellWord),
    /// Any other operator: the result is unknown, the substitutions in it run.
    Other(ShellWord),
}

/// The word of `${name:-word}`, with the condition under which it is the value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DefaultWord {
    pub(crate) word: ShellWord,
    /// `true` with a colon: the word is also the value if the variable is set and empty.
    pub(crate) replaces_empty: bool,
}

/// Text of a substitution. Texts that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct SubstitutionText {
    pub(crate) text: String,
    /// Start in the surrounding text, in bytes; `None` if backquotes changed the text, so that
    /// positions do not map.
    pub(crate) start: Option<usize>,
}

impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.redirects == other.redirects
    }
}

impl PartialEq for Redirect {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator
            && self.descriptor == other.descriptor
            && self.includes_stderr == other.includes_stderr
            && self.target == other.target
    }
}

impl PartialEq for ShellWord {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl PartialEq for SubstitutionText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl ShellWord {
    /// Returns the text of a literal word.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut all = String::new();
        for piece in &self.pieces {
            match piece {
                WordPiece::Text { text, .. } => all.push_str(text),
                _ => return None,
            }
        }
        Some(all)
    }

    /// Returns `true` if braces in the word may be expanded.
    pub(crate) fn has_unquoted_brace(&self) -> bool {
        let brace = |piece: &WordPiece| matches!(piece, WordPiece::Text { text, quoted: false } if text.contains('{'));
        self.pieces.iter().any(brace)
    }
}

impl Redirect {
    /// Returns `true` if standard input is redirected.
    pub(crate) fn redirects_stdin(&self) -> bool {
        self.descriptor == RedirectOperator::default_descriptor("<")
    }

    /// Returns `true` if the descriptor, whichever it is, is opened for reading.
    pub(crate) fn opens_for_reading(&self) -> bool {
        match self.operator {
            RedirectOperator::Read
            | RedirectOperator::ReadWrite
            | RedirectOperator::HereDocument
            | RedirectOperator::HereString => true,
            RedirectOperator::Duplicate => self.redirects_stdin(),
            RedirectOperator::Write | RedirectOperator::Append => false,
        }
    }

    /// Returns `true` if standard output is redirected.
    pub(crate) fn redirects_stdout(&self) -> bool {
        self.descriptor == RedirectOperator::default_descriptor(">")
    }
}

impl RedirectOperator {
    /// Returns the default descriptor of an operator.
    pub(crate) fn default_descriptor(sign: &str) -> u32 {
        u32::from(!sign.starts_with('<'))
    }
}
