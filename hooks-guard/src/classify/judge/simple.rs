//! Simple commands: assignments, redirections, and a program.

use super::redirect::shown;
use super::table::config::private;
use super::{Arg, Input, Judge, Output, Place};
use crate::classify::shell::{Change, Piece, Redirect, Span, Word};
use crate::classify::tables::Effect;

impl Judge<'_> {
    pub(super) fn simple(
        &mut self,
        assigns: &[Word],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        input: &Input,
    ) -> Output {
        self.parts.enter(span);
        let mut set = Vec::new();
        for assign in assigns {
            let value = self.value(assign);
            if let Some((name, value)) = split_assignment(&value) {
                self.parts.assignment(&name, &value);
                set.push((name, value));
            }
        }
        let noted = std::mem::take(&mut self.noted);
        let args: Vec<Arg> = words.iter().flat_map(|word| self.expand(word)).collect();
        // What a substitution printed may be their names.
        let names = self.noted.first().cloned();
        self.noted.extend(noted);
        let label = args.iter().map(shown).collect::<Vec<_>>().join(" ");
        self.step(span, || {
            if label.is_empty() {
                "(assignment or redirection)".into()
            } else {
                label
            }
        });
        let sent = self.redirects(redirects, input);
        let Some(name) = args.first() else {
            for (name, value) in set {
                self.sets(&name, &value);
                self.assign(&name, &value);
            }
            self.written(&sent, Some(""), span, "");
            self.parts.close();
            return Some(String::new());
        };
        let program = name.text.clone();
        let lookup = program.rsplit('/').next().unwrap_or(&program).to_owned();
        for (name, value) in &set {
            self.sets(name, value);
            let own = self.tables.program(&lookup).is_some_and(|table| {
                table
                    .variables
                    .iter()
                    .any(|pattern| crate::classify::tables::matches(pattern, name))
            });
            let known = value.known().then_some(value.text.as_str());
            if own && self.tables.variable(name, None).is_none() && known != Some("") {
                self.find(
                    Effect::Code,
                    value.span,
                    format!("sets `{name}`, which changes what `{program}` runs"),
                );
            }
        }
        if !matches!(lookup.as_str(), "echo" | "printf" | "test" | "[") {
            self.emptied(&sent, &args);
        }
        if matches!(lookup.as_str(), "echo" | "printf") && !sent.away {
            self.prints_variables(words);
        }
        self.parts.ready();
        let output = self.with_names(names, |judge| judge.run(args, &sent.input.clone()));
        self.written(&sent, output.as_deref(), span, &program);
        self.parts.close();
        if sent.away {
            Some(String::new())
        } else {
            output
        }
    }

    /// Asks where the value of a variable is printed that by its name is a secret, and that does
    /// not come from the command itself.
    fn prints_variables(&mut self, words: &[Word]) {
        for word in words {
            for piece in &word.pieces {
                let Piece::Variable { name, change, .. } = piece else {
                    continue;
                };
                if private(name)
                    && !instead(change)
                    && !self.environment.variables.contains_key(name)
                {
                    let span = self.place.map(word.span);
                    self.ask(span, format!("prints `{name}`, by its name a secret"));
                }
            }
        }
    }

    /// Notes that a variable is set that changes what programs run.
    pub(super) fn sets(&mut self, name: &str, value: &Arg) {
        let plain = name.split(['+', '[']).next().unwrap_or(name);
        // Of what is appended to, the rest is not known.
        let known = (value.known() && plain == name).then_some(value.text.as_str());
        let name = plain;
        let Some(variable) = self.tables.variable(name, known) else {
            return;
        };
        let reason = format!("sets `{name}`, {}", variable.why);
        // The value itself may be a command line.
        let value_runs = variable.why.contains("is run") || name.starts_with("GIT_CONFIG_VALUE_");
        if value_runs && value.known() && !value.text.is_empty() {
            self.find(Effect::Code, value.span, reason);
            let text = value.text.trim_start_matches(['|', '-', '!']);
            self.text(text, Place::Fixed(value.span), &Input::Unknown);
        } else {
            self.find(Effect::Code, value.span, reason);
        }
    }

    pub(super) fn assign(&mut self, name: &str, value: &Arg) {
        if self.environment.integers {
            self.computed(value);
        }
        let append = name.ends_with('+');
        let name = name.trim_end_matches('+');
        let base = name.split('[').next().unwrap_or(name);
        if base != name {
            self.computed_values(value.span);
        }
        let text = if !value.known() || base != name {
            None
        } else if value.text.starts_with('(')
            && value.text.ends_with(')')
            && !value.text.contains(['\'', '"', '$', '*', '['])
        {
            // A list of plain words.
            Some(value.text[1..value.text.len() - 1].to_owned())
        } else if value.text.starts_with('(') {
            None
        } else if append {
            self.environment
                .variables
                .get(base)
                .cloned()
                .flatten()
                .map(|before| before + &value.text)
        } else {
            Some(value.text.clone())
        };
        self.environment.variables.insert(base.to_owned(), text);
    }
}

/// Whether something else stands for a value: another text, or its length.
fn instead(change: &Change) -> bool {
    let Change::Other(word) = change else {
        return false;
    };
    match word.pieces.first() {
        Some(Piece::Text { text, .. }) => text.trim_start_matches(':').starts_with('+'),
        Some(_) => false,
        None => true,
    }
}

/// `NAME=VALUE`; the name keeps the `+` of `+=`.
pub(super) fn split_assignment(arg: &Arg) -> Option<(String, Arg)> {
    let (name, value) = arg.text.split_once('=')?;
    let base = name.trim_end_matches('+').split('[').next()?;
    let good = !base.is_empty()
        && base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !base.starts_with(|c: char| c.is_ascii_digit());
    good.then(|| (name.to_owned(), arg.with(value)))
}
