//! Actions: the list of effects, files and commands that an [`Analysis`](super::Analysis) contains
//! and the interpreter performs.

use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::Value;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::named::PossiblePath;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::sql_dialect::SqlDialect;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// One action of an [`Analysis`](super::Analysis).
#[derive(Debug)]
pub(crate) enum Action {
    /// Notes an effect.
    Find(Effect, Span, String),
    /// Notes a read that needs confirmation.
    Ask(Span, String),
    /// Records the source of code that is only known when it runs.
    UnseenCode(UnseenCode),

    /// Runs a command.
    Run(Vec<Arg>, Input),
    /// Runs a call whose options are parsed; the span is that of the command.
    Call(Box<Call>, Span, Input),
    /// Runs a text in the shell.
    ShellText(Arg, Input),
    /// Runs a text in a child shell.
    ChildShell(Box<ChildShell>),
    /// Runs a text in another language, for the program at a path such as `git log`.
    Script(Language, Arg, SqlDialect),
    /// Records a text in another language, and performs nothing else.
    ScriptText(Language, String),

    /// Reads a file, or with `below` a folder and all files below it.
    Reads { file: Arg, below: bool },
    /// Reads the files that are named in a file, or on the input where it is `-`.
    ReadsListed(Box<ReadsListed>),
    /// Notes a file or folder whose name the current pipeline prints.
    PrintsName(Arg),
    /// Notes a file or folder that the current pipeline names.
    AddName(PossiblePath),
    /// Records a file whose code runs.
    CodeFile(Arg),
    /// Records a path of code that may run.
    MaybeCodeFile(String),
    /// Records words in the role that they have for a program.
    Role(Role, Vec<Arg>),
    /// Forgets the contents of a file, because a program writes it.
    WritesFile(Arg),
    /// Remembers that a file has the contents of another file: source, target.
    CopiesFile(Arg, Arg),
    /// Remembers the folder that the shell changes to.
    GoesTo(Arg),

    /// Notes that a variable is set that changes which programs run.
    Sets(String, Arg),
    /// Remembers the value of a variable.
    Assigns(String, Value),
    /// Remembers a value that programs may be given by a variable.
    PassesValue(String),
    /// Records that a setting overrides the configuration of a program.
    OverridesConfig,
    /// Requires confirmation if the value of a variable is printed whose name is that of a secret.
    PrintsVariable(String, Span),
    /// Evaluates an expression of the shell.
    Computes(Arg),
    /// Evaluates the index in a word, if the word has an index.
    ComputesIndex(Arg),
    /// Evaluates the indexes in the values of all variables.
    ComputesValues(Span),
    /// Evaluates the index in the name of a variable.
    NamesVariable(Arg),
    /// Sets a variable to values of this kind: name, value.
    Fills(Arg, Arg),
    /// Evaluates a value that is assigned to an integer variable: name, value.
    Takes(String, Arg),
    /// Remembers that a variable may contain names of files: names among the words, and names that
    /// the pipeline passes to the command.
    HoldsNames(String, Vec<Arg>),

    /// Performs actions while unknown words stand for these files.
    WithNames(Names, InnerActions),
    /// Performs actions with variables that are set for these actions alone.
    WithVariables(Vec<(String, Arg)>, InnerActions),
    /// Performs the first actions, and the second actions if the first found reads alone.
    IfOnlyReads(InnerActions, InnerActions),
    /// Performs the first actions if a variable that fits one of the patterns has an unknown
    /// value, otherwise the second actions.
    IfUnknownVariable(&'static [&'static str], InnerActions, InnerActions),
}

/// Actions within an action, and the action that gives the output.
#[derive(Debug, Default)]
pub(crate) struct InnerActions {
    pub(crate) actions: Vec<Action>,
    pub(crate) output: OutputOf,
}

/// A text that runs in a child shell.
#[derive(Debug)]
pub(crate) struct ChildShell {
    pub(crate) text: Arg,
    /// `$1`, `$2` …
    pub(crate) positional: Vec<Arg>,
    /// Words that the text may take for names of files, if the text was given by `-c`.
    pub(crate) names: Option<Vec<Arg>>,
    pub(crate) input: Input,
}

/// A file with names of files that a program reads.
#[derive(Debug)]
pub(crate) struct ReadsListed {
    pub(crate) list: Arg,
    pub(crate) input: Input,
    /// `true` if the program prints facts about the files and no contents.
    pub(crate) facts_only: bool,
    /// `true` if the program reads all files below the folders among these files.
    pub(crate) below: bool,
}

/// The files that unknown words stand for.
#[derive(Debug)]
pub(crate) enum Names {
    Known(Vec<PossiblePath>),
    /// The names that a command reads from its input.
    In(Input),
    /// The names that a text reads whose commands have its input.
    ReadFrom(Input),
    /// The names that are in a file.
    InFile(Arg),
}

/// The action whose output is the output of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputOf(pub(crate) Option<usize>);

impl OutputOf {
    /// No action: the output is unknown.
    pub(crate) const NOTHING: Self = Self(None);
}
