//! Analysis of a call or a script: its words or text and a [`Context`] in, an [`Analysis`] out,
//! which lists the actions of the interpreter for it.
//!
//! Functions of `programs/` and `languages/` build an [`Analysis`]. The interpreter performs the
//! actions in their order: it records findings, and runs commands and texts. Only the interpreter
//! recurses.

mod action;
mod context;

use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::possible_path::PossiblePath;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::model::value::Value;
use crate::options::call::Call;

pub(crate) use action::{Action, ChildShell, FileList, NestedActions, OutputAction, PathSource};
pub(crate) use context::Context;

/// Continuation of a call after the actions of its analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// The table of the program applies.
    #[default]
    Table,
    /// The table applies, except for the operands.
    TableWithoutOperands,
    /// The table applies with this effect of the plain call.
    TableWithEffect(Effect),
    /// The actions are all that the call does.
    Done,
}

/// Actions of a program or a script, and the continuation of the call after them.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) actions: Vec<Action>,
    pub(crate) continuation: Continuation,
    /// The action that gives the output of the call.
    pub(crate) output: OutputAction,
    /// Output if `output` names no action.
    pub(crate) known_output: Output,
}

impl Analysis {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, action: Action) -> OutputAction {
        self.actions.push(action);
        OutputAction(Some(self.actions.len() - 1))
    }

    /// Notes the effect of a part of a command.
    pub(crate) fn add_finding(&mut self, effect: Effect, span: Span, reason: impl Into<String>) {
        self.push(Action::AddFinding(effect, span, reason.into()));
    }

    /// Notes a read that needs confirmation.
    pub(crate) fn require_confirmation(&mut self, span: Span, reason: impl Into<String>) {
        self.push(Action::RequireConfirmation(span, reason.into()));
    }

    /// Notes that code runs that is only known when it runs.
    pub(crate) fn add_unseen_code(
        &mut self,
        span: Span,
        source: UnseenCode,
        reason: impl Into<String>,
    ) {
        self.add_finding(Effect::Code, span, reason);
        self.record_unseen_code(source);
    }

    /// Records the source of code that is only known when it runs.
    pub(crate) fn record_unseen_code(&mut self, source: UnseenCode) {
        self.push(Action::RecordUnseenCode(source));
    }

    /// Runs a command.
    pub(crate) fn run_words(&mut self, words: Vec<Arg>, input: &Input) -> OutputAction {
        self.push(Action::RunWords(words, input.clone()))
    }

    /// Runs a call whose options are parsed.
    pub(crate) fn run_call(&mut self, call: Call, whole: Span, input: &Input) -> OutputAction {
        self.push(Action::RunCall(Box::new(call), whole, input.clone()))
    }

    /// Runs a text in the shell, whose unknown parts may be anything.
    pub(crate) fn run_shell_text(&mut self, text: &Arg, input: &Input) -> OutputAction {
        self.push(Action::RunShellText(text.clone(), input.clone()))
    }

    /// Runs a text in a child shell.
    pub(crate) fn run_child_shell(&mut self, shell: ChildShell) -> OutputAction {
        self.push(Action::RunChildShell(Box::new(shell)))
    }

    /// Runs a text in another language, for the program at a path such as `git log`.
    pub(crate) fn run_script(&mut self, language: Language, text: &Arg, call: &Call) {
        let dialect = call.program.details.dialect;
        self.push(Action::RunScript(language, text.clone(), dialect));
    }

    /// Records a text in another language that this analysis reads itself.
    pub(crate) fn record_script(&mut self, language: Language, text: &str) {
        self.push(Action::RecordScript(language, text.to_owned()));
    }

    /// Reads a file.
    pub(crate) fn read_file(&mut self, file: &Arg) {
        self.read_path(file, false);
    }

    /// Reads a file, or with `below` a folder and all files below it.
    pub(crate) fn read_path(&mut self, file: &Arg, recursive: bool) {
        let file = file.clone();
        self.push(Action::ReadFile { file, recursive });
    }

    /// Reads the files that are named in a file.
    pub(crate) fn read_file_list(&mut self, listed: FileList) {
        self.push(Action::ReadFileList(Box::new(listed)));
    }

    /// Notes a file or folder whose name the current pipeline prints.
    pub(crate) fn add_printed_path(&mut self, name: &Arg) {
        self.push(Action::AddPrintedPath(name.clone()));
    }

    /// Notes a file or folder that the current pipeline names.
    pub(crate) fn add_pipeline_path(&mut self, path: PossiblePath) {
        self.push(Action::AddPipelinePath(path));
    }

    /// Records a file whose code runs.
    pub(crate) fn record_code_file(&mut self, file: &Arg) {
        self.push(Action::RecordCodeFile(file.clone()));
    }

    /// Records a path of code that may run.
    pub(crate) fn record_optional_code_file(&mut self, path: &str) {
        self.push(Action::RecordOptionalCodeFile(path.to_owned()));
    }

    /// Records words in the role that they have for a program.
    pub(crate) fn record_role(&mut self, role: Role, words: &[Arg]) {
        self.push(Action::RecordRole(role, words.to_vec()));
    }

    /// Forgets the contents of a file, because a program writes it.
    pub(crate) fn forget_file_contents(&mut self, file: &Arg) {
        self.push(Action::ForgetFileContents(file.clone()));
    }

    /// Remembers the contents of a file that a program writes.
    pub(crate) fn remember_file(&mut self, file: &Arg, contents: FileContents) {
        self.push(Action::RememberFile(file.clone(), contents));
    }

    /// Remembers that a file has the contents of another file.
    pub(crate) fn copy_file(&mut self, source: &Arg, target: &Arg) {
        self.push(Action::CopyFile(source.clone(), target.clone()));
    }

    /// Remembers the folder that the shell changes to.
    pub(crate) fn change_directory(&mut self, folder: &Arg) {
        self.push(Action::ChangeDirectory(folder.clone()));
    }

    /// Notes that the shell returns to a folder in which it was before.
    pub(crate) fn return_to_earlier_directory(&mut self) {
        self.push(Action::ReturnToEarlierDirectory);
    }

    /// Notes that a variable is set that changes which programs run.
    pub(crate) fn check_variable(&mut self, name: &str, value: &Arg) {
        self.push(Action::CheckVariable(name.to_owned(), value.clone()));
    }

    /// Remembers the value of a variable.
    pub(crate) fn set_variable(&mut self, name: &str, value: Value) {
        self.push(Action::SetVariable(name.to_owned(), value));
    }

    /// Remembers a value that programs may inherit in a variable.
    pub(crate) fn add_inherited_value(&mut self, value: &str) {
        self.push(Action::AddInheritedValue(value.to_owned()));
    }

    /// Records that a setting overrides the configuration of a program.
    pub(crate) fn record_config_override(&mut self) {
        self.push(Action::RecordConfigOverride);
    }

    /// Requires confirmation if the value of a variable is printed whose name is that of a secret.
    pub(crate) fn check_printed_variable(&mut self, name: &str, span: Span) {
        self.push(Action::CheckPrintedVariable(name.to_owned(), span));
    }

    /// Evaluates an expression of the shell.
    pub(crate) fn evaluate_expression(&mut self, expression: &Arg) {
        self.push(Action::EvaluateExpression(expression.clone()));
    }

    /// Evaluates the index in a word, if the word has an index.
    pub(crate) fn run_subscript(&mut self, word: &Arg) {
        self.push(Action::RunSubscript(word.clone()));
    }

    /// Evaluates the indexes in the values of all variables.
    pub(crate) fn run_stored_subscripts(&mut self, span: Span) {
        self.push(Action::RunStoredSubscripts(span));
    }

    /// Evaluates the index in the name of a variable.
    pub(crate) fn evaluate_variable_name(&mut self, name: &Arg) {
        self.push(Action::EvaluateVariableName(name.clone()));
    }

    /// Sets a variable to values of this kind.
    pub(crate) fn fill_variable(&mut self, name: &Arg, value: &Arg) {
        self.push(Action::FillVariable(name.clone(), value.clone()));
    }

    /// Evaluates a value that is assigned to an integer variable.
    pub(crate) fn evaluate_if_integer(&mut self, name: &str, value: &Arg) {
        self.push(Action::EvaluateIfInteger(name.to_owned(), value.clone()));
    }

    /// Remembers that a variable may contain names of files.
    pub(crate) fn add_variable_paths(&mut self, variable: &str, words: Vec<Arg>) {
        self.push(Action::AddVariablePaths(variable.to_owned(), words));
    }

    /// Performs actions while unknown words stand for files.
    pub(crate) fn with_paths(
        &mut self,
        paths: PathSource,
        inner: impl FnOnce(&mut Self) -> OutputAction,
    ) -> OutputAction {
        let inner = NestedActions::build(inner);
        self.push(Action::WithPaths(paths, inner))
    }

    /// Performs actions with variables that are set for these actions alone.
    pub(crate) fn with_variables(
        &mut self,
        set: Vec<(String, Arg)>,
        inner: impl FnOnce(&mut Self) -> OutputAction,
    ) -> OutputAction {
        let inner = NestedActions::build(inner);
        self.push(Action::WithVariables(set, inner))
    }

    /// Performs `actions`, and `then` if `actions` found reads alone.
    pub(crate) fn if_only_reads(
        &mut self,
        actions: impl FnOnce(&mut Self) -> OutputAction,
        then: impl FnOnce(&mut Self) -> OutputAction,
    ) {
        let action = Action::IfOnlyReads(NestedActions::build(actions), NestedActions::build(then));
        self.push(action);
    }

    /// Performs `then` if a variable that fits one of the patterns has an unknown value, otherwise
    /// `or_else`.
    pub(crate) fn if_unknown_variable(
        &mut self,
        patterns: &'static [&'static str],
        then: impl FnOnce(&mut Self) -> OutputAction,
        or_else: impl FnOnce(&mut Self) -> OutputAction,
    ) {
        let (then, or_else) = (NestedActions::build(then), NestedActions::build(or_else));
        self.push(Action::IfUnknownVariable(patterns, then, or_else));
    }

    /// Adds the actions of another analysis, and takes its continuation and output.
    pub(crate) fn then(mut self, other: Self) -> Self {
        let first = self.actions.len();
        self.actions.extend(other.actions);
        Self {
            actions: self.actions,
            continuation: other.continuation,
            output: OutputAction(other.output.0.map(|at| at + first)),
            known_output: other.known_output,
        }
    }

    /// Adds the actions of another analysis without its continuation and output.
    pub(crate) fn append(&mut self, other: Self) {
        self.actions.extend(other.actions);
    }

    /// Continues with the table of the program, except for the operands.
    pub(crate) fn without_operands(self) -> Self {
        self.continuing(Continuation::TableWithoutOperands)
    }

    /// Continues with the table of the program and this effect of the plain call.
    pub(crate) fn with_effect(self, effect: Effect) -> Self {
        self.continuing(Continuation::TableWithEffect(effect))
    }

    /// Ends the call after the actions; its output is unknown.
    pub(crate) fn done(self) -> Self {
        self.done_with(OutputAction::NONE)
    }

    /// Ends the call after the actions; its output is the output of an action.
    pub(crate) fn done_with(mut self, output: OutputAction) -> Self {
        self.output = output;
        self.continuing(Continuation::Done)
    }

    fn continuing(mut self, continuation: Continuation) -> Self {
        self.continuation = continuation;
        self
    }
}

impl NestedActions {
    fn build(actions: impl FnOnce(&mut Analysis) -> OutputAction) -> Self {
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
    use super::{Action, Analysis, Continuation, OutputAction, PathSource};
    use crate::model::arg::Arg;
    use crate::model::effect::Effect;
    use crate::model::io::Input;
    use crate::model::span::Span;

    fn command(text: &str) -> Vec<Arg> {
        vec![Arg::new(text, Span::default())]
    }

    #[test]
    fn a_following_analysis_keeps_its_output_action() {
        let mut first = Analysis::new();
        first.add_finding(Effect::Read, Span::default(), "reads");
        first.run_words(command("first"), &Input::Unknown);
        let mut second = Analysis::new();
        let output = second.run_words(command("second"), &Input::Unknown);
        let both = first.without_operands().then(second.done_with(output));
        assert_eq!(both.continuation, Continuation::Done);
        let OutputAction(Some(at)) = both.output else {
            panic!("no output: {both:?}");
        };
        assert!(
            matches!(&both.actions[at], Action::RunWords(words, _) if words[0].text == "second"),
            "{both:?}"
        );
        assert_eq!(both.actions.len(), 3);
    }

    #[test]
    fn nested_actions_keep_their_output_action() {
        let mut analysis = Analysis::new();
        let output = analysis.with_paths(PathSource::Input(Input::Unknown), |inner| {
            inner.add_finding(Effect::Read, Span::default(), "reads");
            inner.run_words(command("inner"), &Input::Unknown)
        });
        assert_eq!(output, OutputAction(Some(0)));
        let [Action::WithPaths(_, inner)] = analysis.actions.as_slice() else {
            panic!("{analysis:?}");
        };
        assert_eq!(inner.output, OutputAction(Some(1)));
        assert_eq!(analysis.continuation, Continuation::Table);
    }
}
