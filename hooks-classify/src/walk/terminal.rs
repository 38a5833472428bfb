//! Terminals: a call in, the further commands that it takes from its terminal out.

use super::interpreter::Interpreter;
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::terminal_input::TerminalInput;
use crate::options::call::Call;
use crate::tables::{CommandSource, InteractiveRule, PagerRule};

impl Interpreter<'_> {
    /// Runs something whose output reaches no terminal if it is `captured`.
    pub(crate) fn with_captured_stdout<T>(
        &mut self,
        captured: bool,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer_captured = self.cursor.stdout_captured;
        self.cursor.stdout_captured |= captured;
        let output = run(self);
        self.cursor.stdout_captured = outer_captured;
        output
    }

    /// Records if text that is typed into the terminal of a call can run other commands.
    pub(crate) fn record_terminal_input(&mut self, call: &Call, input: &Input) {
        let program = &call.program;
        let reads_terminal = |terminal: &InteractiveRule| match terminal.source {
            CommandSource::Stdin => *input == Input::Inherited,
            CommandSource::Terminal => true,
            CommandSource::TerminalOfStdout => !self.cursor.stdout_captured,
        };
        let takes_own_commands =
            |terminal: &InteractiveRule| reads_terminal(terminal) && takes_commands(terminal, call);
        let starts_user_pager =
            |pager: &PagerRule| !self.cursor.stdout_captured && starts_pager(pager, call);
        let terminal_input = if program
            .details
            .terminal
            .as_ref()
            .is_some_and(takes_own_commands)
        {
            TerminalInput::Commands
        } else if program
            .details
            .pager
            .as_ref()
            .is_some_and(starts_user_pager)
        {
            TerminalInput::Pager
        } else {
            TerminalInput::None
        };
        self.sink.terminal_input = self.sink.terminal_input.max(terminal_input);
    }
}

fn takes_commands(terminal: &InteractiveRule, call: &Call) -> bool {
    let enough = terminal
        .operands
        .is_some_and(|operands| call.operands.len() >= operands);
    call.has_option(terminal.on)
        || !(enough || call.has_option(terminal.off) || prints_help_or_version(call))
}

fn starts_pager(pager: &PagerRule, call: &Call) -> bool {
    let by_itself =
        (pager.off).is_some_and(|off| !call.has_option(off) && !prints_help_or_version(call));
    by_itself || call.has_option(pager.on)
}

/// Returns `true` if a call only prints its help or version.
fn prints_help_or_version(call: &Call) -> bool {
    let mut effects = call.options.iter().map(|opt| opt.spec.effect);
    effects.any(|verb| verb == Some(OptionEffect::Forces(Effect::Read)))
}
