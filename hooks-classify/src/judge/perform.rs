//! Performs the actions of an [`Analysis`]: the interpreter's side of `programs/` and `languages/`.

use super::Judge;
use crate::model::analysis::{Action, ChildShell, Context, Inner, Names, OutputOf, ReadsListed};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Crud;
use crate::model::environment::{Contents, Value};
use crate::model::io::{Input, Output};
use crate::model::language::Language;
use crate::model::named::Named;
use crate::tables::matches;

impl Judge<'_> {
    /// Returns the facts that a function of `programs/` or `languages/` may read.
    pub(super) fn context(&self) -> Context<'_> {
        Context {
            tables: self.tables,
            environment: &self.environment,
        }
    }

    /// Performs actions in their order, and returns the output of one of them.
    pub(super) fn perform(&mut self, actions: Vec<Action>, output: OutputOf) -> Output {
        let mut printed = None;
        for (at, action) in actions.into_iter().enumerate() {
            let result = self.perform_one(action);
            if output.0 == Some(at) {
                printed = result;
            }
        }
        printed
    }

    fn perform_inner(&mut self, inner: Inner) -> Output {
        self.perform(inner.actions, inner.output)
    }

    fn perform_one(&mut self, action: Action) -> Output {
        match action {
            Action::Find(effect, span, reason) => self.find(effect, span, reason),
            Action::Ask(span, reason) => self.ask(span, reason),
            Action::UnseenCode(source) => self.parts.unseen_code(source),

            Action::Run(words, input) => return self.run(words, &input),
            Action::Call(call, whole, input) => return self.call(&call, whole, &input),
            Action::ShellText(text, input) => return self.shell_text(&text, &input),
            Action::ChildShell(shell) => return self.child_shell(*shell),
            // Text of PowerShell records itself where it is decoded.
            Action::Script(Language::PowerShell, text, _) => {
                crate::language::powershell::judge(self, &text);
            }
            Action::Script(language, text, path) => self.script_in(language, &text, &path),
            Action::ScriptText(language, text) => self.parts.script(language, &text),

            Action::Reads { file, below } => self.reads(&file, below),
            Action::ReadsListed(listed) => self.reads_listed(&listed),
            Action::PrintsName(name) => self.name(&name),
            Action::AddName(named) => self.add_name(named),
            Action::CodeFile(file) => self.parts.code_file(&file),
            Action::MaybeCodeFile(path) => self.parts.maybe_code_file(&path),
            Action::Role(role, words) => self.parts.role(role, &words),
            Action::WritesFile(file) if file.known() => {
                self.environment.files.insert(file.text, Contents::Unknown);
            }
            Action::WritesFile(_) => {}
            Action::CopiesFile(source, target) => self.copies_file(source.text, target.text),
            Action::GoesTo(folder) => self.goes_to_word(&folder),

            Action::Sets(name, value) => self.sets(&name, &value),
            Action::Assigns(name, value) => self.environment.set(&name, value),
            Action::PassesValue(value) => drop(self.environment.outer.insert(value)),
            Action::OverridesConfig => self.parts.told(),
            Action::PrintsVariable(name, span) => self.prints_variable(&name, span),
            Action::Computes(expression) => self.computes(&expression),
            Action::ComputesIndex(word) => self.computed(&word),
            Action::ComputesValues(span) => self.computed_values(span),
            Action::NamesVariable(name) => self.names_variable(&name),
            Action::Fills(name, value) => self.fills(&name, &value),
            Action::Takes(name, value) => self.takes(&name, &value),
            Action::HoldsNames(variable, words) => {
                let words = words.iter().map(|arg| self.named_file(arg.path()));
                let names = words.chain(self.handed.iter().cloned()).collect();
                self.holds_names(&variable, names);
            }

            Action::WithNames(names, inner) => {
                let names = self.names(names);
                return self.with_names(names, |judge| judge.perform_inner(inner));
            }
            Action::WithVariables(set, inner) => {
                return self.with_variables(&set, false, |judge| judge.perform_inner(inner));
            }
            Action::IfOnlyReads(first, then) => {
                let before = self.findings.len();
                self.perform_inner(first);
                let mut found = self.findings[before..].iter();
                if found.all(|finding| finding.effect == Crud::Read) {
                    self.perform_inner(then);
                }
            }
            Action::IfUnknownVariable(patterns, then, or_else) => {
                let variables = self.environment.variables.iter();
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

    fn names(&self, names: Names) -> Vec<Named> {
        match names {
            Names::Known(names) => names,
            Names::In(input) => self.names_in(&input),
            Names::ReadFrom(input) => self.names_read(&input),
            Names::InFile(file) => self.names_of_file(&file),
        }
    }

    /// Runs a text in a shell of its own.
    fn child_shell(&mut self, shell: ChildShell) -> Output {
        let ChildShell {
            text,
            positional,
            names,
            input,
        } = shell;
        let run = |judge: &mut Self| {
            judge.in_child(|judge| {
                let before = judge.environment.positional.replace(positional);
                let output = judge.shell_text(&text, &input);
                judge.environment.positional = before;
                output
            })
        };
        let Some(words) = names else {
            return run(self);
        };
        // `$0` is not followed, and may be a name all the same.
        let mut names = self.names_of_arguments(&words);
        names.extend(words.first().map(|arg| self.named_file(arg.path())));
        self.with_arguments(names, run)
    }

    /// Reads the files that are named in a file, or on the input where it is `-`.
    fn reads_listed(&mut self, listed: &ReadsListed) {
        let list = &listed.list;
        let contents = match list.text.as_str() {
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(listed.input.clone()),
            file => match self.environment.files.get(file) {
                Some(Contents::Text(text)) => Some(Input::Known(text.clone())),
                Some(_) => Some(Input::Unknown),
                None => None,
            },
        };
        let Some(contents) = contents else {
            // What is no name of a file is printed.
            self.reads(list, false);
            return;
        };
        if listed.facts_only {
            return;
        }
        let names = self.names_in(&contents);
        let file = Arg::unknown(list.span);
        self.with_names(names, |judge| judge.reads(&file, listed.below));
    }

    /// Remembers that a file has the contents of another file.
    fn copies_file(&mut self, source: String, mut target: String) {
        if target.ends_with('/') || target == "." {
            let folder = target.trim_end_matches('/');
            let name = source.rsplit('/').next().unwrap_or("");
            target = format!("{folder}/{name}");
        }
        let files = &mut self.environment.files;
        let contents = files.get(&source).cloned();
        let contents = contents.unwrap_or(Contents::Same(source));
        files.insert(target.trim_start_matches("./").to_owned(), contents.clone());
        files.insert(target, contents);
    }

    /// Remembers the folder that the shell goes to.
    fn goes_to_word(&mut self, folder: &Arg) {
        // The folder that the shell goes to may be one of those that a loop goes through.
        let named = self.handed.iter().find(|named| named.secret);
        let path = match named {
            Some(named) if folder.path() == UNKNOWN.to_string() => named.path.clone(),
            _ => folder.path().to_owned(),
        };
        self.goes_to(&path);
    }
}
