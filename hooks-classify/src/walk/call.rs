//! Runs calls of programs: what their functions and tables say of them.

use super::interpreter::Interpreter;
use crate::model::analysis::Continuation;
use crate::model::arg::Arg;
use crate::model::io::{Input, Output};
use crate::model::span::Span;
use crate::options::call::Call;
use crate::programs::call::{analyze_by_table, analyze_words};
use crate::programs::function::function;
use crate::tables::Program;

/// The folders that the shell may have gone to are not followed beyond this number.
const MAX_FOLDERS: usize = 8;

impl Interpreter<'_> {
    /// Runs a program with its words; returns what it prints.
    pub(crate) fn run_program(
        &mut self,
        name: &str,
        program: &'static Program,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        let call = Call::read(name, program, &args[1..]);
        self.call(&call, whole, input)
    }

    /// Notes what a call does; returns what it prints.
    pub(crate) fn call(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        self.sink.parts.call(call);
        self.note_terminal(call, input);
        let words = analyze_words(&self.context(), call, whole);
        let output = self.perform(words.actions, words.output);
        if words.continuation == Continuation::Done {
            return output;
        }
        self.in_folder(call, |interpreter| {
            interpreter.call_here(call, whole, input)
        })
    }

    fn call_here(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        let mut continuation = Continuation::Table;
        if let Some(name) = &call.program.judge {
            let analysis = function(name)(&self.context(), call, whole, input);
            continuation = analysis.continuation;
            let output = self.perform(analysis.actions, analysis.output);
            if continuation == Continuation::Done {
                return output;
            }
        }
        let effect = match continuation {
            Continuation::TableWithEffect(effect) => Some(effect),
            _ => None,
        };
        let operands = continuation != Continuation::TableWithoutOperands;
        let context = self.context();
        let analysis = analyze_by_table(&context, call, whole, input, effect, operands);
        let printed = analysis.printed;
        self.perform(analysis.actions, analysis.output).or(printed)
    }

    /// Remembers the folder that the shell goes to.
    pub(crate) fn goes_to(&mut self, path: &str) {
        let folders = &mut self.shell.environment.folders;
        if path.starts_with(['/', '~']) || folders.is_empty() {
            *folders = [path.to_owned()].into();
        } else if folders.len() <= MAX_FOLDERS {
            *folders = folders.iter().map(|f| format!("{f}/{path}")).collect();
        }
    }
}
