//! Option reader: the words after the name of a program, its table and the rules of its style in, a
//! [`Call`] out.

use std::mem::take;

use super::call::{Call, Operand, ParsedOption};
use super::request::{Member, members};
use super::rules::{FirstWord, LongNames, Operands, Rules};
use super::scope::{Found, Scope};
use crate::model::arg::Arg;
use crate::model::effect::OptionEffect;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::tables::{Opt, Program, Style, Takes};

impl Call {
    /// Reads `args`, the words after the name of the program.
    pub(crate) fn read(name: &str, program: &'static Program, args: &[Arg]) -> Self {
        let mut reader = Reader {
            call: Self {
                program,
                path: name.to_owned(),
                options: Vec::new(),
                operands: Vec::new(),
                unrecognized: Vec::new(),
                args: args.to_vec(),
            },
            words_left: 0,
            late: false,
            dropped: false,
            doubtful: false,
        };
        reader.command(program, args);
        reader.call
    }
}

struct Reader {
    call: Call,
    /// Number of words from the current word to the end.
    words_left: usize,
    /// `true` if the word follows an operand after which harmless options do not count.
    late: bool,
    /// `true` if a harmless option of the word was left out because of `late`.
    dropped: bool,
    /// `true` if only some versions of the program read the current options.
    doubtful: bool,
}

impl Reader {
    /// Reads words up to the name of the innermost command, and the words after it.
    fn command(&mut self, root: &'static Program, mut rest: &[Arg]) {
        let mut parents = Vec::new();
        loop {
            let current = self.call.program;
            // Several goals may follow each other; the function `goals` reads them.
            if !current.has_commands() || current.function == Some("goals") {
                self.all_words(current, &parents, rest);
                return;
            }
            // A name that begins with a dash is a command where it comes first.
            if let Some(first) = rest.first()
                && first.text.starts_with('-')
                && let Some(command) = current.commands.get(&first.text)
            {
                rest = &rest[1..];
                self.enter(&first.text, command, rest);
                parents.push(current);
                continue;
            }
            let before = self.call.operands.len();
            let used = self.words(current, &parents, rest, true);
            let Some(operand) = self.call.operands.get(before) else {
                return;
            };
            let (word, span) = (operand.arg.text.clone(), operand.arg.span);
            if let Some(command) = current.command(root, &word) {
                self.call.operands.truncate(before);
                rest = &rest[used..];
                self.enter(&word, command, rest);
                parents.push(current);
                continue;
            }
            if current.function == Some("maybe-command") {
                // The operand belongs to the program itself: read all words again.
                self.call.operands.truncate(before);
                self.call.options.clear();
                self.all_words(current, &parents, rest);
                return;
            }
            let reason = format!("unknown {} subcommand `{word}`", self.call.path);
            self.call.unrecognized.push((reason, span));
            let behind = rest[used..].iter().enumerate().map(|(at, arg)| Operand {
                arg: arg.clone(),
                after_double_dash: true,
                words_left: rest.len() - used - at,
            });
            self.call.operands.extend(behind);
            return;
        }
    }

    fn enter(&mut self, name: &str, command: &'static Program, rest: &[Arg]) {
        self.call.path = format!("{} {name}", self.call.path);
        self.call.program = command;
        self.call.args = rest.to_vec();
    }

    fn all_words(&mut self, program: &Program, parents: &[&'static Program], args: &[Arg]) {
        self.words(program, parents, args, false);
        self.requests(program, parents);
        self.values(program, parents);
    }

    /// Reads words until the end, or with `first` until the first operand. Returns how many it read.
    fn words(
        &mut self,
        program: &Program,
        parents: &[&'static Program],
        args: &[Arg],
        first: bool,
    ) -> usize {
        let style = program.style;
        let rules = Rules::of(style);
        let scope = Scope { program, parents };
        let mut at = 0;
        let mut ended = rules.operands == Operands::AreAll;
        let mut double_dash = false;
        while at < args.len() {
            let arg = &args[at];
            let text = arg.text.as_str();
            self.words_left = args.len() - at;
            at += 1;
            let plain_first = at == 1 && !text.starts_with('-');
            let letters = plain_first && rules.first_word != FirstWord::Plain;
            // An operand that is an assignment keeps its meaning after `--`.
            let operand = ended && style != Style::Assign;
            if operand || !(letters || is_option(text, style, &scope)) {
                if text == "-" && rules.dash_ends && !ended {
                    ended = true;
                    continue;
                }
                self.call.operands.push(Operand {
                    arg: arg.clone(),
                    after_double_dash: double_dash,
                    words_left: self.words_left,
                });
                if first {
                    return at;
                }
                ended |= rules.operands == Operands::EndOptions;
                continue;
            }
            if text == "--" && scope.exact("--").is_none() {
                (ended, double_dash) = (true, true);
                continue;
            }
            let mut next = Next { args, at };
            let options = self.call.options.len();
            self.late = !self.call.operands.is_empty() || style == Style::Jar && at > 1;
            self.dropped = false;
            if letters {
                self.cluster(&scope, arg, text, &mut next);
            } else {
                self.option(&scope, arg, &mut next);
            }
            self.late = false;
            if take(&mut self.dropped) && self.call.options.len() == options {
                self.call.operands.push(Operand {
                    arg: arg.clone(),
                    after_double_dash: false,
                    words_left: self.words_left,
                });
                continue;
            }
            // The words of a command that an option takes are not its value.
            let most = if letters { args.len() } else { 1 };
            for (place, taken) in args.iter().enumerate().take(next.at).skip(at).take(most) {
                self.words_left = args.len() - place;
                self.option_in_disguise(&scope, taken, &next);
            }
            at = next.at;
        }
        at
    }

    /// Adds the options that the members of whole requests stand for.
    fn requests(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = Scope { program, parents };
        let mut at = 0;
        // A member may be a request itself.
        while let Some(given) = self.call.options.get(at) {
            at += 1;
            self.words_left = given.words_left;
            let (Role::Request, Some(request)) = (given.option.role, given.value.clone()) else {
                continue;
            };
            for (name, member) in members(&request.text).unwrap_or_default() {
                let value = match member {
                    Member::Flag(false) => continue,
                    Member::Flag(true) => None,
                    Member::Text(text) => Some(request.with_text(&text)),
                };
                if let Some(found) = scope.exact(&name) {
                    let value = value.filter(|_| found.option.takes != Takes::Nothing);
                    self.give(&found, value, request.span, &mut Next::nothing());
                }
            }
        }
    }

    /// Adds the entries for an option with one value, if the value is a separate word: `-d recurse` is
    /// `-d=recurse`, too. A separate value never makes a call harmless.
    fn values(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = Scope { program, parents };
        let with_value = |given: &ParsedOption| {
            let value = given.value.as_ref().filter(|value| value.is_known())?;
            let found = scope.exact(&format!("{}={}", given.name, value.text))?;
            (!found.option.exempts()).then_some((found, given.span, given.words_left))
        };
        let found: Vec<_> = self.call.options.iter().filter_map(with_value).collect();
        for (found, span, words_left) in found {
            self.words_left = words_left;
            self.give(&found, None, span, &mut Next::nothing());
        }
    }

    /// Reads the value of an option as an option too, because a version of the program may take no
    /// value there. The second reading never makes a call harmless.
    fn option_in_disguise(&mut self, scope: &Scope<'_>, taken: &Arg, next: &Next<'_>) {
        let long = taken.text.starts_with("--") && taken.text.len() > 2;
        // Some commands of git parse their words twice, first without most options.
        let git = scope.program.style == Style::Git;
        let letters = git && taken.text.starts_with('-') && taken.text.len() > 1;
        if !long && !letters {
            return;
        }
        let unrecognized = self.call.unrecognized.len();
        let mut next = Next {
            args: if git { next.args } else { &[] },
            at: next.at,
        };
        self.doubtful = true;
        self.option(scope, taken, &mut next);
        self.doubtful = false;
        self.call.unrecognized.truncate(unrecognized);
    }

    fn option(&mut self, scope: &Scope<'_>, arg: &Arg, next: &mut Next<'_>) {
        let style = scope.program.style;
        let rules = Rules::of(style);
        let text = arg.text.as_str();
        if style == Style::Assign {
            self.assignment(scope, arg, next);
            return;
        }
        let slash;
        let text = if style == Style::Slash {
            slash = text
                .replacen('/', "-", usize::from(text.starts_with('/')))
                .replacen(':', "=", 1)
                .to_ascii_lowercase();
            slash.as_str()
        } else {
            text
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        // An entry for the whole word comes before an entry for the name.
        if let Some(found) = scope.listed(text, rules.long) {
            self.give(&found, None, arg.span, next);
            return;
        }
        let one_dash = rules.long == LongNames::OneDash;
        let letter = !one_dash && !name.starts_with("--") && name.chars().count() == 2;
        let named = scope.listed(name, rules.long).filter(|found| {
            let takes = found.option.takes != Takes::Nothing;
            let joined = takes && (!letter || rules.drops_equals);
            value.is_none() || joined || one_dash || name.starts_with("--")
        });
        if let Some(found) = named {
            self.with_value(&found, arg, value, text, next);
            return;
        }
        let long = text.starts_with("--") && !one_dash;
        let fitting = match long && rules.abbreviates {
            true => scope.abbreviated(name, value),
            false => Vec::new(),
        };
        // An entry with a name comes before a wildcard.
        if (long || one_dash)
            && !fitting.iter().any(|found| found.option.changes())
            && let Some(found) = scope.pattern(text, rules.long)
        {
            let value = value.map(|value| arg.with_text(value));
            self.give(&found, value, arg.span, next);
            next.at = next.at.min(next.args.len());
        } else if one_dash {
            self.unknown(name, arg.span);
        } else if long {
            self.abbreviation(fitting, name, value, arg, next);
        } else if text.starts_with('+')
            && let Some(found) = scope.exact("+*")
        {
            self.give(&found, None, arg.span, next);
        } else {
            self.cluster(scope, arg, text.get(1..).unwrap_or(""), next);
        }
    }

    /// Reads an operand `key=value`.
    fn assignment(&mut self, scope: &Scope<'_>, arg: &Arg, next: &mut Next<'_>) {
        let text = arg.text.as_str();
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let name = format!("{key}=");
        match scope.exact(&name).or_else(|| scope.exact(key)) {
            Some(found) => {
                let found = Found { name, ..found };
                self.give(&found, Some(arg.with_text(value)), arg.span, next);
            }
            None => self.unknown(key, arg.span),
        }
    }

    /// Reads an option whose name is in the table, with the value that is joined to it.
    fn with_value(
        &mut self,
        found: &Found<'_>,
        arg: &Arg,
        value: Option<&str>,
        text: &str,
        next: &mut Next<'_>,
    ) {
        let flag = found.option.takes == Takes::Nothing;
        match (value, value.and_then(switch)) {
            (_, Some(false)) if flag => {
                // The flag is off, so it does not make the call harmless.
                match found.option.effect {
                    Some(
                        OptionEffect::AtLeast(_)
                        | OptionEffect::Reveals
                        | OptionEffect::ReplacesAndReveals,
                    ) => self.give(found, None, arg.span, next),
                    Some(_) => {
                        let silent = Opt {
                            effect: None,
                            ..*found.option
                        };
                        let found = Found {
                            // No name in a table has a blank.
                            name: format!("{}= false", found.name),
                            option: &silent,
                            style: found.style,
                        };
                        self.give(&found, None, arg.span, next);
                    }
                    None => {}
                }
            }
            (_, Some(true)) if flag => self.give(found, None, arg.span, next),
            (Some(_), None) if flag => self.unknown(text, arg.span),
            _ => {
                let value = value.map(|value| arg.with_text(value));
                self.give(found, value, arg.span, next);
            }
        }
    }

    /// Reads an abbreviation as every option that it matches.
    fn abbreviation(
        &mut self,
        mut found: Vec<Found<'_>>,
        name: &str,
        value: Option<&str>,
        arg: &Arg,
        next: &mut Next<'_>,
    ) {
        // If an option changes something, harmless options do not count.
        if found.iter().any(|found| found.option.changes()) {
            found.retain(|found| found.option.changes());
        }
        let takes = found
            .first()
            .map(|found| found.option.takes == Takes::Value);
        let alike = |found: &Found<'_>| Some(found.option.takes == Takes::Value) == takes;
        let alike = found.iter().all(alike);
        let flag = |found: &Found<'_>| found.option.takes == Takes::Nothing;
        if found.is_empty() || !alike || (value.is_some() && found.iter().any(flag)) {
            self.unknown(name, arg.span);
            // An ambiguous abbreviation never makes a call harmless.
            found.retain(|found| found.option.changes());
        }
        let mut value = value.map(|value| arg.with_text(value));
        if value.is_none() && takes == Some(true) {
            value = match alike {
                true => next.take(),
                // The word remains an operand too.
                false => next.args.get(next.at).cloned(),
            };
        }
        let mut nothing = Next::nothing();
        for found in found {
            let value = value
                .clone()
                .filter(|_| found.option.takes != Takes::Nothing);
            let next = if alike { &mut *next } else { &mut nothing };
            self.give(&found, value, arg.span, next);
        }
    }

    /// Reads joined letters: each is a flag, or takes the letters after it or the next word.
    fn cluster(&mut self, scope: &Scope<'_>, arg: &Arg, letters: &str, next: &mut Next<'_>) {
        let rules = Rules::of(scope.program.style);
        let sign = if arg.text.starts_with('+') { '+' } else { '-' };
        let values_behind =
            rules.first_word == FirstWord::ValuesBehind && !arg.text.starts_with(sign);
        for (at, letter) in letters.char_indices() {
            let name = format!("{sign}{letter}");
            let Some(found) = scope.exact(&name) else {
                self.unknown(&name, arg.span);
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            match found.option.takes {
                Takes::Nothing => {
                    self.give(&found, None, arg.span, next);
                    if rest.starts_with('=') {
                        self.unknown(&arg.text, arg.span);
                        return;
                    }
                }
                Takes::Value if values_behind => self.give(&found, None, arg.span, next),
                Takes::Maybe if values_behind => self.give(&found, None, arg.span, next),
                Takes::Maybe | Takes::Value => {
                    let joined = (!rest.is_empty()).then(|| {
                        let value = rest.strip_prefix('=').filter(|_| rules.drops_equals);
                        arg.with_text(value.unwrap_or(rest))
                    });
                    self.give(&found, joined, arg.span, next);
                    // A program with another style drops the `=`.
                    if let Some(value) = rest.strip_prefix('=')
                        && !rules.drops_equals
                        && found.option.role != Role::Text
                    {
                        self.doubtful = true;
                        let value = Some(arg.with_text(value));
                        self.give(&found, value, arg.span, &mut Next::nothing());
                        self.doubtful = false;
                    }
                    return;
                }
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Span) {
        let path = &self.call.path;
        let reason = format!("unknown option `{name}` of `{path}`");
        self.call.unrecognized.push((reason, span));
    }

    /// Adds an option, with the next word as its value if it needs one and has none.
    fn give(&mut self, found: &Found<'_>, value: Option<Arg>, span: Span, next: &mut Next<'_>) {
        let option = found.option;
        let ends = |style| Rules::of(style).operands == Operands::EndHarmless;
        if option.exempts()
            && (self.doubtful || self.late && (ends(self.call.program.style) || ends(found.style)))
        {
            self.dropped = true;
            return;
        }
        if self.doubtful && !option.changes() && option.role == Role::Text {
            return;
        }
        let mut value = value;
        let mut rest = Vec::new();
        if option.takes == Takes::Value && value.is_none() {
            value = next.take();
            if value.is_none() {
                let reason = format!("`{}` has no value", found.name);
                self.call.unrecognized.push((reason, span));
            }
        }
        if matches!(option.role, Role::Argv { .. }) {
            rest.extend(value.clone());
            rest.extend_from_slice(&next.args[next.at.min(next.args.len())..]);
            next.at = next.args.len();
        }
        self.call.options.push(ParsedOption {
            name: found.name.clone(),
            option: *option,
            value,
            rest,
            span,
            words_left: self.words_left,
            doubtful: self.doubtful,
        });
    }
}

/// Words after the current word.
struct Next<'a> {
    args: &'a [Arg],
    at: usize,
}

impl Next<'_> {
    fn nothing() -> Self {
        Self { args: &[], at: 0 }
    }

    fn take(&mut self) -> Option<Arg> {
        let arg = self.args.get(self.at).cloned();
        self.at += 1;
        arg
    }
}

/// Returns `true` if a word before the end of the options is an option.
fn is_option(text: &str, style: Style, scope: &Scope<'_>) -> bool {
    if style == Style::Assign {
        return true;
    }
    if style == Style::Slash && text.starts_with('/') {
        return text.len() > 1 && !text[1..].contains('/');
    }
    if text.starts_with('+') {
        if text.len() > 1 && scope.exact("+*").is_some() {
            return true;
        }
        return text.len() > 1
            && (scope.exact(text).is_some()
                || text
                    .get(..2)
                    .is_some_and(|flag| scope.exact(flag).is_some()));
    }
    text.len() > 1 && text.starts_with('-')
}

/// Returns the value of a flag: `--color=no`.
fn switch(value: &str) -> Option<bool> {
    match value {
        "1" | "yes" => Some(true),
        "0" | "no" => Some(false),
        value => value.parse().ok(),
    }
}
