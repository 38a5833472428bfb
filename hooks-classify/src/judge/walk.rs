//! Scripts: lists, pipelines, loops, functions.

use std::collections::HashMap;
use std::rc::Rc;

use super::environment::perhaps;
use super::numbers::Shown;
use super::redirect::{How, Printed};
use super::simple::is_address;
use super::{Arg, Environment, Input, Judge, Output, STEPS, Value};
use crate::shell::{AndOr, Command, Join, Kind, Pipeline, Redirect, Script, Span};
use crate::tables::Effect;

/// As many known values of a loop's variable are followed one by one.
const ROUNDS: usize = 8;

/// As many calls of a function within itself are followed.
const RECURSION: usize = 2;

/// What a command reads after another one that may have read some of it.
fn behind(input: &Input) -> Input {
    match input {
        Input::Inherited => Input::Inherited,
        Input::Known(_) | Input::Unknown => Input::Unknown,
    }
}

/// Functions that shells call by themselves; in the last lines, those of ksh for a variable.
const HOOKS: &[&str] = &[
    "command_not_found_handle",
    "command_not_found_handler",
    "precmd",
    "preexec",
    "chpwd",
    "periodic",
    "zshexit",
    "zshaddhistory",
    "zsh_directory_name",
    "TRAP*",
    "*.get",
    "*.getn",
    "*.set",
    "*.setn",
    "*.append",
    "*.unset",
    "*.create",
    ".sh.*",
];

impl Judge<'_> {
    pub(crate) fn script(&mut self, script: &Script, input: &Input) -> Output {
        let mut all = Some(String::new());
        let rest = behind(input);
        for (at, item) in script.items.iter().enumerate() {
            let input = if at == 0 { input } else { &rest };
            let before = item.background.then(|| self.environment.clone());
            let output = self.and_or(item, input);
            if let Some(before) = before {
                self.leave(before);
            }
            all = all.zip(output).map(|(all, more)| all + &more);
        }
        all
    }

    fn and_or(&mut self, list: &AndOr, input: &Input) -> Output {
        let output = self.pipeline(&list.first, input);
        if list.rest.is_empty() {
            return output;
        }
        let sure = self.environment.clone();
        // What may hold where each of them may have been the last that ran.
        let mut ways = Vec::new();
        let either = list.rest.iter().any(|(join, _)| *join == Join::Or);
        for (join, pipeline) in &list.rest {
            if either {
                ways.push(self.environment.clone());
            }
            let before = (*join == Join::Or).then(|| {
                for way in ways.drain(..) {
                    self.environment.merge(&way);
                }
                ways.push(self.environment.clone());
                self.environment.clone()
            });
            self.pipeline(pipeline, &behind(input));
            if let Some(before) = before {
                self.environment.merge(&before);
            }
        }
        // What only ran if something else did may not have run.
        self.environment.merge(&sure);
        None
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: &Input) -> Output {
        let outer = std::mem::take(&mut self.noted);
        let output = self.commands(pipeline, input);
        self.noted.extend(outer);
        output
    }

    fn commands(&mut self, pipeline: &Pipeline, input: &Input) -> Output {
        let [command] = pipeline.commands.as_slice() else {
            let mut current = input.clone();
            let mut output = None;
            let before_all = (self.shown, self.piped);
            for (at, command) in pipeline.commands.iter().enumerate() {
                let before = self.environment.clone();
                if at > 0 {
                    self.piped = self.shown;
                }
                self.shown = Shown::Numbers;
                output = self.capturing(at + 1 < pipeline.commands.len(), |judge| {
                    judge.part(command, &current, at > 0)
                });
                // `lastpipe` may keep what the last command sets.
                let after = self.environment.clone();
                self.leave(before);
                self.environment.merge(&after);
                // Some shells send what goes to a file down the pipe as well.
                let sent = command.redirects.iter().any(Redirect::prints);
                current = match &output {
                    Some(output) if !sent => Input::Known(output.clone()),
                    _ => Input::Unknown,
                };
            }
            self.shown = self.shown.and(before_all.0);
            self.piped = before_all.1;
            return output;
        };
        self.command(command, input)
    }

    /// Goes back to what held before a subshell, but for what it wrote.
    pub(crate) fn leave(&mut self, before: Environment) {
        let after = std::mem::replace(&mut self.environment, before);
        self.environment.files.extend(after.files);
        self.environment.called.extend(after.called);
        for name in after.exported {
            if let Some(body) = after.functions.get(&name) {
                self.environment
                    .functions
                    .entry(name.clone())
                    .or_insert_with(|| Rc::clone(body));
            }
            self.environment.exported.insert(name);
        }
    }

    pub(crate) fn command(&mut self, command: &Command, input: &Input) -> Output {
        self.part(command, input, false)
    }

    /// A command of a pipeline.
    fn part(&mut self, command: &Command, input: &Input, piped: bool) -> Output {
        self.work += 1;
        let span = self.place.map(command.span);
        if self.work > STEPS {
            self.find(
                Effect::Unknown,
                span,
                "there are too many commands to follow",
            );
            return None;
        }
        if let Kind::Simple { assigns, words } = &command.kind {
            return self.simple(assigns, words, &command.redirects, span, (input, piped));
        }
        let label = match &command.kind {
            Kind::Test(_) => "test",
            Kind::Group(_) => "group",
            Kind::Subshell(_) => "subshell",
            Kind::For { .. } => "for each",
            Kind::If(_) => "if",
            Kind::While { .. } => "loop",
            Kind::Case { .. } => "case",
            Kind::Function { .. } => "function",
            Kind::Simple { .. } => "command",
        };
        self.step(span, || label.to_owned());
        self.depth += 1;
        self.parts.enter(span);
        let silent = false;
        let sent = self.redirects(
            &command.redirects,
            input,
            How {
                piped,
                silent,
                facts: false,
            },
        );
        // What it reads may be the names that a command before it printed.
        let reads = piped || command.redirects.iter().any(Redirect::reads);
        let mut names = match reads {
            true => self.names_in(&sent.input),
            false => Vec::new(),
        };
        // `while read -u 3 f; do …; done 3< <(find …)`
        if command
            .redirects
            .iter()
            .any(|one| !one.reads() && one.takes())
        {
            names.extend(self.names_in(&Input::Unknown));
        }
        let output = self.capturing(sent.printed == Printed::Away, |judge| {
            judge.with_names(names, |judge| {
                judge.compound(&command.kind, &sent.input.clone(), span)
            })
        });
        self.written(&sent, output.as_deref(), span, "");
        self.parts.close();
        self.depth -= 1;
        sent.out(output)
    }

    fn compound(&mut self, kind: &Kind, input: &Input, span: Span) -> Output {
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
                let before = self.environment.clone();
                let output = self.script(script, input);
                self.leave(before);
                output
            }
            Kind::For { name, words, body } => {
                self.each(name, words.as_deref(), body, input);
                None
            }
            Kind::If(scripts) => {
                let mut ways = Vec::new();
                for (at, script) in scripts.iter().enumerate() {
                    let before = self.environment.clone();
                    let rest = behind(input);
                    self.script(script, if at == 0 { input } else { &rest });
                    ways.push(before);
                }
                for way in &ways {
                    self.environment.merge(way);
                }
                None
            }
            Kind::While { head, scripts } => {
                if let Some(head) = head {
                    let value = self.value(head);
                    self.computes(&value);
                }
                self.repeat(|judge| {
                    for script in scripts {
                        judge.script(script, &Input::Unknown);
                    }
                });
                None
            }
            Kind::Case { subject, arms } => {
                self.value(subject);
                let before = self.environment.clone();
                for (patterns, body) in arms {
                    for pattern in patterns {
                        self.value(pattern);
                    }
                    self.script(body, input);
                    self.environment.merge(&before);
                }
                None
            }
            Kind::Function { name, body } => {
                self.parts.function();
                self.environment.maybe.remove(name);
                // Some shells run it when they end, or before each command.
                self.environment.moved |= name.starts_with("TRAP");
                if let Some(old) = self
                    .environment
                    .functions
                    .insert(name.clone(), Rc::new((**body).clone()))
                {
                    // Which of two definitions holds where is not followed.
                    if !old.means_same(body) {
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
        let before = self.environment.clone();
        round(self);
        self.environment.merge(&before);
        round(self);
        self.environment.merge(&before);
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

    fn each(
        &mut self,
        name: &str,
        words: Option<&[crate::shell::Word]>,
        body: &Script,
        input: &Input,
    ) {
        let noted = std::mem::take(&mut self.noted);
        let values: Option<Vec<Arg>> =
            words.map(|words| words.iter().flat_map(|word| self.expand(word)).collect());
        let followed = values.as_ref().is_some_and(|values| {
            values.len() <= ROUNDS && values.iter().all(|value| value.known() && !value.glob)
        });
        // Without words it goes through what the shell or function was given.
        let inert = values.as_ref().map_or_else(
            || self.is_inert("@"),
            |values| {
                values
                    .iter()
                    .all(|value| value.inert || value.known() && !value.glob)
            },
        );
        for value in values.iter().flatten() {
            self.name(value);
        }
        let mut names = std::mem::replace(&mut self.noted, noted);
        if values.is_none() {
            names.extend(
                self.environment
                    .secrets
                    .get("@")
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        let unknown = Arg::unknown(self.place.map(Span::default()));
        self.sets(name, &unknown);
        if self.environment.refers(name) {
            let reason = "a loop that changes which variable a name stands for";
            self.find(Effect::Code, unknown.span, reason);
        }
        match &values {
            Some(values) => values.iter().for_each(|value| self.takes(name, value)),
            None => {
                let inert = inert || self.is_inert("@");
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
        if self.environment.integers.contains("REPLY") {
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
            let before = self.environment.clone();
            for value in values {
                self.environment.set(name, Value::Text(value.text));
                self.script(body, &inner);
            }
            self.environment.merge(&before);
            return;
        }
        self.with_names(names, |judge| {
            judge.repeat(|judge| {
                let other = if inert { Value::Inert } else { Value::Unknown };
                let value = address.clone().unwrap_or(other);
                judge.environment.set(name, value);
                judge.script(body, &inner);
            });
        });
    }

    /// Runs a function's body with these arguments.
    pub(crate) fn call_function(&mut self, name: &str, args: &[Arg], input: &Input) -> Output {
        let body = self.environment.functions.get(name).cloned()?;
        self.environment.called.insert(name.to_owned());
        if self.calls.iter().filter(|call| *call == name).count() == RECURSION {
            // It may go on until the machine can do no more.
            let span = self.place.map(body.span);
            self.find(Effect::Unknown, span, format!("`{name}` calls itself"));
            return None;
        }
        self.calls.push(name.to_owned());
        let outer = self.environment.positional.replace(args.to_vec());
        let outer_locals = self.locals.replace(HashMap::new());
        self.depth += 1;
        let names = self.names_of_arguments(args);
        let read = self.names_read(input);
        let output = self.with_arguments(names, |judge| {
            judge.with_names(read, |judge| judge.command(&body, input))
        });
        self.depth -= 1;
        let locals = std::mem::replace(&mut self.locals, outer_locals).unwrap_or_default();
        for (name, before) in locals {
            // Whether it was made one may depend on what is only known when it runs.
            let now = self
                .environment
                .variables
                .remove(&name)
                .unwrap_or(Value::Inert);
            let value = before.unwrap_or(Value::Inert).or(&now);
            self.environment.variables.insert(name, value);
        }
        self.environment.positional = outer;
        self.calls.pop();
        output
    }

    /// A function that nothing calls does nothing, unless what is not seen may
    /// call it: programs get it, or it takes the name of a program.
    pub(crate) fn uncalled(&mut self) {
        let functions = self.environment.functions.clone();
        for (name, body) in functions {
            if self.environment.called.contains(&name) {
                continue;
            }
            let odd = !name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.:".contains(c));
            let why = if self.environment.exported.contains(&name) || is_hook(&name) {
                "exports"
            } else if odd || self.tables.program(&name).is_some() {
                "shadows a program by"
            } else if self.keyword {
                // Some shells do not know the word, and run what stands on the next lines.
                "defines by `function`"
            } else {
                continue;
            };
            self.unseen_call(&name, &body, why);
        }
    }

    /// Notes what a function does that may be called where it is not seen.
    fn unseen_call(&mut self, name: &str, body: &Command, why: &str) {
        let strongest = self.strongest(|inner| {
            inner.environment.called.insert(name.to_owned());
            inner.command(body, &Input::Unknown);
        });
        if let Some(effect) = strongest {
            let span = self.place.map(body.span);
            self.find(
                effect,
                span,
                format!("{why} a function `{name}` that does more than read"),
            );
        }
    }
}

/// Returns true if shells call a function of this name by themselves.
fn is_hook(name: &str) -> bool {
    let mut hooks = HOOKS.iter();
    hooks.any(|hook| crate::tables::matches(hook, name))
}
