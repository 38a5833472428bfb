//! The builtins `read`, `mapfile` and `readarray`: words and input in, variables with the values
//! that they read out.

use super::interpreter::Interpreter;
use super::paths::DESCRIPTORS;
use crate::model::arg::Arg;
use crate::model::io::{Input, Output};
use crate::model::possible_path::PossiblePath;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::value::Value;
use crate::model::variable_name::is_variable_name;
use crate::programs::builtins::Builtin;
use crate::programs::call::analyze_option_values;

impl Interpreter<'_> {
    /// Runs `read`, `mapfile` or `readarray`. Returns `None` if the tables do not know the builtin.
    pub(crate) fn read_variables(
        &mut self,
        builtin: Builtin,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Option<Output> {
        let rest = args.get(1..)?;
        let line = match input {
            Input::Known(text) => Arg::new(text.clone(), whole),
            Input::Inherited | Input::Unknown => Arg::unknown(whole),
        };
        let paths = self.paths_to_read(rest, input);
        for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
            // A prompt may follow the name: `NAME?PROMPT`.
            let name = arg.text.split('?').next().unwrap_or("");
            let arg = &arg.with_text(name);
            self.fill_variable(arg, &line);
            let plain = arg.text.split('[').next().unwrap_or("");
            self.shell.add_variable_paths(plain, &paths);
        }
        for arg in rest.iter().filter(|arg| arg.text.starts_with('-')) {
            // The name may be joined to the letter: `-aNAME`.
            self.evaluate_variable_name(arg);
            let name = arg.text.get(2..).unwrap_or("");
            if is_variable_name(name) {
                self.fill_variable(&arg.with_text(name), &line);
                self.shell.add_variable_paths(name, &paths);
            }
        }
        if let Input::Known(text) = input
            && builtin == Builtin::Read
        {
            self.set_words_of_line(rest, text);
        }
        if !rest.iter().any(|arg| !arg.text.starts_with('-')) {
            for name in ["REPLY", "MAPFILE"] {
                self.evaluate_if_integer(name, &line);
                self.shell.environment.set_unknown(name);
                self.shell.add_variable_paths(name, &paths);
            }
        }
        if builtin != Builtin::Read {
            let call = self.read_builtin(args)?;
            self.perform_analysis(|context| analyze_option_values(context, &call));
            // The text that an option names is run with an index and a line after it.
            let callbacks = call.options.iter().filter_map(|opt| match opt.spec.role {
                Role::Shell => opt.value.as_ref(),
                _ => None,
            });
            for callback in callbacks {
                let text = format!("{} 0 \"$_\"", callback.text);
                self.run_shell_text(&callback.with_text(&text), &Input::Unknown);
            }
        }
        Some(Some(String::new()))
    }

    /// Returns the names of files that the input may contain.
    fn paths_to_read(&self, rest: &[Arg], input: &Input) -> Vec<PossiblePath> {
        // Another descriptor has other contents.
        let other = |arg: &Arg| {
            let flags = arg.text.strip_prefix('-').unwrap_or("");
            flags
                .chars()
                .take_while(|c| c.is_ascii_alphabetic())
                .any(|c| c == 'u')
        };
        let mut paths = match rest.iter().any(other) {
            true => self.paths_in_input(&Input::Unknown),
            false => self.paths_in_input(input),
        };
        let opened = self.shell.environment.possible_paths.get(DESCRIPTORS);
        paths.extend(opened.into_iter().flatten().cloned());
        paths
    }

    /// Sets the variables of `read` to the words of a known line, unless its options or `IFS`
    /// change how the line splits.
    fn set_words_of_line(&mut self, rest: &[Arg], text: &str) {
        let flags = |arg: &Arg| !arg.text.starts_with('-') || arg.text == "-r";
        let plain = rest.iter().all(flags) && !text.contains('\\');
        if !plain || self.shell.environment.variables.contains_key("IFS") {
            return;
        }
        let names = rest.iter().map(|arg| arg.text.as_str());
        let names: Vec<&str> = names.filter(|name| !name.starts_with('-')).collect();
        let mut words = text.lines().next().unwrap_or("").split_whitespace();
        for (at, name) in names.iter().enumerate() {
            let value = match at + 1 == names.len() {
                true => words.by_ref().collect::<Vec<_>>().join(" "),
                false => words.next().unwrap_or("").to_owned(),
            };
            self.shell.environment.set(name, Value::Text(value));
        }
    }
}
