//! Shell text as one small representation, whichever parser read it.
//!
//! [`parse`] has two parsers read every text and lowers both results into a
//! [`Script`]; [`Reading`] says whether the two mean the same. A substitution
//! stays text here: whoever judges it parses it in its turn, again with both.

mod agree;
mod brush;
mod lex;
mod meaning;
mod nesting;
mod tree;
mod zsh;

use std::ops::Range;

pub(crate) use agree::{Reading, parse};
pub(crate) use lex::{Mode, lex};
pub(crate) use tree::plain;
pub(crate) use zsh::translate;

/// A part of a text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The part of this text, without half a character at an end.
    pub(crate) fn within(self, text: &str) -> Range<usize> {
        let floor = |at: usize| {
            let mut at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(self.start);
        start..floor(self.end).max(start)
    }
}

/// Commands in the order in which they stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<AndOr>,
}

/// Pipelines that are joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
    /// `&`: in a subshell, while the shell goes on.
    pub(crate) background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Join {
    And,
    Or,
}

/// Commands each of which reads what the one before it prints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
}

#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Assignments, and a program with its arguments.
    Simple {
        assigns: Vec<Word>,
        words: Vec<Word>,
    },
    /// `[ … ]`, `[[ … ]]`, `(( … ))`: text in which only substitutions run.
    Test(Word),
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `for` and `select`; without `in`, over the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// `if`: conditions and branches in the order in which they stand.
    If(Vec<Script>),
    /// `while` and `until`; also `for ((…))`, whose head is the word.
    While {
        head: Option<Word>,
        scripts: Vec<Script>,
    },
    /// `case`: the patterns run nothing but their substitutions.
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// A function's definition.
    Function { name: String, body: Box<Command> },
}

#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) operator: Operator,
    /// The descriptor that is redirected: said, or the operator's own.
    pub(crate) descriptor: u32,
    /// `&>`, `&>>`: with it the descriptor of errors.
    pub(crate) both: bool,
    pub(crate) target: Word,
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

#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Text after quote removal. Where it was not quoted, `*`, `?`, `[`, `{`
    /// and `~` still mean what they mean to a shell.
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
    /// `$((…))`: a number; what runs are the substitutions in it.
    Arithmetic { inner: Word },
}

/// What `${name…}` does with the value.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    None,
    /// `:-`, `-`
    Default(Word),
    /// `:=`, `=`
    Assign(Word),
    /// `${#name}`: how long the value is.
    Length(Word),
    /// `${!name}`: the value of the variable that the value names.
    Indirect(Word),
    /// Anything else: the value is not followed, what is substituted in it is.
    Other(Word),
}

/// The text of a substitution.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) text: String,
    /// Where it stands, in bytes of the text around it; `None` where
    /// backquotes changed it, so that positions do not carry over.
    pub(crate) at: Option<usize>,
}

impl Word {
    /// The text, where it is wholly literal.
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

/// The word that a here-document is. Blanks at the ends of its lines are not
/// compared, since the parsers place them differently.
fn document(text: &str, expands: bool, span: Span) -> Word {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    let mut word = if expands {
        lex(text, 0, text.len(), Mode::Document, &|_| None)
    } else {
        Word {
            pieces: vec![Piece::Text {
                text: text.to_owned(),
                quoted: true,
            }],
            span,
        }
    };
    detach(&mut word);
    word.span = span;
    word
}

/// Says that the positions in a word are those of another text.
fn detach(word: &mut Word) {
    for piece in &mut word.pieces {
        match piece {
            Piece::Substitution { text, .. } | Piece::Process { text } => text.at = None,
            Piece::Variable {
                change:
                    Change::Default(inner)
                    | Change::Assign(inner)
                    | Change::Length(inner)
                    | Change::Indirect(inner)
                    | Change::Other(inner),
                ..
            }
            | Piece::Arithmetic { inner } => detach(inner),
            Piece::Text { .. } | Piece::Variable { .. } => {}
        }
    }
}

impl Redirect {
    /// Whether it says where the standard input comes from.
    pub(crate) fn reads(&self) -> bool {
        self.descriptor == Operator::descriptor("<")
    }

    /// Whether something can be read from what it opens, at any descriptor.
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

    /// Whether it says where the standard output goes.
    pub(crate) fn prints(&self) -> bool {
        self.descriptor == Operator::descriptor(">")
    }
}

impl Operator {
    /// The descriptor that this sign redirects where none is said.
    fn descriptor(sign: &str) -> u32 {
        u32::from(!sign.starts_with('<'))
    }
}

/// What `>&` with this word does: a descriptor is duplicated, a file written.
fn duplicate(word: &Word) -> Operator {
    match word.literal() {
        Some(text)
            if text
                .trim_end_matches('-')
                .chars()
                .all(|c| c.is_ascii_digit()) =>
        {
            Operator::Duplicate
        }
        _ => Operator::Write,
    }
}

/// Whether a text nests so deeply that it needs a large stack.
pub(crate) fn deep(text: &str) -> bool {
    nesting::depth(text) > nesting::SHALLOW
}
