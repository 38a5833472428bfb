//! What a program or a script does, as a list of actions for the interpreter: an [`Analysis`].
//!
//! Functions of `programs/` and `languages/` get a call or a text and the facts of a [`Context`],
//! and return an [`Analysis`]. The interpreter performs the actions in their order: it notes
//! findings, and runs the commands and texts among them. Only the interpreter recurses.

use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::{Environment, Value};
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::named::Named;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::sql_dialect::SqlDialect;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;
use crate::tables::Tables;

/// The facts that a function of `programs/` or `languages/` may read, as they are before the first
/// action of its [`Analysis`] is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) environment: &'a Environment,
}

impl Context<'_> {
    /// Returns a path with the fact whether it is a secret, or may hold some, from each folder in
    /// which the shell may be.
    pub(crate) fn named_file(&self, path: &str) -> Named {
        let mut places = self.environment.places(path);
        let secret = places.any(|place| {
            self.tables.secret_within(&place) || self.tables.reads_secrets_below(&place)
        });
        Named {
            path: path.to_owned(),
            secret,
        }
    }
}

/// One action of an [`Analysis`].
#[derive(Debug)]
pub(crate) enum Action {
    /// Notes an effect.
    Find(Effect, Span, String),
    /// Notes a read that must be asked about.
    Ask(Span, String),
    /// Records where code comes from that is only known when it runs.
    UnseenCode(UnseenCode),

    /// Runs a command.
    Run(Vec<Arg>, Input),
    /// Runs a call of which the options are read already; the span is that of the command.
    Call(Box<Call>, Span, Input),
    /// Runs a text in the shell.
    ShellText(Arg, Input),
    /// Runs a text in a shell of its own.
    ChildShell(Box<ChildShell>),
    /// Runs a text in another language, for the program at a path such as `git log`.
    Script(Language, Arg, SqlDialect),
    /// Records a text in another language, and performs nothing else.
    ScriptText(Language, String),

    /// Reads a file, or with `below` a folder with all that lies in it.
    Reads { file: Arg, below: bool },
    /// Reads the files that are named in a file, or on the input where it is `-`.
    ReadsListed(Box<ReadsListed>),
    /// Notes a file or folder whose name the current pipeline prints.
    PrintsName(Arg),
    /// Notes a file or folder that the current pipeline names.
    AddName(Named),
    /// Records a file whose code runs.
    CodeFile(Arg),
    /// Records a path at which code may lie that runs.
    MaybeCodeFile(String),
    /// Records words in the role that they play for a program.
    Role(Role, Vec<Arg>),
    /// Forgets what is in a file, because a program writes it.
    WritesFile(Arg),
    /// Remembers that a file has the contents of another file: source, target.
    CopiesFile(Arg, Arg),
    /// Remembers the folder that the shell goes to.
    GoesTo(Arg),

    /// Notes that a variable is set that changes what programs run.
    Sets(String, Arg),
    /// Remembers the value of a variable.
    Assigns(String, Value),
    /// Remembers a value that programs may be given by a variable.
    PassesValue(String),
    /// Records that a setting overrides the configuration of a program.
    OverridesConfig,
    /// Asks about a variable whose value is printed, if its name says that it is a secret.
    PrintsVariable(String, Span),
    /// Evaluates an expression of the shell.
    Computes(Arg),
    /// Evaluates the index that stands in a word, if there is one.
    ComputesIndex(Arg),
    /// Evaluates the indexes in the values of all variables.
    ComputesValues(Span),
    /// Evaluates the index in the name of a variable.
    NamesVariable(Arg),
    /// Sets a variable to values such as this one: name, value.
    Fills(Arg, Arg),
    /// Evaluates a value where a variable is an integer: name, value.
    Takes(String, Arg),
    /// Remembers that a variable may hold names of files: those of the words, and those that the
    /// pipeline hands to the command.
    HoldsNames(String, Vec<Arg>),

    /// Performs actions while unknown words stand for these files.
    WithNames(Names, Inner),
    /// Performs actions with variables that are set for them alone.
    WithVariables(Vec<(String, Arg)>, Inner),
    /// Performs the first actions, and the second ones if the first ones found reads alone.
    IfOnlyReads(Inner, Inner),
    /// Performs the first actions if a variable that fits one of the patterns has an unknown
    /// value, otherwise the second ones.
    IfUnknownVariable(&'static [&'static str], Inner, Inner),
}

/// Actions within an action, and which of them gives the output.
#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) actions: Vec<Action>,
    pub(crate) output: OutputOf,
}

/// A text that runs in a shell of its own.
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
    /// Whether the program prints facts about the files, and none of their contents.
    pub(crate) facts_only: bool,
    /// Whether the program reads all that lies in the folders among them.
    pub(crate) below: bool,
}

/// The files that unknown words stand for.
#[derive(Debug)]
pub(crate) enum Names {
    Known(Vec<Named>),
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

/// How the judgement of a call continues after the actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// The table of the program holds.
    #[default]
    Table,
    /// The table holds, except for the operands.
    TableWithoutOperands,
    /// The table holds, and this is the effect of the plain call.
    TableWithEffect(Effect),
    /// The actions are all that the call does.
    Done,
}

/// The actions of a program or a script, and how the judgement of the call continues after them.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) actions: Vec<Action>,
    pub(crate) continuation: Continuation,
    /// The action that gives the output of the call.
    pub(crate) output: OutputOf,
    /// The output where that action gives none.
    pub(crate) printed: Output,
}

impl Analysis {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, action: Action) -> OutputOf {
        self.actions.push(action);
        OutputOf(Some(self.actions.len() - 1))
    }

    /// Notes what a part of a command does.
    pub(crate) fn find(&mut self, effect: Effect, span: Span, reason: impl Into<String>) {
        self.push(Action::Find(effect, span, reason.into()));
    }

    /// Notes a read that must be asked about.
    pub(crate) fn ask(&mut self, span: Span, reason: impl Into<String>) {
        self.push(Action::Ask(span, reason.into()));
    }

    /// Notes that code runs that is only known when it runs.
    pub(crate) fn runs_unseen(
        &mut self,
        span: Span,
        source: UnseenCode,
        reason: impl Into<String>,
    ) {
        self.find(Effect::Code, span, reason);
        self.unseen_code(source);
    }

    /// Records where code comes from that is only known when it runs.
    pub(crate) fn unseen_code(&mut self, source: UnseenCode) {
        self.push(Action::UnseenCode(source));
    }

    /// Runs a command.
    pub(crate) fn run(&mut self, words: Vec<Arg>, input: &Input) -> OutputOf {
        self.push(Action::Run(words, input.clone()))
    }

    /// Runs a call of which the options are read already.
    pub(crate) fn call(&mut self, call: Call, whole: Span, input: &Input) -> OutputOf {
        self.push(Action::Call(Box::new(call), whole, input.clone()))
    }

    /// Runs a text in the shell; what is unknown in it may be anything.
    pub(crate) fn shell_text(&mut self, text: &Arg, input: &Input) -> OutputOf {
        self.push(Action::ShellText(text.clone(), input.clone()))
    }

    /// Runs a text in a shell of its own.
    pub(crate) fn child_shell(&mut self, shell: ChildShell) -> OutputOf {
        self.push(Action::ChildShell(Box::new(shell)))
    }

    /// Runs a text in another language, for the program at a path such as `git log`.
    pub(crate) fn script(&mut self, language: Language, text: &Arg, call: &Call) {
        let dialect = call.program.details.dialect;
        self.push(Action::Script(language, text.clone(), dialect));
    }

    /// Records a text in another language that this analysis reads itself.
    pub(crate) fn script_text(&mut self, language: Language, text: &str) {
        self.push(Action::ScriptText(language, text.to_owned()));
    }

    /// Reads a file.
    pub(crate) fn input_file(&mut self, file: &Arg) {
        self.reads(file, false);
    }

    /// Reads a file, or with `below` a folder with all that lies in it.
    pub(crate) fn reads(&mut self, file: &Arg, below: bool) {
        let file = file.clone();
        self.push(Action::Reads { file, below });
    }

    /// Reads the files that are named in a file.
    pub(crate) fn reads_listed(&mut self, listed: ReadsListed) {
        self.push(Action::ReadsListed(Box::new(listed)));
    }

    /// Notes a file or folder whose name the current pipeline prints.
    pub(crate) fn prints_name(&mut self, name: &Arg) {
        self.push(Action::PrintsName(name.clone()));
    }

    /// Notes a file or folder that the current pipeline names.
    pub(crate) fn add_name(&mut self, named: Named) {
        self.push(Action::AddName(named));
    }

    /// Records a file whose code runs.
    pub(crate) fn code_file(&mut self, file: &Arg) {
        self.push(Action::CodeFile(file.clone()));
    }

    /// Records a path at which code may lie that runs.
    pub(crate) fn maybe_code_file(&mut self, path: &str) {
        self.push(Action::MaybeCodeFile(path.to_owned()));
    }

    /// Records words in the role that they play for a program.
    pub(crate) fn record_role(&mut self, role: Role, words: &[Arg]) {
        self.push(Action::Role(role, words.to_vec()));
    }

    /// Forgets what is in a file, because a program writes it.
    pub(crate) fn writes_file(&mut self, file: &Arg) {
        self.push(Action::WritesFile(file.clone()));
    }

    /// Remembers that a file has the contents of another file.
    pub(crate) fn copies_file(&mut self, source: &Arg, target: &Arg) {
        self.push(Action::CopiesFile(source.clone(), target.clone()));
    }

    /// Remembers the folder that the shell goes to.
    pub(crate) fn goes_to(&mut self, folder: &Arg) {
        self.push(Action::GoesTo(folder.clone()));
    }

    /// Notes that a variable is set that changes what programs run.
    pub(crate) fn sets(&mut self, name: &str, value: &Arg) {
        self.push(Action::Sets(name.to_owned(), value.clone()));
    }

    /// Remembers the value of a variable.
    pub(crate) fn assigns(&mut self, name: &str, value: Value) {
        self.push(Action::Assigns(name.to_owned(), value));
    }

    /// Remembers a value that programs may be given by a variable.
    pub(crate) fn passes_value(&mut self, value: &str) {
        self.push(Action::PassesValue(value.to_owned()));
    }

    /// Records that a setting overrides the configuration of a program.
    pub(crate) fn overrides_config(&mut self) {
        self.push(Action::OverridesConfig);
    }

    /// Asks about a variable whose value is printed, if its name says that it is a secret.
    pub(crate) fn prints_variable(&mut self, name: &str, span: Span) {
        self.push(Action::PrintsVariable(name.to_owned(), span));
    }

    /// Evaluates an expression of the shell.
    pub(crate) fn computes(&mut self, expression: &Arg) {
        self.push(Action::Computes(expression.clone()));
    }

    /// Evaluates the index that stands in a word, if there is one.
    pub(crate) fn computes_index(&mut self, word: &Arg) {
        self.push(Action::ComputesIndex(word.clone()));
    }

    /// Evaluates the indexes in the values of all variables.
    pub(crate) fn computes_values(&mut self, span: Span) {
        self.push(Action::ComputesValues(span));
    }

    /// Evaluates the index in the name of a variable.
    pub(crate) fn names_variable(&mut self, name: &Arg) {
        self.push(Action::NamesVariable(name.clone()));
    }

    /// Sets a variable to values such as this one.
    pub(crate) fn fills(&mut self, name: &Arg, value: &Arg) {
        self.push(Action::Fills(name.clone(), value.clone()));
    }

    /// Evaluates a value where a variable is an integer.
    pub(crate) fn takes(&mut self, name: &str, value: &Arg) {
        self.push(Action::Takes(name.to_owned(), value.clone()));
    }

    /// Remembers that a variable may hold names of files.
    pub(crate) fn holds_names(&mut self, variable: &str, words: Vec<Arg>) {
        self.push(Action::HoldsNames(variable.to_owned(), words));
    }

    /// Performs actions while unknown words stand for files.
    pub(crate) fn with_names(
        &mut self,
        names: Names,
        inner: impl FnOnce(&mut Self) -> OutputOf,
    ) -> OutputOf {
        let inner = Inner::build(inner);
        self.push(Action::WithNames(names, inner))
    }

    /// Performs actions with variables that are set for them alone.
    pub(crate) fn with_variables(
        &mut self,
        set: Vec<(String, Arg)>,
        inner: impl FnOnce(&mut Self) -> OutputOf,
    ) -> OutputOf {
        let inner = Inner::build(inner);
        self.push(Action::WithVariables(set, inner))
    }

    /// Performs `actions`, and `then` if `actions` found reads alone.
    pub(crate) fn if_only_reads(
        &mut self,
        actions: impl FnOnce(&mut Self) -> OutputOf,
        then: impl FnOnce(&mut Self) -> OutputOf,
    ) {
        let action = Action::IfOnlyReads(Inner::build(actions), Inner::build(then));
        self.push(action);
    }

    /// Performs `then` if a variable that fits one of the patterns has an unknown value, otherwise
    /// `or_else`.
    pub(crate) fn if_unknown_variable(
        &mut self,
        patterns: &'static [&'static str],
        then: impl FnOnce(&mut Self) -> OutputOf,
        or_else: impl FnOnce(&mut Self) -> OutputOf,
    ) {
        let (then, or_else) = (Inner::build(then), Inner::build(or_else));
        self.push(Action::IfUnknownVariable(patterns, then, or_else));
    }

    /// Adds the actions of another analysis, and continues as that one does.
    pub(crate) fn then(mut self, other: Self) -> Self {
        let first = self.actions.len();
        self.actions.extend(other.actions);
        Self {
            actions: self.actions,
            continuation: other.continuation,
            output: OutputOf(other.output.0.map(|at| at + first)),
            printed: other.printed,
        }
    }

    /// Adds the actions of another analysis, and nothing else of it.
    pub(crate) fn append(&mut self, other: Self) {
        self.actions.extend(other.actions);
    }

    /// The table of the program holds, except for the operands.
    pub(crate) fn without_operands(self) -> Self {
        self.continuing(Continuation::TableWithoutOperands)
    }

    /// The table of the program holds, and this is the effect of the plain call.
    pub(crate) fn with_effect(self, effect: Effect) -> Self {
        self.continuing(Continuation::TableWithEffect(effect))
    }

    /// The actions are all that the call does; its output is unknown.
    pub(crate) fn done(self) -> Self {
        self.done_with(OutputOf::NOTHING)
    }

    /// The actions are all that the call does; its output is that of an action.
    pub(crate) fn done_with(mut self, output: OutputOf) -> Self {
        self.output = output;
        self.continuing(Continuation::Done)
    }

    fn continuing(mut self, continuation: Continuation) -> Self {
        self.continuation = continuation;
        self
    }
}

impl Inner {
    fn build(actions: impl FnOnce(&mut Analysis) -> OutputOf) -> Self {
        let mut inner = Analysis::new();
        let output = actions(&mut inner);
        Self {
            actions: inner.actions,
            output,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Analysis, Continuation, Names, OutputOf};
    use crate::model::arg::Arg;
    use crate::model::effect::Effect;
    use crate::model::io::Input;
    use crate::model::span::Span;

    fn command(text: &str) -> Vec<Arg> {
        vec![Arg::new(text, Span::default())]
    }

    #[test]
    fn an_analysis_that_follows_another_one_keeps_the_action_of_its_output() {
        let mut first = Analysis::new();
        first.find(Effect::Read, Span::default(), "reads");
        first.run(command("first"), &Input::Unknown);
        let mut second = Analysis::new();
        let output = second.run(command("second"), &Input::Unknown);
        let both = first.without_operands().then(second.done_with(output));
        assert_eq!(both.continuation, Continuation::Done);
        let OutputOf(Some(at)) = both.output else {
            panic!("no output: {both:?}");
        };
        assert!(
            matches!(&both.actions[at], Action::Run(words, _) if words[0].text == "second"),
            "{both:?}"
        );
        assert_eq!(both.actions.len(), 3);
    }

    #[test]
    fn actions_within_an_action_give_its_output() {
        let mut analysis = Analysis::new();
        let output = analysis.with_names(Names::In(Input::Unknown), |inner| {
            inner.find(Effect::Read, Span::default(), "reads");
            inner.run(command("inner"), &Input::Unknown)
        });
        assert_eq!(output, OutputOf(Some(0)));
        let [Action::WithNames(_, inner)] = analysis.actions.as_slice() else {
            panic!("{analysis:?}");
        };
        assert_eq!(inner.output, OutputOf(Some(1)));
        assert_eq!(analysis.continuation, Continuation::Table);
    }
}
