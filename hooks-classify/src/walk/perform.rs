//! Actions: an [`Analysis`] in, the findings and outputs of its actions out.

use super::interpreter::Interpreter;
use crate::analysis::{
    Action, Analysis, ChildShell, Context, FileList, NestedActions, OutputAction, PathSource,
};
use crate::languages;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Crud;
use crate::model::environment::{FileContents, START_FOLDER};
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::possible_path::PossiblePath;
use crate::model::sql_dialect::SqlDialect;
use crate::model::value::Value;
use crate::tables::matches;
use crate::workspace::{Answer, Entry};

impl Interpreter<'_> {
    /// Returns the context of a function of `programs/` or `languages/`.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            shells: self.cursor.shells,
            tables: self.tables,
            environment: &self.shell.environment,
            workspace: self.workspace,
        }
    }

    /// Runs a script in another language.
    pub(crate) fn run_foreign_script(
        &mut self,
        language: Language,
        script: &Arg,
        dialect: SqlDialect,
    ) {
        let analysis = languages::analyze_script(language, script, dialect, self.tables);
        self.perform_script(analysis);
    }

    /// Runs a text in PowerShell that a command is itself.
    pub(crate) fn run_powershell(&mut self, text: &Arg) {
        let analysis = languages::powershell::analyze(text, self.tables);
        self.perform_script(analysis);
    }

    /// A script has findings and actions, and neither a table nor an output.
    fn perform_script(&mut self, analysis: Analysis) {
        self.perform(analysis.actions, OutputAction::NONE);
    }

    /// Performs an analysis in addition to a command that the interpreter runs itself.
    pub(crate) fn perform_analysis(&mut self, analyze: impl FnOnce(&Context<'_>) -> Analysis) {
        let analysis = analyze(&self.context());
        self.perform(analysis.actions, analysis.output);
    }

    /// Performs actions in their order, and returns the output of one of them.
    pub(crate) fn perform(&mut self, actions: Vec<Action>, output: OutputAction) -> Output {
        let mut printed = None;
        for (at, action) in actions.into_iter().enumerate() {
            let result = self.perform_action(action);
            if output.0 == Some(at) {
                printed = result;
            }
        }
        printed
    }

    fn perform_nested(&mut self, inner: NestedActions) -> Output {
        self.perform(inner.actions, inner.output)
    }

    fn perform_action(&mut self, action: Action) -> Output {
        match action {
            Action::AddFinding(effect, span, reason) => self.add_finding(effect, span, reason),
            Action::RequireConfirmation(span, reason) => self.require_confirmation(span, reason),
            Action::RecordUnseenCode(source) => self.sink.recorder.record_unseen_code(source),

            Action::RunWords(words, input) => return self.run_args(words, &input),
            Action::RunCall(call, whole, input) => return self.run_call(&call, whole, &input),
            Action::RunShellText(text, input) => return self.run_shell_text(&text, &input),
            Action::RunChildShell(shell) => return self.run_child_shell(*shell),
            // Text of PowerShell records itself where it is decoded.
            Action::RunScript(Language::PowerShell, text, _) => {
                self.run_powershell(&text);
            }
            Action::RunScript(language, text, dialect) => {
                self.run_foreign_script(language, &text, dialect)
            }
            Action::RecordScript(language, text) => {
                self.sink.recorder.record_script(language, &text)
            }

            Action::ReadFile { file, recursive } => self.record_read(&file, recursive),
            Action::ReadFileList(listed) => self.read_file_list(&listed),
            Action::AddPrintedPath(path) => self.add_printed_path(&path),
            Action::AddPipelinePath(path) => self.add_pipeline_path(path),
            Action::RecordCodeFile(file) => self.sink.recorder.record_code_file(&file),
            Action::RecordOptionalCodeFile(path) => {
                self.sink.recorder.record_optional_code_file(&path)
            }
            Action::RecordRole(role, words) => self.sink.recorder.record_role(role, &words),
            Action::ForgetFileContents(file) if file.is_known() => {
                self.shell
                    .environment
                    .files
                    .insert(file.text, FileContents::Unknown);
            }
            Action::ForgetFileContents(_) => {}
            Action::RememberFile(file, contents) if file.is_known() => {
                self.shell.environment.files.insert(file.text, contents);
            }
            Action::RememberFile(..) => {}
            Action::CopyFile(source, target) => {
                self.shell.environment.copy_file(source.text, target.text);
            }
            Action::ChangeDirectory(folder) => self.change_directory(&folder),
            Action::ReturnToEarlierDirectory => {
                self.shell.environment.return_to_earlier_directory();
            }

            Action::CheckVariable(name, value) => self.check_variable(&name, &value),
            Action::SetVariable(name, value) => self.shell.environment.set(&name, value),
            Action::AddInheritedValue(value) => {
                self.shell.environment.inherited_values.insert(value);
            }
            Action::RecordConfigOverride => self.sink.recorder.record_config_override(),
            Action::CheckPrintedVariable(name, span) => self.check_printed_variable(&name, span),
            Action::EvaluateExpression(expression) => self.evaluate_expression(&expression),
            Action::RunSubscript(word) => self.run_subscript(&word),
            Action::RunStoredSubscripts(span) => self.run_stored_subscripts(span),
            Action::EvaluateVariableName(name) => self.evaluate_variable_name(&name),
            Action::FillVariable(name, value) => self.fill_variable(&name, &value),
            Action::EvaluateIfInteger(name, value) => self.evaluate_if_integer(&name, &value),
            Action::AddVariablePaths(variable, words) => {
                let words = words.iter().map(|arg| self.possible_path(arg.path()));
                let paths: Vec<PossiblePath> = words
                    .chain(self.shell.paths_of_unknown_words.iter().cloned())
                    .collect();
                self.shell.add_variable_paths(&variable, &paths);
            }

            Action::WithPaths(paths, inner) => {
                let paths = self.resolve_paths(paths);
                return self.with_paths(paths, |interpreter| interpreter.perform_nested(inner));
            }
            Action::WithVariables(set, inner) => {
                return self
                    .with_variables(&set, false, |interpreter| interpreter.perform_nested(inner));
            }
            Action::IfOnlyReads(first, then) => {
                let before = self.sink.findings.len();
                self.perform_nested(first);
                let mut found = self.sink.findings[before..].iter();
                if found.all(|finding| finding.effect == Crud::Read) {
                    self.perform_nested(then);
                }
            }
            Action::IfUnknownVariable(patterns, then, or_else) => {
                let variables = self.shell.environment.variables.iter();
                let mut unknown = variables.filter(|(_, value)| value.is_unknown());
                let matches_pattern = |(name, _): (&String, &Value)| {
                    patterns.iter().any(|pattern| matches(pattern, name))
                };
                let inner = match unknown.any(matches_pattern) {
                    true => then,
                    false => or_else,
                };
                self.perform_nested(inner);
            }
        }
        None
    }

    fn resolve_paths(&self, source: PathSource) -> Vec<PossiblePath> {
        match source {
            PathSource::Known(paths) => paths,
            PathSource::Input(input) => self.paths_in_input(&input),
            PathSource::OwnInput(input) => self.paths_in_own_input(&input),
            PathSource::File(file) => self.paths_in_file(&file),
        }
    }

    /// Runs a text in a child shell.
    fn run_child_shell(&mut self, shell: ChildShell) -> Output {
        let ChildShell {
            text,
            positional,
            shells,
            path_words,
            input,
        } = shell;
        let outer_shells = std::mem::replace(&mut self.cursor.shells, shells);
        let name = path_words.as_ref().and_then(|words| words.first().cloned());
        let run = |interpreter: &mut Self| {
            interpreter.in_child_process(|interpreter| {
                let environment = &mut interpreter.shell.environment;
                let words = name.iter().chain(&positional);
                words.for_each(|word| environment.options.note(&word.text));
                let before = environment.positional.replace(positional);
                let outer_name = std::mem::replace(&mut environment.command_name, name);
                let output = interpreter.run_shell_text(&text, &input);
                interpreter.shell.environment.positional = before;
                interpreter.shell.environment.command_name = outer_name;
                output
            })
        };
        let output = match path_words {
            None => run(self),
            Some(words) => {
                // `$0` may be the name of a file.
                let mut paths = self.paths_of_arguments(&words);
                paths.extend(words.first().map(|arg| self.possible_path(arg.path())));
                self.with_argument_paths(paths, run)
            }
        };
        self.cursor.shells = outer_shells;
        output
    }

    /// Reads the files that are named in a file, or on the input where it is `-`.
    fn read_file_list(&mut self, listed: &FileList) {
        let list = &listed.list;
        let contents = match list.text.as_str() {
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(listed.input.clone()),
            file => match self.shell.environment.files.get(file) {
                Some(FileContents::Text(text)) => Some(Input::Known(text.clone())),
                Some(_) => Some(Input::Unknown),
                None => None,
            },
        };
        let Some(contents) = contents else {
            // Entries that are not names of files are printed, so the list itself is read.
            self.record_read(list, false);
            return;
        };
        if listed.metadata_only {
            return;
        }
        let paths = self.paths_in_input(&contents);
        let file = Arg::unknown(list.span);
        self.with_paths(paths, |interpreter| {
            interpreter.record_read(&file, listed.recursive)
        });
    }

    /// Changes the working directory.
    fn change_directory(&mut self, folder: &Arg) {
        // An unknown folder may be one of the folders that a loop iterates over.
        let named = self
            .shell
            .paths_of_unknown_words
            .iter()
            .find(|named| named.secret);
        let path = match named {
            Some(named) if folder.path() == UNKNOWN.to_string() => named.path.clone(),
            _ => folder.path().to_owned(),
        };
        let before = self.shell.environment.working_directories.clone();
        let place = self.context().folder_at(&path);
        self.shell.environment.change_directory(&path);
        // If there is no such folder, the shell stays where it is.
        if self.workspace.is_known()
            && let Some(place) = place
            && self.workspace.resolved_entry(&place) != Answer::Known(Entry::Folder)
        {
            let stays = match before.is_empty() {
                true => [START_FOLDER.to_owned()].into(),
                false => before,
            };
            self.shell.environment.working_directories.extend(stays);
        }
    }
}
