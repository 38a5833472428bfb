//! Compound commands: tests, groups, loops, conditions and function definitions, in; what their commands
//! do, out.

use std::rc::Rc;

use super::assign::is_address;
use super::functions::is_hook;
use super::interpreter::Interpreter;
use super::script::stdin_after_reader;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::{Value, perhaps};
use crate::model::io::{Input, Output};
use crate::model::script::{Kind, Script, Word};
use crate::model::span::Span;

/// As many known values of a loop's variable are followed one by one.
const ROUNDS: usize = 8;

impl Interpreter<'_> {
    /// Interprets a compound command whose redirections are dealt with.
    pub(crate) fn compound(&mut self, kind: &Kind, input: &Input, span: Span) -> Output {
        match kind {
            Kind::Simple { .. } => None,
            Kind::Test(word) => {
                let (whole, conditions) = self.conditions(word);
                self.test(&whole);
                self.as_commands(&conditions);
                self.computed_values(span);
                None
            }
            Kind::Group(script) => self.script(script, input),
            Kind::Subshell(script) => {
                let before = self.shell.environment.clone();
                let output = self.script(script, input);
                self.shell.exit_subshell(before);
                output
            }
            Kind::For { name, words, body } => {
                self.each(name, words.as_deref(), body, input);
                None
            }
            Kind::If(scripts) => {
                let mut ways = Vec::new();
                for (at, script) in scripts.iter().enumerate() {
                    let before = self.shell.environment.clone();
                    let rest = stdin_after_reader(input);
                    self.script(script, if at == 0 { input } else { &rest });
                    ways.push(before);
                }
                for way in &ways {
                    self.shell.environment.merge(way);
                }
                None
            }
            Kind::While { head, scripts } => {
                if let Some(head) = head {
                    let value = self.value(head);
                    self.computes(&value);
                }
                self.repeat(|interpreter| {
                    for script in scripts {
                        interpreter.script(script, &Input::Unknown);
                    }
                });
                None
            }
            Kind::Case { subject, arms } => {
                self.value(subject);
                let before = self.shell.environment.clone();
                for (patterns, body) in arms {
                    for pattern in patterns {
                        self.value(pattern);
                    }
                    self.script(body, input);
                    self.shell.environment.merge(&before);
                }
                None
            }
            Kind::Function { name, body } => {
                self.sink.parts.function();
                self.shell.environment.conditionally_defined.remove(name);
                // Some shells run it when they end, or before each command.
                self.shell.environment.stdio_redirected |= name.starts_with("TRAP");
                if let Some(old) = self
                    .shell
                    .environment
                    .functions
                    .insert(name.clone(), Rc::new((**body).clone()))
                {
                    // Which of two definitions holds where is not followed.
                    if *old != **body {
                        self.find(
                            Effect::Code,
                            span,
                            format!("defines `{name}` more than once"),
                        );
                    }
                }
                if is_hook(name) {
                    self.unseen_call(name, body, "defines what shells call by themselves,");
                }
                Some(String::new())
            }
        }
    }

    /// Twice: what a round sets, the next one sees.
    fn repeat(&mut self, mut round: impl FnMut(&mut Self)) {
        let before = self.shell.environment.clone();
        round(self);
        self.shell.environment.merge(&before);
        round(self);
        self.shell.environment.merge(&before);
    }

    /// To some shells `[[ a || b ]]` and `(( a ))` are commands like any others: `b`, `a`.
    fn as_commands(&mut self, conditions: &[Arg]) {
        let first = conditions.first().map_or("", |first| first.text.as_str());
        let (arithmetic, test) = (first.starts_with("(("), first.starts_with("[["));
        if !arithmetic && !test {
            return;
        }
        for condition in conditions.iter().skip(usize::from(test)) {
            let text = condition.text.trim_matches(|c: char| "() \t\n".contains(c));
            let words: Vec<Arg> = text
                .split_whitespace()
                .map(|word| condition.with(word))
                .collect();
            let known = |word: &Arg| self.tables.program(&word.text).is_some();
            if words.first().is_some_and(known) {
                self.run(words, &Input::Unknown);
            }
        }
        for condition in conditions {
            for (at, _) in condition.text.match_indices('>') {
                let target = condition.text[at + 1..].trim_start();
                if target.starts_with(['/', '.', '~']) {
                    self.find(
                        Effect::Create,
                        condition.span,
                        "some shells take this for a redirection, and write a file",
                    );
                }
            }
        }
    }

    /// `[ … ]`, `[[ … ]]` and `(( … ))`.
    fn test(&mut self, test: &Arg) {
        let text = test.text.as_str();
        let numbers = [" -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge "];
        let compares = numbers.iter().any(|sign| text.contains(sign));
        // `[ … ]` takes nothing but numbers.
        if text.starts_with("((") || (text.starts_with("[[") && compares) {
            self.computes(test);
        } else {
            self.computed(test);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            if matches!(pair[0], "-v" | "-t" | "-R") {
                self.names_variable(&test.with(pair[1]));
            }
        }
    }

    fn each(&mut self, name: &str, words: Option<&[Word]>, body: &Script, input: &Input) {
        let noted = std::mem::take(&mut self.shell.paths_in_pipeline);
        let values: Option<Vec<Arg>> =
            words.map(|words| words.iter().flat_map(|word| self.expand(word)).collect());
        let followed = values.as_ref().is_some_and(|values| {
            values.len() <= ROUNDS && values.iter().all(|value| value.known() && !value.glob)
        });
        // Without words it goes through what the shell or function was given.
        let inert = values.as_ref().map_or_else(
            || self.shell.is_inert("@"),
            |values| {
                values
                    .iter()
                    .all(|value| value.inert || value.known() && !value.glob)
            },
        );
        for value in values.iter().flatten() {
            self.name(value);
        }
        let mut names = std::mem::replace(&mut self.shell.paths_in_pipeline, noted);
        if values.is_none() {
            names.extend(
                self.shell
                    .environment
                    .secrets
                    .get("@")
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        let unknown = Arg::unknown(self.cursor.place.map(Span::default()));
        self.sets(name, &unknown);
        if self.shell.environment.refers(name) {
            let reason = "a loop that changes which variable a name stands for";
            self.find(Effect::Code, unknown.span, reason);
        }
        match &values {
            Some(values) => values.iter().for_each(|value| self.takes(name, value)),
            None => {
                let inert = inert || self.shell.is_inert("@");
                self.takes(
                    name,
                    &Arg {
                        inert,
                        ..unknown.clone()
                    },
                );
            }
        }
        // `select` reads a line into it.
        if self.shell.environment.integers.contains("REPLY") {
            self.takes("REPLY", &unknown);
        }
        let inner = if *input == Input::Inherited {
            Input::Inherited
        } else {
            Input::Unknown
        };
        let address = values.iter().flatten().find(|value| is_address(value));
        let address = address.map(|value| Value::Address(perhaps(&value.text)));
        if let (true, Some(values)) = (followed, values) {
            let before = self.shell.environment.clone();
            for value in values {
                self.shell.environment.set(name, Value::Text(value.text));
                self.script(body, &inner);
            }
            self.shell.environment.merge(&before);
            return;
        }
        self.with_names(names, |interpreter| {
            interpreter.repeat(|interpreter| {
                let other = if inert { Value::Inert } else { Value::Unknown };
                let value = address.clone().unwrap_or(other);
                interpreter.shell.environment.set(name, value);
                interpreter.script(body, &inner);
            });
        });
    }
}
