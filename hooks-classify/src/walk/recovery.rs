//! Unreadable text: a text that the parsers reject or read differently in, the effects of the
//! commands that another shell may run of it out.

use super::cursor::SpanMap;
use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::programs::builtins::Builtin;

/// Limit of parts of a text that are tried.
const MAX_RECOVERED_COMMANDS: usize = 64;

/// Characters between commands: separators, brackets, and quotes around text that may run.
const SEPARATORS: &[char] = &[
    ';', '|', '&', '(', ')', '{', '}', '[', ']', '<', '>', '\n', '`', '\'', '"',
];

/// Words that may precede a command, besides builtins.
const COMMAND_PREFIXES: &[&str] = &[
    "!", "-", "always", "coproc", "do", "elif", "else", "if", "then", "until", "while",
];

impl Interpreter<'_> {
    /// Runs every part of a text that begins with the name of a program. The text must be confirmed
    /// in any case: the parts only determine its strongest effect.
    pub(crate) fn recover_commands(&mut self, text: &str, place: SpanMap) {
        let mut tried = 0;
        let mut at = 0;
        for part in text.split(SEPARATORS) {
            let start = at;
            at = start + part.len() + 1;
            let words = command_words(part);
            let known = words
                .first()
                .is_some_and(|name| self.tables.program(name).is_some());
            if !known || tried == MAX_RECOVERED_COMMANDS {
                continue;
            }
            tried += 1;
            let span = place.map(Span::new(start, start + part.len()));
            let args = words.iter().map(|word| Arg::new(*word, span)).collect();
            let run = |inner: &mut Interpreter<'_>| drop(inner.run_args(args, &Input::Unknown));
            if let Some(effect) = self.strongest_effect_of(run) {
                let reason = format!("some shells may run `{}` in it", words.join(" "));
                self.add_finding(effect, span, reason);
            }
        }
    }
}

/// Returns the words of a part, beginning with the name of its program.
fn command_words(part: &str) -> Vec<&str> {
    let mut words = part.split_whitespace().peekable();
    while let Some(word) = words.peek() {
        match Builtin::named(word) {
            Some(Builtin::Repeat) => drop((words.next(), words.next())),
            Some(builtin) if builtin.precedes_command() => drop(words.next()),
            _ if COMMAND_PREFIXES.contains(word) => drop(words.next()),
            _ => break,
        }
    }
    let mut words: Vec<&str> = words.collect();
    if let Some(name) = words.first_mut() {
        *name = name.trim_start_matches('=');
    }
    words
}
