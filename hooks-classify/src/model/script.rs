//! [`ShellScript`]: the syntax tree of shell text. The parsers of `shell/` build it, and the interpreter
//! walks it.

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
}

/// A command. Commands that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
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
    pub(crate) operator: Operator,
    /// Descriptor that is redirected: the written number or the default of the operator.
    pub(crate) descriptor: u32,
    /// `true` if standard error is redirected too: `&>`, `&>>`.
    pub(crate) both: bool,
    pub(crate) target: ShellWord,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
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
    pub(crate) pieces: Vec<Piece>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Text after quote removal. In unquoted text, `*`, `?`, `[`, `{` and `~` keep their meaning.
    Text { text: String, quoted: bool },
    /// `$name` and `${name…}`.
    Variable {
        name: String,
        change: Change,
        quoted: bool,
    },
    /// `$(…)` and backquotes.
    Substitution { text: Inner, quoted: bool },
    /// `<(…)` and `>(…)`.
    Process { text: Inner },
    /// `$((…))`: a number; the substitutions in it run.
    Arithmetic { inner: ShellWord },
}

/// Operator of `${name…}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    None,
    /// `:-`, `-`
    Default(ShellWord),
    /// `:=`, `=`
    Assign(ShellWord),
    /// `${#name}`: the length of the value.
    Length(ShellWord),
    /// `${!name}`: the value of the variable named by the value.
    Indirect(ShellWord),
    /// Any other operator: the result is unknown, the substitutions in it run.
    Other(ShellWord),
}

/// Text of a substitution. Texts that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) text: String,
    /// Start in the surrounding text, in bytes; `None` if backquotes changed the text, so that
    /// positions do not map.
    pub(crate) at: Option<usize>,
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
            && self.both == other.both
            && self.target == other.target
    }
}

impl PartialEq for ShellWord {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl PartialEq for Inner {
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
                Piece::Text { text, .. } => all.push_str(text),
                _ => return None,
            }
        }
        Some(all)
    }
}

impl Redirect {
    /// Returns `true` if standard input is redirected.
    pub(crate) fn reads(&self) -> bool {
        self.descriptor == Operator::descriptor("<")
    }

    /// Returns `true` if the descriptor, whichever it is, is opened for reading.
    pub(crate) fn takes(&self) -> bool {
        match self.operator {
            Operator::Read
            | Operator::ReadWrite
            | Operator::HereDocument
            | Operator::HereString => true,
            Operator::Duplicate => self.reads(),
            Operator::Write | Operator::Append => false,
        }
    }

    /// Returns `true` if standard output is redirected.
    pub(crate) fn prints(&self) -> bool {
        self.descriptor == Operator::descriptor(">")
    }
}

impl Operator {
    /// Returns the default descriptor of an operator.
    pub(crate) fn descriptor(sign: &str) -> u32 {
        u32::from(!sign.starts_with('<'))
    }
}
