//! Rounds of a walk: a text in, the findings of every round out, until no round assigns further values.
//!
//! A round follows the commands in their order, and joins the environments where paths meet. In the
//! next round, each variable to which the text assigned different values has the join of them
//! wherever it is read, and an unknown word may be each option that the text passes on as data. So what is known of a variable holds at any time: in a trap, after an error,
//! in a function that something else calls.

use super::braces::OTHER_BRACES;
use super::interpreter::Interpreter;
use super::state::Trap;
use crate::model::io::Input;
use crate::model::trace::Trace;
use crate::model::value::Value;

/// Limit of rounds; each of them adds a variable, or a word that may be an option.
const MAX_ROUNDS: usize = 8;

impl Interpreter<'_> {
    /// Interprets a whole command and returns its effects.
    pub(crate) fn interpret(mut self, text: &str) -> Trace {
        self.run_rounds(text);
        if self.sink.braces_differ {
            for braces in OTHER_BRACES {
                let mut other = self.without_records();
                other.cursor.braces = braces;
                other.run_rounds(text);
                self.sink.add_findings_of(other.sink, ", in another shell");
            }
        }
        self.sink.into_trace(text)
    }

    /// Follows a text until no round assigns further values, or one has to be confirmed.
    fn run_rounds(&mut self, text: &str) {
        let environment = &self.shell.environment;
        let (mut assigned, mut options) =
            (environment.assigned.clone(), environment.options.clone());
        self.run_whole(text);
        for round in 1.. {
            let next = (assigned.next_round(), options.next_round());
            if matches!(next, (None, None)) || self.sink.strongest_to_ask().is_some() {
                return;
            }
            assigned = next.0.unwrap_or_else(|| assigned.known_from_now());
            options = next.1.unwrap_or_else(|| options.known_from_now());
            if round == MAX_ROUNDS {
                self.sink.complete = false;
                return;
            }
            let mut other = self.without_records();
            other.shell.environment.assigned = assigned.clone();
            other.shell.environment.options = options.clone();
            other.run_whole(text);
            self.sink.add_findings_of(other.sink, "");
        }
    }

    fn run_whole(&mut self, text: &str) {
        self.run_text(text, super::cursor::SpanMap::Offset(0), &Input::Inherited);
        self.run_traps();
        self.check_uncalled_functions();
    }

    /// Follows the actions of traps once more, with every value that the text assigns after it set
    /// them.
    fn run_traps(&mut self) {
        let traps = std::mem::take(&mut self.shell.traps);
        let functions = self.shell.environment.functions.clone();
        for Trap {
            action,
            mut environment,
        } in traps
        {
            for (name, join) in environment.assigned.joins() {
                let at_trap = environment.variables.get(&name).unwrap_or(&Value::Inert);
                let value = at_trap.join(&join);
                environment.variables.insert(name, value);
            }
            for (name, paths) in environment.assigned.paths() {
                environment
                    .possible_paths
                    .entry(name)
                    .or_default()
                    .extend(paths);
            }
            environment.positional = None;
            environment.has_unknown_positional = true;
            for (name, body) in &functions {
                let body = || body.clone();
                environment
                    .functions
                    .entry(name.clone())
                    .or_insert_with(body);
            }
            let before = std::mem::replace(&mut self.shell.environment, environment);
            self.run_shell_text(&action, &Input::Inherited);
            self.shell.exit_subshell(before);
        }
    }
}
