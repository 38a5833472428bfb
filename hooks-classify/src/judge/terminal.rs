//! Programs that take commands from a terminal.

use super::{Input, Judge};
use crate::TerminalInput;
use crate::tables::{Call, Effect, Keyboard, Pager, Terminal, Verb};

impl Judge<'_> {
    /// Judges something whose output reaches no terminal if it is `captured`.
    pub(super) fn capturing<T>(&mut self, captured: bool, judge: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.captured;
        self.captured |= captured;
        let output = judge(self);
        self.captured = outer;
        output
    }

    /// Notes whether text typed into the terminal of a call can run other commands.
    pub(super) fn note_terminal(&mut self, call: &Call, input: &Input) {
        let program = &call.program;
        let reaches = |terminal: &Terminal| match terminal.reads {
            Keyboard::Input => *input == Input::Inherited,
            Keyboard::Keys => true,
            Keyboard::Screen => !self.captured,
        };
        let own = |terminal: &Terminal| reaches(terminal) && takes_commands(terminal, call);
        let pages = |pager: &Pager| !self.captured && starts_pager(pager, call);
        let takes = if program.details.terminal.as_ref().is_some_and(own) {
            TerminalInput::Commands
        } else if program.details.pager.as_ref().is_some_and(pages) {
            TerminalInput::Pager
        } else {
            TerminalInput::None
        };
        self.terminal_input = self.terminal_input.max(takes);
    }
}

fn takes_commands(terminal: &Terminal, call: &Call) -> bool {
    let enough = terminal
        .operands
        .is_some_and(|operands| call.operands.len() >= operands);
    call.has(terminal.on) || !(enough || call.has(terminal.off) || only_prints(call))
}

fn starts_pager(pager: &Pager, call: &Call) -> bool {
    let by_itself = (pager.off).is_some_and(|off| !call.has(off) && !only_prints(call));
    by_itself || call.has(pager.on)
}

/// Whether a call prints its help or version and ends.
fn only_prints(call: &Call) -> bool {
    let mut verbs = call.options.iter().map(|given| given.option.verb);
    verbs.any(|verb| verb == Some(Verb::Only(Effect::Read)))
}
