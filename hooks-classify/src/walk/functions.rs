//! Functions: a call of a function of the text in, the effects of its body out. Functions that
//! nothing calls are checked too, if a shell or a program may call them.

use std::collections::HashMap;

use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::{Input, Output};
use crate::model::script::Command;
use crate::model::shells::Shells;
use crate::tables::matches;

/// Limit of recursive calls of a function.
const MAX_RECURSION: usize = 2;

/// Patterns of functions that shells call; the last lines are the functions of ksh for a variable.
const SHELL_HOOKS: &[&str] = &[
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

impl Interpreter<'_> {
    /// Runs the body of a function with arguments.
    pub(crate) fn call_function(&mut self, name: &str, args: &[Arg], input: &Input) -> Output {
        let body = self.shell.environment.functions.get(name).cloned()?;
        self.shell
            .environment
            .called_functions
            .insert(name.to_owned());
        if self.shell.recursion_depth(name) == MAX_RECURSION {
            // The recursion may never end.
            let span = self.cursor.span_map.map(body.span);
            self.add_finding(Effect::Unknown, span, format!("`{name}` calls itself"));
            return None;
        }
        self.shell.call_stack.push(name.to_owned());
        let environment = &mut self.shell.environment;
        let outer_positional = environment.positional.take();
        let was_unknown = environment.has_unknown_positional;
        let was_set = environment.sets_positional;
        environment.set_positional(Some(args.to_vec()));
        environment.sets_positional = was_set;
        let outer_locals = self.shell.locals.replace(HashMap::new());
        let outer_returns = self.shell.early_returns.replace(Vec::new());
        self.cursor.depth += 1;
        let paths = self.paths_of_arguments(args);
        let read = self.paths_in_own_input(input);
        let output = self.with_argument_paths(paths, |interpreter| {
            interpreter.with_paths(read, |interpreter| interpreter.run_command(&body, input))
        });
        self.cursor.depth -= 1;
        let returns = std::mem::replace(&mut self.shell.early_returns, outer_returns);
        for way in returns.iter().flatten() {
            self.shell.environment.join(way);
        }
        self.shell.restore_locals(outer_locals);
        self.shell.environment.positional = outer_positional;
        self.shell.environment.has_unknown_positional |= was_unknown;
        self.shell.call_stack.pop();
        output
    }

    /// Checks functions that the text does not call, but that a shell or a program may call:
    /// exported functions, and functions with the name of a program.
    pub(crate) fn check_uncalled_functions(&mut self) {
        let functions = self.shell.environment.functions.clone();
        for (name, body) in functions {
            if self.shell.environment.called_functions.contains(&name) {
                continue;
            }
            let has_unusual_name = !name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.:".contains(c));
            let why = if self.shell.environment.exported_functions.contains(&name)
                || is_shell_hook(&name)
            {
                "exports"
            } else if has_unusual_name || self.tables.program(&name).is_some() {
                "shadows a program by"
            } else {
                continue;
            };
            self.check_external_call(&name, &body, why);
        }
    }

    /// Checks the body of a function as a list where it is defined: shells that do not know `function`
    /// take it for the name of a program, and run the body.
    pub(crate) fn check_body_without_keyword(&mut self, name: &str, body: &Command) {
        let shells = self.cursor.shells;
        if !self.cursor.saw_function_keyword || !shells.intersects(Shells::WITHOUT_FUNCTION_KEYWORD)
        {
            return;
        }
        let mut after = None;
        let strongest = self.strongest_effect_of(|inner| {
            inner.run_command(body, &Input::Unknown);
            after = Some(inner.shell.environment.clone());
        });
        if let Some(effect) = strongest {
            let span = self.cursor.span_map.map(body.span);
            let does = format!("runs what the function `{name}` does in shells without `function`");
            self.add_finding(effect, span, does);
        }
        if let Some(after) = after {
            self.shell.environment.join(&after);
        }
    }

    /// Records the effect of a function that may be called outside the text.
    pub(crate) fn check_external_call(&mut self, name: &str, body: &Command, why: &str) {
        let strongest = self.strongest_effect_of(|inner| {
            inner
                .shell
                .environment
                .called_functions
                .insert(name.to_owned());
            inner.run_command(body, &Input::Unknown);
        });
        if let Some(effect) = strongest {
            let span = self.cursor.span_map.map(body.span);
            self.add_finding(
                effect,
                span,
                format!("{why} a function `{name}` that does more than read"),
            );
        }
    }
}

/// Returns `true` if shells call a function of this name.
pub(crate) fn is_shell_hook(name: &str) -> bool {
    let mut hooks = SHELL_HOOKS.iter();
    hooks.any(|hook| matches(hook, name))
}
