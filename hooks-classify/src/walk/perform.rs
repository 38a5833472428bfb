//! Actions: an [`Analysis`] in, the findings and outputs of its actions out.

use super::interpreter::Interpreter;
use crate::analysis::{
    Action, Analysis, ChildShell, Context, InnerActions, Names, OutputOf, ReadsListed,
};
use crate::languages;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Crud;
use crate::model::environment::{FileContents, Value};
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::named::PossiblePath;
use crate::model::sql_dialect::SqlDialect;
use crate::tables::matches;

impl Interpreter<'_> {
    /// Returns the facts that a function of `programs/` or `languages/` may read.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            tables: self.tables,
            environment: &self.shell.environment,
        }
    }

    /// Runs a script that a program was given.
    pub(crate) fn script_in(&mut self, language: Language, script: &Arg, dialect: SqlDialect) {
        let analysis = languages::read(language, script, dialect, self.tables);
        self.perform_script(analysis);
    }

    /// Runs a text in PowerShell that a command is itself.
    pub(crate) fn powershell(&mut self, text: &Arg) {
        let analysis = languages::powershell::read(text, self.tables);
        self.perform_script(analysis);
    }

    /// A script has findings and actions, and neither a table nor an output.
    fn perform_script(&mut self, analysis: Analysis) {
        self.perform(analysis.actions, OutputOf::NOTHING);
    }

    /// Performs an analysis in addition to a command that the interpreter runs itself.
    pub(crate) fn perform_analysis(&mut self, analyze: impl FnOnce(&Context<'_>) -> Analysis) {
        let analysis = analyze(&self.context());
        self.perform(analysis.actions, analysis.output);
    }

    /// Performs actions in their order, and returns the output of one of them.
    pub(crate) fn perform(&mut self, actions: Vec<Action>, output: OutputOf) -> Output {
        let mut printed = None;
        for (at, action) in actions.into_iter().enumerate() {
            let result = self.perform_one(action);
            if output.0 == Some(at) {
                printed = result;
            }
        }
        printed
    }

    fn perform_inner(&mut self, inner: InnerActions) -> Output {
        self.perform(inner.actions, inner.output)
    }

    fn perform_one(&mut self, action: Action) -> Output {
        match action {
            Action::Find(effect, span, reason) => self.find(effect, span, reason),
            Action::Ask(span, reason) => self.ask(span, reason),
            Action::UnseenCode(source) => self.sink.parts.unseen_code(source),

            Action::Run(words, input) => return self.run(words, &input),
            Action::Call(call, whole, input) => return self.call(&call, whole, &input),
            Action::ShellText(text, input) => return self.shell_text(&text, &input),
            Action::ChildShell(shell) => return self.child_shell(*shell),
            // Text of PowerShell records itself where it is decoded.
            Action::Script(Language::PowerShell, text, _) => {
                self.powershell(&text);
            }
            Action::Script(language, text, dialect) => self.script_in(language, &text, dialect),
            Action::ScriptText(language, text) => self.sink.parts.script(language, &text),

            Action::Reads { file, below } => self.reads(&file, below),
            Action::ReadsListed(listed) => self.reads_listed(&listed),
            Action::PrintsName(name) => self.prints_name(&name),
            Action::AddName(named) => self.add_name(named),
            Action::CodeFile(file) => self.sink.parts.code_file(&file),
            Action::MaybeCodeFile(path) => self.sink.parts.maybe_code_file(&path),
            Action::Role(role, words) => self.sink.parts.role(role, &words),
            Action::WritesFile(file) if file.is_known() => {
                self.shell
                    .environment
                    .files
                    .insert(file.text, FileContents::Unknown);
            }
            Action::WritesFile(_) => {}
            Action::CopiesFile(source, target) => {
                self.shell.environment.copy_file(source.text, target.text);
            }
            Action::GoesTo(folder) => self.change_folder(&folder),

            Action::Sets(name, value) => self.sets(&name, &value),
            Action::Assigns(name, value) => self.shell.environment.set(&name, value),
            Action::PassesValue(value) => {
                drop(self.shell.environment.inherited_values.insert(value))
            }
            Action::OverridesConfig => self.sink.parts.overrides_config(),
            Action::PrintsVariable(name, span) => self.prints_variable(&name, span),
            Action::Computes(expression) => self.computes(&expression),
            Action::ComputesIndex(word) => self.computes_index(&word),
            Action::ComputesValues(span) => self.computes_values(span),
            Action::NamesVariable(name) => self.names_variable(&name),
            Action::Fills(name, value) => self.fills(&name, &value),
            Action::Takes(name, value) => self.takes(&name, &value),
            Action::HoldsNames(variable, words) => {
                let words = words.iter().map(|arg| self.named_file(arg.path()));
                let names: Vec<PossiblePath> = words
                    .chain(self.shell.paths_of_unknown_words.iter().cloned())
                    .collect();
                self.shell.holds_names(&variable, &names);
            }

            Action::WithNames(names, inner) => {
                let names = self.names(names);
                return self.with_names(names, |interpreter| interpreter.perform_inner(inner));
            }
            Action::WithVariables(set, inner) => {
                return self
                    .with_variables(&set, false, |interpreter| interpreter.perform_inner(inner));
            }
            Action::IfOnlyReads(first, then) => {
                let before = self.sink.findings.len();
                self.perform_inner(first);
                let mut found = self.sink.findings[before..].iter();
                if found.all(|finding| finding.effect == Crud::Read) {
                    self.perform_inner(then);
                }
            }
            Action::IfUnknownVariable(patterns, then, or_else) => {
                let variables = self.shell.environment.variables.iter();
                let mut unknown = variables.filter(|(_, value)| value.is_unknown());
                let fits = |(name, _): (&String, &Value)| {
                    patterns.iter().any(|pattern| matches(pattern, name))
                };
                let inner = match unknown.any(fits) {
                    true => then,
                    false => or_else,
                };
                self.perform_inner(inner);
            }
        }
        None
    }

    fn names(&self, names: Names) -> Vec<PossiblePath> {
        match names {
            Names::Known(names) => names,
            Names::In(input) => self.names_in(&input),
            Names::ReadFrom(input) => self.names_read(&input),
            Names::InFile(file) => self.names_of_file(&file),
        }
    }

    /// Runs a text in a child shell.
    fn child_shell(&mut self, shell: ChildShell) -> Output {
        let ChildShell {
            text,
            positional,
            names,
            input,
        } = shell;
        let run = |interpreter: &mut Self| {
            interpreter.in_child_process(|interpreter| {
                let before = interpreter.shell.environment.positional.replace(positional);
                let output = interpreter.shell_text(&text, &input);
                interpreter.shell.environment.positional = before;
                output
            })
        };
        let Some(words) = names else {
            return run(self);
        };
        // `$0` is not tracked, but may be the name of a file.
        let mut names = self.names_of_arguments(&words);
        names.extend(words.first().map(|arg| self.named_file(arg.path())));
        self.with_arguments(names, run)
    }

    /// Reads the files that are named in a file, or on the input where it is `-`.
    fn reads_listed(&mut self, listed: &ReadsListed) {
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
            self.reads(list, false);
            return;
        };
        if listed.facts_only {
            return;
        }
        let names = self.names_in(&contents);
        let file = Arg::unknown(list.span);
        self.with_names(names, |interpreter| interpreter.reads(&file, listed.below));
    }

    /// Changes the working directory.
    fn change_folder(&mut self, folder: &Arg) {
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
        self.shell.environment.change_directory(&path);
    }
}
