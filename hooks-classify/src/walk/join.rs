//! Joins: the branches of a conditional command or the rounds of a loop in, the environment that holds
//! on all of their paths out.

use super::interpreter::Interpreter;
use super::script::stdin_after_reader;
use crate::model::environment::Environment;
use crate::model::io::Input;
use crate::model::script::ShellScript;

impl Interpreter<'_> {
    /// Interprets the conditions and branches of an `if`, each in the environment in which the shell
    /// would run it, and joins the environments after the branches.
    pub(crate) fn run_branches(&mut self, scripts: &[ShellScript], input: &Input) {
        let mut ends: Vec<Environment> = Vec::new();
        let mut input = input.clone();
        for pair in scripts.chunks(2) {
            let [condition, branch] = pair else {
                // `else`
                self.run_shell_script(&pair[0], &input);
                break;
            };
            self.run_shell_script(condition, &input);
            input = stdin_after_reader(&input);
            let is_false = self.shell.environment.clone();
            self.run_shell_script(branch, &input);
            ends.push(std::mem::replace(&mut self.shell.environment, is_false));
        }
        for end in &ends {
            self.shell.environment.join(end);
        }
    }

    /// Interprets the body of a loop twice, so that the second round sees the variables that the
    /// first one sets.
    pub(crate) fn run_twice(&mut self, mut round: impl FnMut(&mut Self)) {
        let before = self.shell.environment.clone();
        round(self);
        self.shell.environment.join(&before);
        round(self);
        self.shell.environment.join(&before);
    }
}
