//! Calls of programs: a call in, the effects out that its function and its table state.

use super::interpreter::Interpreter;
use crate::analysis::Continuation;
use crate::model::arg::{Arg, display_text};
use crate::model::effect::{Crud, Effect};
use crate::model::io::{Input, Output};
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::variable_name::base_name;
use crate::options::call::Call;
use crate::programs::call::{analyze_by_table, analyze_words};
use crate::programs::function::find_function;
use crate::programs::package_scripts::{PackageScripts, package_scripts};
use crate::programs::project_files::{analyze_project_files, may_load_files};
use crate::tables::{Program, matches};

impl Interpreter<'_> {
    /// Runs a program with its words; returns its output.
    pub(crate) fn run_program(
        &mut self,
        name: &str,
        program: &'static Program,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        let call = Call::read(name, program, &args[1..]);
        self.run_call(&call, whole, input)
    }

    /// Notes the effects of a call; returns its output.
    pub(crate) fn run_call(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        self.sink.recorder.record_call(call);
        self.record_terminal_input(call, input);
        self.check_exported_assignments(call);
        self.check_files_of_options(call);
        let before = self.sink.confirmations;
        let findings = self.sink.findings.len();
        let is_elsewhere = call.program.details.elsewhere;
        if is_elsewhere {
            self.workspace.enter_other_place();
        }
        let output = self.run_checked_call(call, whole, input);
        if is_elsewhere {
            self.workspace.leave_other_place();
        }
        self.check_project_files(call, whole, findings);
        if self.sink.confirmations == before {
            self.check_unknown_variables(call);
        }
        output
    }

    /// Notes the files of the project that a call loads, if it has only read since a finding.
    fn check_project_files(&mut self, call: &Call, whole: Span, since: usize) {
        let mut found = self.sink.findings[since..].iter();
        if self.workspace.is_known()
            && found.all(|finding| finding.effect == Crud::Read)
            && may_load_files(&self.context(), call)
        {
            self.with_call_folder(call, |interpreter| {
                let context = interpreter.context();
                let analysis = analyze_project_files(&context, call, whole);
                interpreter.perform(analysis.actions, analysis.output);
            });
        }
    }

    fn run_checked_call(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        let words = analyze_words(&self.context(), call, whole);
        let output = self.perform(words.actions, words.output);
        if words.continuation == Continuation::Done {
            return output;
        }
        self.with_call_folder(call, |interpreter| {
            interpreter.run_call_in_folder(call, whole, input)
        })
    }

    /// Notes words that a program replaces by the options in a file: `@FILE`.
    fn check_files_of_options(&mut self, call: &Call) {
        if !call.program.details.expands_files {
            return;
        }
        let is_file = |arg: &&Arg| arg.text.starts_with('@') && arg.text.len() > 1;
        for file in call.args.iter().filter(is_file) {
            let name = display_text(file);
            let reason = format!("`{}` takes options from `{name}`", call.path);
            self.add_finding(Effect::Code, file.span, reason);
        }
    }

    /// Notes variables of the call that change which programs it runs.
    fn check_exported_assignments(&mut self, call: &Call) {
        for (name, value) in self.shell.environment.exported_assignments.clone() {
            let patterns = call.program.details.variables.iter();
            let is_program_variable = patterns.clone().any(|pattern| matches(pattern, &name));
            let known = value.is_known().then_some(value.text.as_str());
            let mut harmless = call.program.details.harmless_variables.iter();
            let is_harmless = harmless.any(|pattern| matches(pattern, &name))
                || !patterns.clone().any(|pattern| *pattern == name)
                    && self.tables.is_harmless_variable(&name);
            if is_program_variable
                && !is_harmless
                && self.tables.variable_rule(&name, None).is_none()
                && known != Some("")
            {
                let reason = format!("sets `{name}`, which changes what `{}` runs", call.path);
                self.add_finding(Effect::Code, value.span, reason);
            }
        }
    }

    /// Requires confirmation of a reading call with variables that are not known to be harmless for
    /// its program.
    fn check_unknown_variables(&mut self, call: &Call) {
        let mut roles = call.program.operands.iter();
        let is_wrapper = roles.any(|(role, _)| matches!(role, Role::Argv { .. }));
        // A builtin runs in the shell itself, whose variables are checked when they are set.
        let in_shell = !self.shell.runs_in_child_process;
        if is_wrapper || in_shell || self.shell.environment.exported_assignments.is_empty() {
            return;
        }
        for (name, value) in self.shell.environment.exported_assignments.clone() {
            let name = base_name(&name);
            let mut own = call.program.details.harmless_variables.iter();
            let mut checked = call.program.details.variables.iter();
            let is_harmless = self.tables.is_harmless_variable(name)
                || checked.any(|pattern| matches(pattern, name))
                || own.any(|pattern| matches(pattern, name))
                || self.tables.has_variable_rule(name);
            if !is_harmless {
                let path = &call.path;
                let reason = format!("`{name}` is not known to be harmless for `{path}`");
                self.add_finding(Effect::Unknown, value.span, reason);
            }
        }
    }

    fn run_call_in_folder(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        if let Some(scripts) = package_scripts(&self.context(), call) {
            self.run_package_scripts(call, whole, &scripts);
            return None;
        }
        let mut continuation = Continuation::Table;
        if let Some(name) = call.program.function() {
            let analysis = find_function(name)(&self.context(), call, whole, input);
            continuation = analysis.continuation;
            let output = self.perform(analysis.actions, analysis.output);
            if continuation == Continuation::Done {
                return output;
            }
        }
        let effect = match continuation {
            Continuation::TableWithEffect(effect) => Some(effect),
            // The files are looked at after the call.
            _ if call.program.details.loads_decide && self.workspace.is_known() => {
                Some(Effect::Read)
            }
            _ => None,
        };
        let operands = continuation != Continuation::TableWithoutOperands;
        let context = self.context();
        let analysis = analyze_by_table(&context, call, whole, input, effect, operands);
        let printed = analysis.known_output;
        self.perform(analysis.actions, analysis.output).or(printed)
    }

    /// Notes the effect of the scripts of a package as that of the call that runs them.
    fn run_package_scripts(&mut self, call: &Call, whole: Span, scripts: &PackageScripts) {
        let PackageScripts {
            folder,
            file,
            line,
            text,
            all,
        } = scripts;
        self.sink.recorder.record_optional_code_file(file);
        let effect = self.strongest_effect_of(|inner| {
            inner.shell.environment.working_directories = [folder.clone()].into();
            let text = Arg::new(all.clone(), whole);
            inner.run_shell_text(&text, &Input::Unknown);
        });
        let effect = effect.unwrap_or(Effect::Read);
        let name = file.rsplit('/').next().unwrap_or(file);
        let reason = format!("`{}` runs `{text}` (`{name}:{line}`)", call.path);
        self.add_finding(effect, whole, reason);
    }

    /// Runs a call in the folder named by one of its options.
    pub(crate) fn with_call_folder<T>(
        &mut self,
        call: &Call,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let folders = call
            .options
            .iter()
            .filter(|opt| opt.spec.role == Role::Folder);
        let folders: Vec<String> = folders
            .filter_map(|opt| Some(opt.value.as_ref()?.path().to_owned()))
            .collect();
        if folders.is_empty() {
            return run(self);
        }
        let before = self.shell.environment.working_directories.clone();
        for folder in folders {
            self.shell.environment.change_directory(&folder);
        }
        let output = run(self);
        self.shell.environment.working_directories = before;
        output
    }
}
