//! Text that the parsers do not read, or read differently: what another shell may run of it.

use super::{Judge, Place};
use crate::model::arg::Arg;
use crate::model::effect::{Crud, Effect};
use crate::model::io::Input;
use crate::model::span::Span;

/// More parts of a text than this are not tried.
const MAX_PARTS: usize = 64;

/// Characters between commands: separators, brackets, and quotes around text that may be run.
const BETWEEN: &[char] = &[
    ';', '|', '&', '(', ')', '{', '}', '[', ']', '<', '>', '\n', '`', '\'', '"',
];

/// Words before a command.
const BEFORE: &[&str] = &[
    "!",
    "-",
    "always",
    "command",
    "coproc",
    "do",
    "elif",
    "else",
    "exec",
    "if",
    "nocorrect",
    "noglob",
    "then",
    "time",
    "until",
    "while",
];

impl Judge<'_> {
    /// Judges every part of a text that begins with the name of a program. The text is asked about
    /// in any case: the parts only say what it may do at most.
    pub(super) fn salvage(&mut self, text: &str, place: Place) {
        let mut tried = 0;
        let mut at = 0;
        for part in text.split(BETWEEN) {
            let start = at;
            at = start + part.len() + 1;
            let words = words(part);
            let known = words
                .first()
                .is_some_and(|name| self.tables.program(name).is_some());
            if !known || tried == MAX_PARTS {
                continue;
            }
            tried += 1;
            let span = place.map(Span::new(start, start + part.len()));
            let args = words.iter().map(|word| Arg::new(*word, span)).collect();
            let run = |inner: &mut Judge<'_>| drop(inner.run(args, &Input::Unknown));
            if let Some(effect) = self.strongest(run) {
                let reason = format!("some shells may run `{}` in it", words.join(" "));
                self.find(effect, span, reason);
            }
        }
    }
}

impl Judge<'_> {
    /// Returns the strongest effect that has to be asked about of what `run` judges, which is not
    /// recorded.
    pub(super) fn strongest(&mut self, run: impl FnOnce(&mut Judge<'_>)) -> Option<Effect> {
        let mut inner = Judge::new(self.tables);
        inner.environment = self.environment.clone();
        inner.work = self.work;
        inner.depth = self.depth;
        run(&mut inner);
        self.work = inner.work;
        self.terminal_input = self.terminal_input.max(inner.terminal_input);
        let findings = inner.findings.iter().filter(|finding| finding.ask);
        let strongest = findings.map(|finding| finding.effect).max()?;
        Some(match strongest {
            Crud::Delete => Effect::Delete,
            Crud::Update => Effect::Update,
            Crud::Create | Crud::Read => Effect::Code,
        })
    }
}

/// Returns the words of a part from the name of its program on.
fn words(part: &str) -> Vec<&str> {
    let mut words = part.split_whitespace().peekable();
    loop {
        match words.peek() {
            Some(&"repeat") => drop((words.next(), words.next())),
            Some(word) if BEFORE.contains(word) => drop(words.next()),
            _ => break,
        }
    }
    let mut words: Vec<&str> = words.collect();
    if let Some(name) = words.first_mut() {
        *name = name.trim_start_matches('=');
    }
    words
}
