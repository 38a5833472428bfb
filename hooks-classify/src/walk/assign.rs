//! Variables: assignments in, their effects and the new environment out.

use super::cursor::SpanMap;
use super::interpreter::Interpreter;
use crate::model::arg::{Arg, UNKNOWN, may_compute};
use crate::model::effect::Effect;
use crate::model::environment::SHELL_VARIABLES;
use crate::model::io::Input;
use crate::model::possible_path::PossiblePath;
use crate::model::program_name::without_system_folder;
use crate::model::script::{ParameterOperator, ShellWord, WordPiece};
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::value::{Value, is_numeric};
use crate::model::variable_name::{base_name, is_variable_name};
use crate::options::call::Call;
use crate::programs::addresses::remote_host;
use crate::programs::file_roles::is_in_private_folder;
use crate::programs::line_filters::LineFilter;
use crate::secrets::names::is_secret_variable;
use crate::workspace::Variable;

impl Interpreter<'_> {
    /// Runs a command with variables that are set for this command only. `keeps` is true for
    /// builtins after which some shells keep the variables.
    pub(crate) fn with_variables<T>(
        &mut self,
        set: &[(String, Arg)],
        keeps: bool,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let names = set.iter().map(|(name, _)| base_name(name).to_owned());
        let before: Vec<_> = names
            .map(|name| (self.shell.environment.variables.get(&name).cloned(), name))
            .collect();
        // Without `keeps`, only the command has the values, and the text does not assign them.
        let assigned = (!keeps).then(|| std::mem::take(&mut self.shell.environment.assigned));
        for (name, value) in set {
            self.set_variable(name, value);
        }
        if let Some(assigned) = assigned {
            self.shell.environment.assigned = assigned;
        }
        let passed = self.shell.environment.exported_assignments.len();
        self.shell
            .environment
            .exported_assignments
            .extend(set.iter().cloned());
        let output = run(self);
        if !keeps {
            self.shell.environment.exported_assignments.truncate(passed);
        }
        let variables = &mut self.shell.environment.variables;
        for (value, name) in before {
            let value = match variables.remove(&name) {
                // Only some shells keep the variables.
                Some(now) if keeps => Some(value.unwrap_or(Value::Inert).join(&now)),
                _ => value,
            };
            variables.extend(value.map(|value| (name, value)));
        }
        output
    }

    /// Expands `NAME=VALUE`; the name keeps the `+` of `+=`.
    pub(crate) fn expand_assignment_word(&mut self, word: &ShellWord) -> Option<(Arg, Arg)> {
        let (name, value) = self.split_at_equals(word)?;
        is_variable_name(base_name(&name.text)).then_some((name, value))
    }

    /// Evaluates the subscript of an array element that is set.
    pub(crate) fn evaluate_element(&mut self, name: &Arg) {
        let Some((base, index)) = name.text.split_once('[') else {
            return;
        };
        // The options of zsh.
        if base == "options" {
            self.check_shell_option(&name.with_text(index.trim_end_matches(']')));
        }
        let keyed = self.shell.environment.associative_arrays.contains(base);
        self.evaluate_subscript(&name.with_text(index), keyed);
    }

    /// Requires confirmation for a variable or a setting whose value is printed, if its name is
    /// that of a secret and the command does not set it.
    pub(crate) fn check_printed_variable(&mut self, name: &str, span: Span) {
        if is_secret_variable(name) && !self.shell.environment.variables.contains_key(name) {
            self.require_confirmation(span, format!("prints `{name}`, by its name a secret"));
        }
    }

    /// Requires confirmation for a command that prints all variables, if one of them is a secret.
    pub(crate) fn check_printed_environment(&mut self, args: &[Arg], whole: Span) {
        let name = without_system_folder(&args[0].text);
        let Some(program) = self.tables.program(name) else {
            return;
        };
        let Some(off) = program.details.prints_variables else {
            return;
        };
        let call = Call::read(name, program, &args[1..]);
        let sets = program.details.sets_variables;
        let mut operands = call
            .operands
            .iter()
            .map(|operand| operand.arg.text.as_str());
        let names_one = operands.any(|operand| !(sets && operand.contains('=')));
        let is_off = |name: &str| off.contains(&name);
        if names_one
            || self.shell.environment.functions.contains_key(name)
            || call
                .operands
                .first()
                .is_some_and(|first| first.arg.text == "-")
            || call.options.iter().any(|option| is_off(&option.name))
        {
            return;
        }
        if self.workspace.is_elsewhere() {
            let reason =
                format!("`{name}` prints the variables of another place, which are unknown");
            self.require_confirmation(whole, reason);
            return;
        }
        let Some(variables) = self.workspace.variables().known() else {
            return;
        };
        let is_set_here = |name: &str| self.shell.environment.variables.contains_key(name);
        let filters = self.shell.output_filters.iter();
        let filters: Vec<LineFilter> = filters
            .map_while(|words| LineFilter::of_words(self.tables, words))
            .collect();
        let mut secrets = variables.iter().filter(|one| one.is_secret());
        if let Some(secret) =
            secrets.find(|one| !is_set_here(&one.name) && is_printed(one, &filters))
        {
            let how = match is_secret_variable(&secret.name) {
                true => "by its name a secret",
                false => "which holds a secret",
            };
            let reason = format!("`{name}` prints `{}`, {how}", secret.name);
            self.require_confirmation(whole, reason);
        }
    }

    /// Requires confirmation for words that print a variable whose name is that of a secret, unless
    /// the command sets the variable.
    pub(crate) fn check_printed_variables(&mut self, words: &[ShellWord]) {
        for word in words {
            for piece in &word.pieces {
                let WordPiece::Variable { name, operator, .. } = piece else {
                    continue;
                };
                if replaces_value(operator) {
                    continue;
                }
                let span = self.cursor.span_map.map(word.span);
                for name in self.possible_variables(name, operator) {
                    self.check_printed_variable(&name, span);
                    if self.shell.environment.secret_variables.contains(&name) {
                        self.require_confirmation(
                            span,
                            format!("prints `{name}`, which holds a secret"),
                        );
                    }
                }
            }
        }
    }

    /// Returns the variables whose values an expansion may give: `${!x}` gives that of the variable
    /// which `x` names.
    fn possible_variables(&self, name: &str, change: &ParameterOperator) -> Vec<String> {
        let mut names = self.shell.environment.nameref_targets(name);
        if matches!(change, ParameterOperator::Indirect(_))
            && let Some(named) = self.shell.known_variable(name)
        {
            names.extend(self.shell.environment.nameref_targets(&named));
        }
        names
    }

    /// Remembers if a variable contains the value of one that is a secret by its name. `assigned`
    /// begins with the name of the variable.
    pub(crate) fn track_secret_variable(&mut self, assigned: &Arg, words: &[ShellWord]) {
        let name = assigned.text.split('=').next().unwrap_or("");
        let secret = |piece: &WordPiece| {
            let WordPiece::Variable { name, operator, .. } = piece else {
                return false;
            };
            let environment = &self.shell.environment;
            !replaces_value(operator)
                && self.possible_variables(name, operator).iter().any(|name| {
                    environment.secret_variables.contains(name)
                        || is_secret_variable(name) && !environment.variables.contains_key(name)
                })
        };
        let base = base_name(name);
        if words.iter().flat_map(|word| &word.pieces).any(secret) {
            self.shell
                .environment
                .secret_variables
                .insert(base.to_owned());
        } else if base == name {
            self.shell.environment.secret_variables.remove(base);
        }
    }

    /// Records that a variable is set, if the variable changes which programs run.
    pub(crate) fn check_variable(&mut self, name: &str, value: &Arg) {
        let plain = base_name(name);
        for referent in self.shell.environment.nameref_targets(plain) {
            self.check_resolved_variable(&format!("{referent}{}", &name[plain.len()..]), value);
        }
    }

    fn check_resolved_variable(&mut self, name: &str, value: &Arg) {
        let plain = base_name(name);
        let reshaped = self.shell.environment.formatted_variables.contains(plain);
        // Text that is appended to a value is only a part of the new value.
        let known = value.is_known() && value.overridden.is_none() && plain == name && !reshaped;
        let known = known.then_some(value.text.as_str());
        let inner = value.text.strip_prefix('(');
        // An element or an appended text is a part of a list.
        let list = (plain != name || inner.is_some())
            .then(|| format!("({}", inner.unwrap_or(value.text.as_str())));
        let name = plain;
        let found = self.tables.variable_rule(name, known).or_else(|| {
            self.tables
                .special_value_rule(name, list.as_deref().unwrap_or(&value.text))
        });
        let Some(variable) = found else {
            return;
        };
        if variable.settings && names_private_files(value) {
            return;
        }
        // A list of folders names no single file.
        if !name.ends_with("PATH") {
            self.sink.recorder.record_settings_file(value);
        }
        self.sink.recorder.record_run_value(value);
        let reason = format!("sets `{name}`, {}", variable.why);
        self.add_finding(Effect::Code, value.span, reason);
        if variable.runs_value && value.is_known() && !value.text.is_empty() {
            let place = SpanMap::Fixed(value.span);
            let Some(inner) = inner else {
                let text = value.text.trim_start_matches(['|', '-', '!']);
                self.run_text(text, place, &Input::Unknown);
                return;
            };
            // A list: each of its words.
            for (at, part) in inner.trim_end_matches(')').split(['\'', '"']).enumerate() {
                let quoted = at % 2 == 1;
                let words = part.split_whitespace().filter(|_| !quoted);
                for text in words.chain(quoted.then_some(part)) {
                    self.run_text(text, place, &Input::Unknown);
                }
            }
        }
    }

    /// Records the secrets that a value of a variable names.
    pub(super) fn add_secret_paths(&mut self, variable: &str, value: &Arg) {
        let lower = value.path().to_lowercase();
        let secret = |path: &str| {
            self.tables.may_read_secrets(path) || self.tables.may_read_secrets_below(path)
        };
        // A list: each of its words.
        let list = value.path().strip_prefix('(');
        let words = list
            .into_iter()
            .flat_map(|list| list.trim_end_matches(')').split_whitespace());
        let words = words.map(|word| value.with_text(word).path().to_owned());
        let mut paths = [value.path().to_owned(), lower].into_iter().chain(words);
        if let Some(path) = paths.find(|path| secret(path)) {
            let named = PossiblePath { path, secret: true };
            self.shell.add_variable_paths(variable, &[named]);
        }
    }

    pub(crate) fn set_variable(&mut self, name: &str, value: &Arg) {
        self.evaluate_if_integer(name, value);
        let environment = &mut self.shell.environment;
        if environment.exports_all || environment.exported_names.contains(base_name(name)) {
            let exported = (base_name(name).to_owned(), value.clone());
            environment.exported_assignments.push(exported);
        }
        if value.is_known() && base_name(name) == name {
            let others = self.shell.environment.assigned.paths_everywhere(name);
            let paths = &mut self.shell.environment.possible_paths;
            paths.insert(name.to_owned(), others);
        }
        match &value.resolved_path {
            Some(place) if base_name(name) == name => {
                self.shell
                    .environment
                    .variable_paths
                    .insert(name.to_owned(), place.clone());
            }
            _ => drop(
                self.shell
                    .environment
                    .variable_paths
                    .remove(base_name(name)),
            ),
        }
        self.add_secret_paths(base_name(name), value);
        let append = name.ends_with('+');
        let name = name.trim_end_matches('+');
        // The options of zsh, each with its state.
        if name == "options" && self.cursor.shells.intersects(Shells::ANY_ZSH) {
            let words = value.text.trim_matches(|c| matches!(c, '(' | ')'));
            let words: Vec<Arg> = words
                .split_whitespace()
                .map(|word| value.with_text(word))
                .collect();
            let states = |word: &Arg| matches!(&*word.text.to_lowercase(), "on" | "off");
            if words.iter().any(states) {
                let options = words.iter().filter(|word| !states(word));
                options.for_each(|option| self.check_shell_option(option));
            }
        }
        let base = base_name(name);
        if base != name {
            self.run_stored_subscripts(value.span);
        }
        // A list with explicit subscripts.
        if let Some(list) = value.text.strip_prefix('(')
            && list.contains('[')
            && !self.shell.environment.associative_arrays.contains(base)
        {
            for index in list
                .split('[')
                .skip(1)
                .filter_map(|rest| rest.split_once("]="))
            {
                self.evaluate_expression(&value.with_text(index.0));
            }
        }
        let list = value.text.starts_with('(');
        let text = if !value.is_known() || base != name || SHELL_VARIABLES.contains(&base) {
            None
        } else if list {
            let words = value.text[1..].strip_suffix(')');
            words
                .filter(|words| !append && !words.contains(['\'', '"', '$', '*', '[']))
                .map(str::to_owned)
        } else if append {
            let appended = self.shell.appended_text(base, &value.text);
            if let Some(text) = &appended {
                self.add_secret_paths(base, &value.with_text(text));
                self.shell.environment.options.note(text);
            }
            appended.filter(|_| !self.cursor.shells.intersects(Shells::WITHOUT_APPEND))
        } else {
            Some(value.text.clone())
        };
        // Text that is joined to another value, or is one of several elements, must be a number.
        let part = append || base != name;
        let number = match part {
            true => is_numeric(&value.text.replace(UNKNOWN, "")) && self.shell.is_numeric(base),
            false => !may_compute(&value.text),
        };
        let inert = (value.is_known() || value.inert) && number && !list;
        if list || base != name {
            self.shell.environment.arrays.insert(base.to_owned());
        }
        let is_overridable = value.overridden.is_some();
        let options = &self.shell.environment.options;
        options.note(&value.text);
        if self.shell.environment.formatted_variables.contains(base) {
            options.note_all_ends(&value.text);
        }
        // The shell computes the value of an integer, or keeps the text.
        let computed = self.shell.environment.integer_variables.contains(base) && inert;
        let value = match text {
            Some(_) if computed => Value::Inert,
            Some(text) if list => Value::List(text),
            Some(text) => Value::Text(text),
            None if inert => Value::Inert,
            None if base == name && !append && is_address(value) => {
                Value::Address(value.text.clone())
            }
            None => Value::Unknown,
        };
        // An inherited variable may replace the default.
        let value = match is_overridable {
            true => value.join(&Value::Inert),
            false => value,
        };
        self.shell.environment.set(base, value);
    }
}

/// Returns `true` if only the user puts files in the folders of a list of files.
fn names_private_files(list: &Arg) -> bool {
    let mut files = list.text.split(':').filter(|file| !file.is_empty());
    files.all(|file| is_in_private_folder(&list.with_text(file)))
}

/// Returns `true` if an operator replaces the value by another text or by its length.
fn replaces_value(change: &ParameterOperator) -> bool {
    match change {
        ParameterOperator::Length(_) => true,
        ParameterOperator::Other(word) => word.pieces.first().is_some_and(|piece| match piece {
            WordPiece::Text { text, .. } => text.trim_start_matches(':').starts_with('+'),
            _ => false,
        }),
        _ => false,
    }
}

/// Returns `true` if a value is known to be an address of another machine.
pub(crate) fn is_address(value: &Arg) -> bool {
    remote_host(value).is_some() && !value.text.contains(char::is_whitespace)
}

/// Returns `true` if a line about a variable passes filters.
fn is_printed(variable: &Variable, filters: &[LineFilter]) -> bool {
    let Variable { name, value } = variable;
    let value = value.as_deref().unwrap_or_default();
    // Programs and builtins of shells write variables differently.
    let forms = [
        format!("{name}={value}"),
        format!("export {name}={value}"),
        format!("declare -x {name}=\"{value}\""),
    ];
    let passes = |line: &str| filters.iter().all(|filter| filter.passes(line));
    forms.iter().any(|text| text.lines().any(passes))
}
