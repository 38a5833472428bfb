//! State of the shell at the cursor: its environment, the functions in progress, and the names and the
//! output of the current pipeline.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::model::arg::Arg;
use crate::model::environment::{Environment, INPUT_VARIABLES, SHELL_VARIABLES};
use crate::model::io::OutputKind;
use crate::model::possible_path::{MAX_PATHS_OF_VARIABLE, PossiblePath};
use crate::model::value::{Value, is_numeric};
use crate::model::variable_name::is_numeric_parameter;

/// A trap: it may run whenever the text runs.
#[derive(Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) action: Arg,
    /// Environment in which it was set.
    pub(crate) environment: Environment,
}

/// State of a shell.
#[derive(Debug)]
pub(crate) struct ShellState {
    pub(crate) environment: Environment,
    /// Functions that are being called, the outermost first.
    pub(crate) call_stack: Vec<String>,
    /// Traps that the text sets.
    pub(crate) traps: Vec<Trap>,
    /// Environments in which the called function may have returned early; `None` outside of
    /// functions.
    pub(crate) early_returns: Option<Vec<Environment>>,
    /// Values of variables before the called function made them local; `None` outside of functions.
    pub(crate) locals: Option<HashMap<String, Option<Value>>>,
    /// Files whose names the current pipeline prints, and secret paths among its words.
    pub(crate) paths_in_pipeline: Vec<PossiblePath>,
    /// Files that an unknown word may stand for, secret paths first.
    pub(crate) paths_of_unknown_words: Vec<PossiblePath>,
    /// Secret path among the words of the previous command, one of which is `$_`.
    pub(crate) last_secret_path: Option<PossiblePath>,
    /// `true` if a program rather than the shell runs the next text or command.
    pub(crate) runs_in_child_process: bool,
    /// Kind of the output of the current text so far, where the output is unknown.
    pub(crate) output_kind: OutputKind,
    /// Kind of the output of the previous command of a pipeline.
    pub(crate) piped_output_kind: OutputKind,
    /// Words of the commands through which the output of the current command passes first.
    pub(crate) output_filters: Vec<Rc<[Arg]>>,
}

/// What is known of a variable besides its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    Set,
    Unset,
    /// The text does not set it, and the shell may inherit it.
    Inherited,
    /// It depends on the path or on an unknown command if the text sets it.
    Unclear,
}

impl Default for ShellState {
    fn default() -> Self {
        Self {
            environment: Environment::default(),
            call_stack: Vec::new(),
            traps: Vec::new(),
            early_returns: None,
            locals: None,
            paths_in_pipeline: Vec::new(),
            paths_of_unknown_words: Vec::new(),
            last_secret_path: None,
            runs_in_child_process: false,
            output_kind: OutputKind::Numbers,
            piped_output_kind: OutputKind::Anything,
            output_filters: Vec::new(),
        }
    }
}

impl ShellState {
    /// Returns a shell with a copy of this environment that runs nothing.
    pub(crate) fn with_environment_of(other: &Self) -> Self {
        Self {
            environment: other.environment.clone(),
            ..Self::default()
        }
    }

    /// Restores the environment from before a subshell. Files that the subshell wrote, functions
    /// that it called and functions that it exported are kept.
    pub(crate) fn exit_subshell(&mut self, before: Environment) {
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.files.extend(after.files);
        self.environment
            .called_functions
            .extend(after.called_functions);
        for name in after.exported_functions {
            if let Some(body) = after.functions.get(&name) {
                self.environment
                    .functions
                    .entry(name.clone())
                    .or_insert_with(|| Rc::clone(body));
            }
            self.environment.exported_functions.insert(name);
        }
    }

    /// Returns the number of calls of a function that have not returned.
    pub(crate) fn recursion_depth(&self, function: &str) -> usize {
        self.call_stack
            .iter()
            .filter(|call| *call == function)
            .count()
    }

    /// Makes a variable local to the called function.
    pub(crate) fn make_local(&mut self, name: &str) {
        let before = self.environment.variables.get(name);
        if let Some(locals) = &mut self.locals {
            locals
                .entry(name.to_owned())
                .or_insert_with(|| before.cloned());
        }
    }

    /// Restores the variables that a called function made local. Which variables are local may
    /// depend on facts that are known only when the command runs, so both values count.
    pub(crate) fn restore_locals(&mut self, outer: Option<HashMap<String, Option<Value>>>) {
        let locals = std::mem::replace(&mut self.locals, outer).unwrap_or_default();
        for (name, before) in locals {
            let variables = &mut self.environment.variables;
            let after = variables.remove(&name).unwrap_or(Value::Inert);
            let value = before.unwrap_or(Value::Inert).join(&after);
            variables.insert(name, value);
        }
    }

    /// Returns the value of a variable or a parameter, if it is known.
    pub(crate) fn known_variable(&self, name: &str) -> Option<String> {
        let positional = self.environment.positional.as_ref();
        if let Ok(index) = name.parse::<usize>() {
            let args = positional?;
            return match index {
                0 => None,
                _ if args.iter().take(index).any(|arg| arg.may_split || arg.glob) => None,
                _ => match args.get(index - 1) {
                    Some(arg) if arg.has_guessed_number || arg.overridden.is_some() => None,
                    Some(arg) => Some(arg.text.clone()),
                    None => Some(String::new()),
                },
            };
        }
        match name {
            "@" | "*" => {
                let words: Vec<&str> = positional?.iter().map(|arg| arg.text.as_str()).collect();
                let is_certain = |arg: &Arg| {
                    !(arg.glob || arg.may_split || arg.has_guessed_number)
                        && arg.overridden.is_none()
                };
                let are_certain = positional?.iter().all(is_certain);
                are_certain.then(|| words.join(" "))
            }
            _ if self.environment.is_nameref(name) => None,
            _ => self
                .environment
                .variables
                .get(name)?
                .text()
                .map(str::to_owned),
        }
    }

    /// Returns if a variable or a parameter is set.
    pub(crate) fn binding(&self, name: &str) -> Binding {
        let environment = &self.environment;
        let index = match name {
            "@" | "*" => Some(1),
            _ => name.parse::<usize>().ok(),
        };
        match (index, &environment.positional) {
            (Some(0), _) => Binding::Set,
            (Some(_), None) if environment.has_unknown_positional => Binding::Unclear,
            (Some(_), None) => Binding::Inherited,
            (Some(index), Some(args)) => {
                let before = args.iter().take(index);
                match before.clone().any(|arg| arg.may_split || arg.glob) {
                    true => Binding::Unclear,
                    false if before.count() == index => Binding::Set,
                    false => Binding::Unset,
                }
            }
            (None, _) if is_numeric_parameter(name) => Binding::Set,
            (None, _) => match environment.variables.get(name) {
                Some(Value::Text(_) | Value::List(_)) => Binding::Set,
                Some(Value::Address(_) | Value::Inert | Value::Unknown) => Binding::Unclear,
                None => Binding::Inherited,
            },
        }
    }

    /// Returns `true` if a variable may be an array: the text makes it one, or the shell does.
    pub(crate) fn is_array(&self, name: &str) -> bool {
        self.environment.arrays.contains(name) || SHELL_VARIABLES.contains(&name)
    }

    /// Returns `true` if a variable contains a number, or a value from before the command.
    pub(crate) fn is_numeric(&self, name: &str) -> bool {
        match self.environment.variables.get(name).map(Value::list) {
            Some(Some(text)) => is_numeric(text),
            _ => self.is_inert(name),
        }
    }

    /// Returns `true` if a variable contains a value that runs nothing when the shell evaluates it.
    pub(crate) fn is_inert(&self, name: &str) -> bool {
        let positional = self.environment.positional.as_deref();
        let inert = Arg::runs_nothing;
        if name == "0" {
            return self.environment.command_name.as_ref().is_none_or(inert);
        }
        if let Ok(index) = name.parse::<usize>() {
            return positional.map_or(!self.environment.has_unknown_positional, |args| {
                index
                    .checked_sub(1)
                    .and_then(|at| args.get(at))
                    .is_none_or(inert)
            });
        }
        match name {
            "@" | "*" => positional.map_or(!self.environment.has_unknown_positional, |args| {
                args.iter().all(inert)
            }),
            _ if is_numeric_parameter(name) => true,
            _ => {
                let value = self.environment.variables.get(name);
                !value.is_some_and(Value::is_unknown) && !INPUT_VARIABLES.contains(&name)
            }
        }
    }

    /// Returns the text of a variable with another text at its end; `None` if it is not known, or may
    /// be an array or a number.
    pub(crate) fn appended_text(&self, name: &str, end: &str) -> Option<String> {
        let environment = &self.environment;
        let is_plain = !self.is_array(name)
            && !environment.associative_arrays.contains(name)
            && !environment.integer_variables.contains(name)
            && !environment.formatted_variables.contains(name)
            && !environment.is_nameref(name);
        match environment.variables.get(name) {
            Some(Value::Text(start)) if is_plain => Some(format!("{start}{end}")),
            _ => None,
        }
    }

    /// Returns a variable in an expression whose value is unknown and so may run code. Values are
    /// expressions in their turn.
    pub(crate) fn unknown_operand(&self, expression: &str) -> Option<String> {
        self.unknown_operand_except(expression, &mut HashSet::new())
    }

    fn unknown_operand_except(
        &self,
        expression: &str,
        seen: &mut HashSet<String>,
    ) -> Option<String> {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let names = expression
            .split(|c| !part(c))
            .filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
        for name in names {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            match self.environment.variables.get(name) {
                Some(Value::Unknown | Value::Address(_)) => return Some(name.to_owned()),
                Some(Value::Text(text) | Value::List(text)) => {
                    if let Some(name) = self.unknown_operand_except(text, seen) {
                        return Some(name);
                    }
                }
                _ if INPUT_VARIABLES.contains(&name) => return Some(name.to_owned()),
                Some(Value::Inert) | None => {}
            }
        }
        None
    }

    /// Returns the values that contain code in the index of an array, which runs wherever the value
    /// is evaluated.
    pub(crate) fn values_with_subscript_code(&self) -> Vec<String> {
        let variables = self.environment.variables.values();
        let inherited = self.environment.inherited_values.iter().map(String::as_str);
        let code =
            |value: &&str| value.contains('[') && (value.contains("$(") || value.contains('`'));
        let values = variables
            .filter_map(Value::text)
            .chain(inherited)
            .filter(code);
        values.map(str::to_owned).collect()
    }

    /// Removes the first positional parameters; `count` is `None` if their number is unknown.
    pub(crate) fn shift_positional(&mut self, count: Option<usize>) {
        let environment = &mut self.environment;
        match (environment.positional.take(), count) {
            (Some(args), Some(count)) if args.iter().all(|arg| !(arg.may_split || arg.glob)) => {
                environment.set_positional(Some(args.into_iter().skip(count).collect()));
            }
            (None, _) => environment.sets_positional = true,
            _ => environment.set_positional(None),
        }
    }

    /// Records that a variable may contain these names of files.
    pub(crate) fn add_variable_paths(&mut self, variable: &str, paths_to_add: &[PossiblePath]) {
        for name in self.environment.nameref_targets(variable) {
            self.environment.assigned.add_paths(&name, paths_to_add);
            let paths = self.environment.possible_paths.entry(name).or_default();
            paths.extend(paths_to_add.iter().cloned());
            paths.truncate(MAX_PATHS_OF_VARIABLE);
        }
    }

    /// Returns the names of files that a variable may contain; for a parameter, those of all
    /// parameters.
    pub(crate) fn paths_of_variable(&self, variable: &str) -> Vec<PossiblePath> {
        let parameter = variable == "*" || variable.starts_with(|c: char| c.is_ascii_digit());
        let variable = if parameter { "@" } else { variable };
        let names = self.environment.nameref_targets(variable);
        let paths = names
            .iter()
            .filter_map(|name| self.environment.possible_paths.get(name));
        paths.flatten().cloned().collect()
    }

    /// Adds the names of files that a variable may contain to the paths of the pipeline.
    pub(crate) fn add_pipeline_paths_of(&mut self, variable: &str) {
        let paths = self.paths_of_variable(variable);
        self.paths_in_pipeline.extend(paths);
    }
}
