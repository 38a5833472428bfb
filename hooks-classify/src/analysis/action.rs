//! Actions: the list of effects, files and commands that an [`Analysis`](super::Analysis) contains
//! and the interpreter performs.

use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::possible_path::PossiblePath;
use crate::model::role::Role;
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::sql_dialect::SqlDialect;
use crate::model::unseen_code::UnseenCode;
use crate::model::value::Value;
use crate::options::call::Call;

/// One action of an [`Analysis`](super::Analysis).
#[derive(Debug)]
pub(crate) enum Action {
    /// Notes an effect.
    AddFinding(Effect, Span, String),
    /// Notes a read that needs confirmation.
    RequireConfirmation(Span, String),
    /// Records the source of code that is only known when it runs.
    RecordUnseenCode(UnseenCode),

    /// Runs a command.
    RunWords(Vec<Arg>, Input),
    /// Runs a call whose options are parsed; the span is that of the command.
    RunCall(Box<Call>, Span, Input),
    /// Runs a text in the shell.
    RunShellText(Arg, Input),
    /// Runs a text in a child shell.
    RunChildShell(Box<ChildShell>),
    /// Runs a text in another language, for the program at a path such as `git log`.
    RunScript(Language, Arg, SqlDialect),
    /// Records a text in another language, and performs nothing else.
    RecordScript(Language, String),

    /// Reads a file, or with `below` a folder and all files below it.
    ReadFile {
        file: Arg,
        recursive: bool,
    },
    /// Reads the files that are named in a file, or on the input where it is `-`.
    ReadFileList(Box<FileList>),
    /// Notes a file or folder whose name the current pipeline prints.
    AddPrintedPath(Arg),
    /// Notes a file or folder that the current pipeline names.
    AddPipelinePath(PossiblePath),
    /// Records a file whose code runs.
    RecordCodeFile(Arg),
    /// Records a path of code that may run.
    RecordOptionalCodeFile(String),
    /// Records words in the role that they have for a program.
    RecordRole(Role, Vec<Arg>),
    /// Forgets the contents of a file, because a program writes it.
    ForgetFileContents(Arg),
    /// Remembers the contents of a file that a program writes.
    RememberFile(Arg, FileContents),
    /// Remembers that a file has the contents of another file: source, target.
    CopyFile(Arg, Arg),
    /// Remembers the folder that the shell changes to.
    ChangeDirectory(Arg),
    ReturnToEarlierDirectory,

    /// Notes that a variable is set that changes which programs run.
    CheckVariable(String, Arg),
    /// Remembers the value of a variable.
    SetVariable(String, Value),
    /// Remembers a value that programs may inherit in a variable.
    AddInheritedValue(String),
    /// Records that a setting overrides the configuration of a program.
    RecordConfigOverride,
    /// Requires confirmation if the value of a variable is printed whose name is that of a secret.
    CheckPrintedVariable(String, Span),
    /// Evaluates an expression of the shell.
    EvaluateExpression(Arg),
    /// Evaluates the index in a word, if the word has an index.
    RunSubscript(Arg),
    /// Evaluates the indexes in the values of all variables.
    RunStoredSubscripts(Span),
    /// Evaluates the index in the name of a variable.
    EvaluateVariableName(Arg),
    /// Sets a variable to values of this kind: name, value.
    FillVariable(Arg, Arg),
    /// Evaluates a value that is assigned to an integer variable: name, value.
    EvaluateIfInteger(String, Arg),
    /// Remembers that a variable may contain names of files: names among the words, and names that
    /// the pipeline passes to the command.
    AddVariablePaths(String, Vec<Arg>),

    /// Performs actions while unknown words stand for these files.
    WithPaths(PathSource, NestedActions),
    /// Performs actions with variables that are set for these actions alone.
    WithVariables(Vec<(String, Arg)>, NestedActions),
    /// Performs the first actions, and the second actions if the first found reads alone.
    IfOnlyReads(NestedActions, NestedActions),
    /// Performs the first actions if a variable that fits one of the patterns has an unknown
    /// value, otherwise the second actions.
    IfUnknownVariable(&'static [&'static str], NestedActions, NestedActions),
}

/// Actions within an action, and the action that gives the output.
#[derive(Debug, Default)]
pub(crate) struct NestedActions {
    pub(crate) actions: Vec<Action>,
    pub(crate) output: OutputAction,
}

/// A text that runs in a child shell.
#[derive(Debug)]
pub(crate) struct ChildShell {
    pub(crate) text: Arg,
    /// `$1`, `$2` …
    pub(crate) positional: Vec<Arg>,
    /// Shells that may read the text.
    pub(crate) shells: Shells,
    /// Words that the text may use as paths, if the text is the value of `-c`.
    pub(crate) path_words: Option<Vec<Arg>>,
    pub(crate) input: Input,
}

/// A file with names of files that a program reads.
#[derive(Debug)]
pub(crate) struct FileList {
    pub(crate) list: Arg,
    pub(crate) input: Input,
    /// `true` if the program prints metadata of the files and no contents.
    pub(crate) metadata_only: bool,
    /// `true` if the program reads all files below the folders among these files.
    pub(crate) recursive: bool,
}

/// The files that unknown words stand for.
#[derive(Debug)]
pub(crate) enum PathSource {
    Known(Vec<PossiblePath>),
    /// The names that a command reads from its input.
    Input(Input),
    /// The names that a text reads whose commands have its input.
    OwnInput(Input),
    /// The names that are in a file.
    File(Arg),
}

/// The action whose output is the output of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputAction(pub(crate) Option<usize>);

impl OutputAction {
    /// No action: the output is unknown.
    pub(crate) const NONE: Self = Self(None);
}
