//! Compound commands: a test, group, loop, condition or function definition in, the effects of its
//! commands out.

use std::rc::Rc;

use super::assign::is_address;
use super::functions::is_shell_hook;
use super::interpreter::Interpreter;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::{Input, Output};
use crate::model::possible_path::PossiblePath;
use crate::model::script::{CommandKind, ShellScript, ShellWord};
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::value::{Value, possible_address};
use crate::model::variable_name::is_variable_name;

/// Variables with what a pattern of `[[ … =~ … ]]` matched.
const MATCH_VARIABLES: &[&str] = &["BASH_REMATCH", "MATCH", "match"];

/// Limit of known values that a loop is followed for one by one.
const MAX_ITERATIONS: usize = 8;

impl Interpreter<'_> {
    /// Interprets a compound command, whose redirections are set up already.
    pub(crate) fn run_compound_command(
        &mut self,
        kind: &CommandKind,
        input: &Input,
        span: Span,
    ) -> Output {
        match kind {
            CommandKind::Simple { .. } => None,
            CommandKind::Test(word) => {
                let (whole, conditions) = self.expand_conditions(word);
                self.evaluate_test(&whole);
                self.note_conditions(&whole);
                self.run_conditions_as_commands(&conditions);
                self.run_stored_subscripts(span);
                None
            }
            CommandKind::Group(script) => self.run_shell_script(script, input),
            CommandKind::Subshell(script) => {
                let before = self.shell.environment.clone();
                let output = self.run_shell_script(script, input);
                self.shell.exit_subshell(before);
                output
            }
            CommandKind::For { name, words, body } => {
                self.run_for_loop(name, words.as_deref(), body, input);
                None
            }
            CommandKind::If(scripts) => {
                self.run_branches(scripts, input);
                None
            }
            CommandKind::While { head, scripts } => {
                if let Some(head) = head {
                    let value = self.expand_unsplit(head);
                    self.evaluate_expression(&value);
                }
                self.run_twice(|interpreter| {
                    for script in scripts {
                        interpreter.run_shell_script(script, &Input::Unknown);
                    }
                });
                None
            }
            CommandKind::Case { subject, arms } => {
                self.expand_unsplit(subject);
                for (patterns, body) in arms {
                    for pattern in patterns {
                        self.expand_unsplit(pattern);
                    }
                    // An arm may also begin after the one above: `;&`.
                    let without = self.shell.environment.clone();
                    self.run_shell_script(body, input);
                    self.shell.environment.join(&without);
                }
                None
            }
            CommandKind::Function { name, body } => {
                self.sink.recorder.record_function_definition();
                self.shell.environment.conditionally_defined.remove(name);
                // Some shells run the function when they exit, or before each command.
                self.shell.environment.stdio_redirected |= name.starts_with("TRAP");
                if let Some(old) = self
                    .shell
                    .environment
                    .functions
                    .insert(name.clone(), Rc::new((**body).clone()))
                {
                    // The interpreter does not follow which of two definitions is current.
                    if *old != **body {
                        self.add_finding(
                            Effect::Code,
                            span,
                            format!("defines `{name}` more than once"),
                        );
                    }
                }
                self.check_body_without_keyword(name, body);
                if is_shell_hook(name) {
                    self.check_external_call(
                        name,
                        body,
                        "defines for a shell that calls it by itself",
                    );
                }
                Some(String::new())
            }
        }
    }

    /// Records the words of conditions, which later words may repeat: `$_`, what a pattern matched.
    fn note_conditions(&mut self, whole: &Arg) {
        let words = whole.text.split_whitespace();
        let words = words.map(|word| word.trim_matches(['"', '\'']));
        // `-f` and the like are operators here.
        let values = words.clone().filter(|word| word.len() > 2);
        let options = &self.shell.environment.options;
        values.for_each(|word| options.note_in_operand(word));
        // A pattern may match the end of its subject.
        if let Some((subject, _)) = whole.text.split_once(" =~ ") {
            options.note_all_ends(subject.trim_start_matches('['));
        }
        let mut secrets = words.filter(|word| self.tables.may_read_secrets(word));
        if let Some(path) = secrets.next().map(str::to_owned) {
            let secret = PossiblePath { path, secret: true };
            for name in MATCH_VARIABLES {
                self.shell
                    .add_variable_paths(name, std::slice::from_ref(&secret));
            }
            self.shell.last_secret_path = Some(secret);
        }
    }

    /// Runs conditions as commands: some shells read `[[ a || b ]]` and `(( a ))` as commands.
    fn run_conditions_as_commands(&mut self, conditions: &[Arg]) {
        let first = conditions.first().map_or("", |first| first.text.as_str());
        let (arithmetic, test) = (first.starts_with("(("), first.starts_with("[["));
        if !(arithmetic || test) || !self.cursor.shells.intersects(Shells::WITHOUT_TESTS) {
            return;
        }
        for condition in conditions.iter().skip(usize::from(test)) {
            let text = condition.text.trim_matches(|c: char| "() \t\n".contains(c));
            let words: Vec<Arg> = text
                .split_whitespace()
                .map(|word| condition.with_text(word))
                .collect();
            let known = |word: &Arg| {
                word.text.contains('/')
                    || !word.is_known() && !word.inert
                    || self.tables.program(&word.text).is_some()
            };
            if words.first().is_some_and(known) {
                self.run_args(words, &Input::Unknown);
            }
        }
        for condition in conditions {
            for (at, _) in condition.text.match_indices('>') {
                // `=>`, `->` and `>=` are no redirections either.
                let target = condition.text[at + 1..].trim_start();
                if !target.is_empty() && !target.starts_with('=') {
                    self.add_finding(
                        Effect::Create,
                        condition.span,
                        "shells without this test take it for a redirection, and write a file",
                    );
                }
            }
        }
    }

    /// Evaluates `[ … ]`, `[[ … ]]` and `(( … ))`.
    fn evaluate_test(&mut self, test: &Arg) {
        let text = test.text.as_str();
        let numbers = [" -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge "];
        let compares = numbers.iter().any(|sign| text.contains(sign));
        // Most shells take only numbers in `[ … ]`; ksh also takes names of variables.
        if text.starts_with("((") || (text.starts_with("[[") && compares) {
            self.evaluate_expression(test);
        } else {
            self.run_subscript(test);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            if matches!(pair[0], "-v" | "-t" | "-R") {
                self.evaluate_variable_name(&test.with_text(pair[1]));
            }
        }
        let is_sign = |word: &str| numbers.iter().any(|sign| sign.trim() == word);
        let computes = self.cursor.shells.intersects(Shells::COMPUTES_IN_TEST);
        for three in words.windows(3).filter(|three| is_sign(three[1])) {
            for word in [three[0], three[2]] {
                if is_variable_name(word) || computes && word.contains(UNKNOWN) {
                    self.evaluate_expression(&test.with_text(word));
                }
            }
        }
    }

    fn run_for_loop(
        &mut self,
        name: &str,
        words: Option<&[ShellWord]>,
        body: &ShellScript,
        input: &Input,
    ) {
        let outer_paths = std::mem::take(&mut self.shell.paths_in_pipeline);
        // Without words, the loop iterates over the positional parameters.
        let values: Option<Vec<Arg>> = match words {
            Some(words) => Some(words.iter().flat_map(|word| self.expand(word)).collect()),
            None => self.shell.environment.positional.clone(),
        };
        let followed = values.as_ref().is_some_and(|values| {
            values.len() <= MAX_ITERATIONS
                && values
                    .iter()
                    .all(|value| value.is_known() && !value.glob && !value.may_split)
                && values.iter().all(|value| value.overridden.is_none())
        });
        if let Some(words) = words {
            let place = words.first().map_or(Span::default(), |word| word.span);
            self.track_secret_variable(&Arg::new(name, self.cursor.span_map.map(place)), words);
        }
        let inert = values.as_ref().map_or_else(
            || self.shell.is_inert("@"),
            |values| values.iter().all(Arg::runs_nothing),
        );
        for value in values.iter().flatten() {
            self.add_printed_path(value);
        }
        let mut paths = std::mem::replace(&mut self.shell.paths_in_pipeline, outer_paths);
        if words.is_none() {
            paths.extend(
                self.shell
                    .environment
                    .possible_paths
                    .get("@")
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        let unknown = Arg::unknown(self.cursor.span_map.map(Span::default()));
        self.check_variable(name, &unknown);
        if self.shell.environment.is_nameref(name) {
            let reason = "a loop that changes which variable a name stands for";
            self.add_finding(Effect::Code, unknown.span, reason);
        }
        match &values {
            Some(values) => values
                .iter()
                .for_each(|value| self.evaluate_if_integer(name, value)),
            None => {
                let inert = inert || self.shell.is_inert("@");
                self.evaluate_if_integer(
                    name,
                    &Arg {
                        inert,
                        ..unknown.clone()
                    },
                );
            }
        }
        // `select` reads a line into `REPLY`.
        if self.shell.environment.integer_variables.contains("REPLY") {
            self.evaluate_if_integer("REPLY", &unknown);
        }
        let inner = if *input == Input::Inherited {
            Input::Inherited
        } else {
            Input::Unknown
        };
        let address = values.iter().flatten().find(|value| is_address(value));
        let address = address.map(|value| Value::Address(possible_address(&value.text)));
        if let (true, Some(values)) = (followed, values) {
            let before = self.shell.environment.clone();
            let texts = values.iter().map(|value| Value::Text(value.text.clone()));
            self.shell.environment.begin_loop(name, texts);
            let is_left_early = values.len() > 1;
            for value in values {
                let value = Value::Text(value.text);
                self.shell.environment.set_in_loop(name, value);
                self.run_shell_script(body, &inner);
            }
            // `break` may end the loop at any of its values.
            if is_left_early {
                let value = if inert { Value::Inert } else { Value::Unknown };
                self.shell.environment.set_in_loop(name, value);
            }
            self.shell.environment.join(&before);
            self.shell.add_variable_paths(name, &paths);
            return;
        }
        self.shell.add_variable_paths(name, &paths);
        self.with_paths(paths, |interpreter| {
            interpreter.run_twice(|interpreter| {
                let other = if inert { Value::Inert } else { Value::Unknown };
                let value = address.clone().unwrap_or(other);
                interpreter.shell.environment.set(name, value);
                interpreter.run_shell_script(body, &inner);
            });
        });
    }
}
