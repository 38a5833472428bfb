//! Reading a command line by a table: which words are options, values, operands.

use super::request::{Member, members};
use super::{Count, Opt, Program, Role, RunsInput, Style, Takes, Verb};
use crate::judge::Arg;
use crate::shell::Span;

/// A command line, told apart.
#[derive(Debug)]
pub(crate) struct Call {
    /// The innermost command that the words name.
    pub(crate) program: &'static Program,
    /// `git push`
    pub(crate) path: String,
    pub(crate) options: Vec<Given>,
    pub(crate) operands: Vec<Operand>,
    /// What no table knows, with the place.
    pub(crate) strange: Vec<(String, Span)>,
    /// The words after the names of the program and its commands.
    pub(crate) args: Vec<Arg>,
}

#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) option: Opt,
    pub(crate) value: Option<Arg>,
    /// What follows, where the option takes a whole command.
    pub(crate) rest: Vec<Arg>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) arg: Arg,
    /// Whether it stands after `--`.
    pub(crate) after: bool,
}

/// Returns whether a file is the standard input by another name.
fn is_stdin(file: &str) -> bool {
    file == "-"
        || file.starts_with("/dev/")
        || file.starts_with("/proc/") && file.ends_with("/fd/0")
}

impl Call {
    /// Returns how the call may run its standard input, which an option may name as a file of
    /// code.
    pub(crate) fn runs_input(&self) -> RunsInput {
        let named = self.options.iter().any(|given| {
            given.option.role == Role::ScriptFile
                && given
                    .value
                    .as_ref()
                    .is_some_and(|value| is_stdin(&value.text))
        });
        match named {
            true => RunsInput::Yes,
            false => self.program.runs_input(),
        }
    }

    /// Returns whether the program could be told a host by an option, and is told none.
    pub(crate) fn connects_here(&self) -> bool {
        let is_host = |option: &Opt| option.role == Role::Host;
        self.program.options.values().any(is_host)
            && !self.options.iter().any(|given| is_host(&given.option))
    }

    /// Reads `args`, the words after the program's name.
    pub(crate) fn read(name: &str, program: &'static Program, args: &[Arg]) -> Self {
        let mut call = Self {
            program,
            path: name.to_owned(),
            options: Vec::new(),
            operands: Vec::new(),
            strange: Vec::new(),
            args: args.to_vec(),
        };
        let mut parents = Vec::new();
        let mut rest = args;
        loop {
            let current = call.program;
            // Of goals there may be several; a judge of their own reads them.
            if !current.has_commands() || current.judge == Some("goals") {
                call.split(current, &parents, rest, false);
                call.requests(current, &parents);
                call.values(current, &parents);
                return call;
            }
            // A name that begins with a dash is a command where it comes first.
            if let Some(first) = rest.first()
                && first.text.starts_with('-')
                && let Some(command) = current.commands.get(&first.text)
            {
                call.path = format!("{} {}", call.path, first.text);
                call.program = command;
                parents.push(current);
                rest = &rest[1..];
                call.args = rest.to_vec();
                continue;
            }
            let before = call.operands.len();
            let used = call.split(current, &parents, rest, true);
            let Some(operand) = call.operands.get(before) else {
                return call;
            };
            let word = operand.arg.text.clone();
            match current.command(program, &word) {
                Some(command) if !operand.after => {
                    call.operands.truncate(before);
                    call.path = format!("{} {word}", call.path);
                    call.program = command;
                    parents.push(current);
                    rest = &rest[used..];
                    call.args = rest.to_vec();
                }
                _ if current.judge == Some("maybe-command") => {
                    // Operands of its own: read again, to the end.
                    call.operands.truncate(before);
                    call.options.clear();
                    call.split(current, &parents, rest, false);
                    call.requests(current, &parents);
                    call.values(current, &parents);
                    call.values(current, &parents);
                    return call;
                }
                _ => {
                    let place = operand.arg.span;
                    call.strange.push((
                        format!("`{word}` is no known command of `{}`", call.path),
                        place,
                    ));
                    call.operands.extend(rest[used..].iter().map(|arg| Operand {
                        arg: arg.clone(),
                        after: true,
                    }));
                    return call;
                }
            }
        }
    }

    /// Takes words until the end, or with `first` until the first operand;
    /// says how many it took.
    fn split(
        &mut self,
        program: &Program,
        parents: &[&'static Program],
        args: &[Arg],
        first: bool,
    ) -> usize {
        let style = if first && matches!(program.style, Style::Gnu) {
            Style::Posix
        } else {
            program.style
        };
        let mut at = 0;
        let mut ended = style == Style::None;
        let scope = Scope { program, parents };
        while at < args.len() {
            let arg = &args[at];
            let text = arg.text.as_str();
            at += 1;
            let bundled = style == Style::Bundled && at == 1 && !text.starts_with('-');
            // An operand that is an assignment means the same after `--`.
            let operand = ended && style != Style::Assign;
            if operand || !(bundled || is_option(text, style, &scope)) {
                let after = ended && style != Style::None && style != Style::Posix;
                self.operands.push(Operand {
                    arg: arg.clone(),
                    after,
                });
                if first {
                    return at;
                }
                if style == Style::Posix {
                    ended = true;
                }
                continue;
            }
            if text == "--" && scope.exact("--").is_none() {
                ended = true;
                continue;
            }
            let mut next = Next { args, at };
            let options = self.options.len();
            if bundled {
                self.cluster(&scope, arg, text, &mut next);
            } else {
                self.option(&scope, style, arg, &mut next);
            }
            // The letters of a first word without a dash are followed by its operands.
            let late = !self.operands.is_empty() || (style == Style::Bundled && at > 1);
            if late && self.without_late_exemptions(program, options) {
                self.operands.push(Operand {
                    arg: arg.clone(),
                    after: false,
                });
            }
            if let Some(taken) = args.get(at).filter(|_| next.at > at) {
                self.option_in_disguise(&scope, style, taken);
            }
            at = next.at;
        }
        at
    }

    /// Adds the options that the members of whole requests stand for.
    fn requests(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = Scope { program, parents };
        let mut at = 0;
        // A member may be a request in its turn.
        while let Some(given) = self.options.get(at) {
            at += 1;
            let (Role::Request, Some(request)) = (given.option.role, given.value.clone()) else {
                continue;
            };
            let mut nothing = Next { args: &[], at: 0 };
            for (name, member) in members(&request.text).unwrap_or_default() {
                let value = match member {
                    Member::Flag(false) => continue,
                    Member::Flag(true) => None,
                    Member::Text(text) => Some(request.with(&text)),
                };
                if let Some(option) = scope.exact(&name) {
                    let value = value.filter(|_| option.takes != Takes::Nothing);
                    self.give(name, option, value, request.span, &mut nothing);
                }
            }
        }
    }

    /// Adds the options that stand for a value of others alone, where the value is a word of its own:
    /// `-d recurse` is `-d=recurse`, too. What such an option promises, it promises joined alone.
    fn values(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = Scope { program, parents };
        let with_value = |given: &Given| {
            let value = given.value.as_ref().filter(|value| value.known())?;
            let name = format!("{}={}", given.name, value.text);
            let option = scope.exact(&name).filter(|option| !option.exempts())?;
            Some((name, option, given.span))
        };
        let found: Vec<_> = self.options.iter().filter_map(with_value).collect();
        for (name, option, span) in found {
            self.give(name, option, None, span, &mut Next { args: &[], at: 0 });
        }
    }

    /// Removes the options from `first` on that would make the call harmless and that the program
    /// takes for operands behind an operand. Returns true if nothing else is left of the word.
    fn without_late_exemptions(&mut self, program: &Program, first: usize) -> bool {
        let before = self.options.len();
        let mut at = 0;
        self.options.retain(|given| {
            at += 1;
            let read = program.details.permutes && given.option.permutes;
            at <= first || read || !given.option.exempts()
        });
        before > first && self.options.len() == first
    }

    /// A word that was taken for the value of an option, and would do more than read as an option:
    /// a version of the program that takes no value there reads it so.
    fn option_in_disguise(&mut self, scope: &Scope<'_>, style: Style, taken: &Arg) {
        if !taken.text.starts_with("--") || taken.text.len() < 3 {
            return;
        }
        let (options, strange) = (self.options.len(), self.strange.len());
        let mut nothing = Next { args: &[], at: 0 };
        self.option(scope, style, taken, &mut nothing);
        self.strange.truncate(strange);
        // Nothing that it says may make a read of the rest.
        let mut at = 0;
        self.options.retain(|given| {
            at += 1;
            at <= options || (given.option.changes() && !given.option.exempts())
        });
    }

    fn option(&mut self, scope: &Scope<'_>, style: Style, arg: &Arg, next: &mut Next<'_>) {
        let text = arg.text.as_str();
        if style == Style::Assign {
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            match scope.exact(&format!("{key}=")).or_else(|| scope.exact(key)) {
                Some(option) => self.give(
                    format!("{key}="),
                    option,
                    Some(arg.with(value)),
                    arg.span,
                    next,
                ),
                None => self.unknown(key, arg.span),
            }
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
        let loose = matches!(style, Style::Single | Style::Slash);
        // Where one dash stands for two, in either spelling.
        let listed = |name: &str| {
            let found = scope.exact(name).map(|option| (name.to_owned(), option));
            found.or_else(|| {
                let rest = name.trim_start_matches('-');
                let other = match name.starts_with("--") {
                    true => format!("-{rest}"),
                    false => format!("--{rest}"),
                };
                let option = scope.exact(&other).filter(|_| loose)?;
                Some((other, option))
            })
        };
        // The whole word as it stands in the table, then the name.
        if let Some((name, option)) = listed(text) {
            self.give(name, option, None, arg.span, next);
            return;
        }
        let named = listed(name);
        let named = named.filter(|(_, option)| {
            value.is_none() || option.takes != Takes::Nothing || loose || name.starts_with("--")
        });
        if let Some((name, option)) = named {
            match value {
                Some("false" | "0" | "no") if option.takes == Takes::Nothing => {
                    // The opposite of the flag: what it would promise does not hold.
                    if matches!(
                        option.verb,
                        Some(Verb::Raises(_) | Verb::Reveals | Verb::MeansSecret)
                    ) {
                        self.give(name, option, None, arg.span, next);
                    } else if option.verb.is_some() {
                        let silent = Opt {
                            verb: None,
                            ..*option
                        };
                        // No table can name it so.
                        self.give(format!("{name}= false"), &silent, None, arg.span, next);
                    }
                }
                Some("true" | "1" | "yes") if option.takes == Takes::Nothing => {
                    self.give(name, option, None, arg.span, next);
                }
                Some(_) if option.takes == Takes::Nothing => self.unknown(text, arg.span),
                _ => {
                    let value = value.map(|value| arg.with(value));
                    self.give(name, option, value, arg.span, next);
                }
            }
            return;
        }
        let long = text.starts_with("--") && !loose;
        let mut found = match long {
            true => scope.abbreviated(name, value),
            false => Vec::new(),
        };
        let pattern = match long || loose {
            // An option that is named comes before one that stands for all others.
            true if !found.iter().any(|(_, option)| option.changes()) => scope.pattern(text, loose),
            _ => None,
        };
        if let Some((pattern, option)) = pattern {
            let value = value.map(|value| arg.with(value));
            let taken = value.is_none() && option.takes == Takes::Value;
            self.give(pattern, option, value, arg.span, next);
            if taken {
                next.at = next.at.min(next.args.len());
            }
            return;
        }
        if loose {
            self.unknown(name, arg.span);
            return;
        }
        if long {
            // What it may change counts, and not what it may promise.
            if found.iter().any(|(_, option)| option.changes()) {
                found.retain(|(_, option)| option.changes());
            }
            let takes = found
                .first()
                .map(|(_, option)| option.takes == Takes::Value);
            let alike = |(_, option): &(_, &Opt)| Some(option.takes == Takes::Value) == takes;
            let alike = found.iter().all(alike);
            let flag = |(_, option): &(_, &Opt)| option.takes == Takes::Nothing;
            if found.is_empty() || !alike || (value.is_some() && found.iter().any(flag)) {
                self.unknown(name, arg.span);
                // Nothing is promised by what may mean something else.
                found.retain(|(_, option)| option.changes());
            }
            let mut value = value.map(|value| arg.with(value));
            if value.is_none() && takes == Some(true) {
                value = match alike {
                    true => next.take(),
                    // It stays an operand as well.
                    false => next.args.get(next.at).cloned(),
                };
            }
            let mut nothing = Next { args: &[], at: 0 };
            for (name, option) in found {
                let value = value.clone().filter(|_| option.takes != Takes::Nothing);
                let next = if alike { &mut *next } else { &mut nothing };
                self.give(name, option, value, arg.span, next);
            }
            return;
        }
        if text.starts_with('+')
            && let Some(option) = scope.exact("+*")
        {
            self.give("+*".to_owned(), option, None, arg.span, next);
            return;
        }
        self.cluster(scope, arg, text.get(1..).unwrap_or(""), next);
    }

    fn cluster(&mut self, scope: &Scope<'_>, arg: &Arg, letters: &str, next: &mut Next<'_>) {
        let sign = if arg.text.starts_with('+') { '+' } else { '-' };
        for (at, letter) in letters.char_indices() {
            let name = format!("{sign}{letter}");
            let Some(option) = scope.exact(&name) else {
                self.unknown(&name, arg.span);
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            match option.takes {
                Takes::Nothing => {
                    self.give(name, option, None, arg.span, next);
                    if rest.starts_with('=') {
                        self.unknown(&arg.text, arg.span);
                        return;
                    }
                }
                Takes::Maybe => {
                    let value = (!rest.is_empty()).then(|| arg.with(rest.trim_start_matches('=')));
                    self.give(name, option, value, arg.span, next);
                    return;
                }
                Takes::Value => {
                    let value = (!rest.is_empty()).then(|| arg.with(rest));
                    self.give(name, option, value, arg.span, next);
                    return;
                }
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Span) {
        let path = &self.path;
        self.strange
            .push((format!("`{path}` has no known option `{name}`"), span));
    }

    fn give(
        &mut self,
        name: String,
        option: &Opt,
        value: Option<Arg>,
        span: Span,
        next: &mut Next<'_>,
    ) {
        let mut value = value;
        let mut rest = Vec::new();
        if option.takes == Takes::Value && value.is_none() {
            value = next.take();
            if value.is_none() {
                self.strange.push((format!("`{name}` has no value"), span));
            }
        }
        if matches!(option.role, Role::Argv { .. }) {
            rest.extend(value.clone());
            rest.extend_from_slice(&next.args[next.at.min(next.args.len())..]);
            next.at = next.args.len();
        }
        self.options.push(Given {
            name,
            option: *option,
            value,
            rest,
            span,
        });
    }

    /// Operands with their roles; the rest for which there is no room.
    pub(crate) fn roles(&self) -> (Vec<(Role, Vec<Arg>)>, Vec<Arg>) {
        let operands: Vec<Arg> = self
            .operands
            .iter()
            .map(|operand| operand.arg.clone())
            .collect();
        distribute(self.program.operands, operands)
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|given| names.contains(&given.name.as_str()))
    }
}

/// Gives operands to roles: those after the one with `*` from the end.
fn distribute(list: &[(Role, Count)], operands: Vec<Arg>) -> (Vec<(Role, Vec<Arg>)>, Vec<Arg>) {
    let mut out = Vec::new();
    let mut left: std::collections::VecDeque<Arg> = operands.into();
    // A command takes all that follows, whatever stands after it in the list.
    let many = list
        .iter()
        .position(|(role, count)| *count == Count::Many || matches!(role, Role::Argv { .. }));
    let (before, after) = match many {
        Some(at) => (&list[..at], &list[at + 1..]),
        None => (list, &list[..0]),
    };
    let needed = after
        .iter()
        .filter(|(_, count)| *count == Count::One)
        .count();
    for (role, _) in before {
        if let Some(arg) = left.pop_front() {
            out.push((*role, vec![arg]));
        }
    }
    let mut tail = Vec::new();
    if needed > 0 {
        for (role, _) in after.iter().rev() {
            if let Some(arg) = left.pop_back() {
                tail.push((*role, vec![arg]));
            }
        }
    }
    if let Some(at) = many
        && !left.is_empty()
    {
        out.push((list[at].0, left.drain(..).collect()));
    }
    out.extend(tail.into_iter().rev());
    (out, left.into())
}

struct Next<'a> {
    args: &'a [Arg],
    at: usize,
}

impl Next<'_> {
    fn take(&mut self) -> Option<Arg> {
        let arg = self.args.get(self.at).cloned();
        self.at += 1;
        arg
    }
}

/// The options that are understood at a place: a command's own, and those of
/// the programs above it where these say so.
struct Scope<'a> {
    program: &'a Program,
    parents: &'a [&'static Program],
}

impl<'a> Scope<'a> {
    fn all(&self) -> impl Iterator<Item = &'a Program> {
        let above = self
            .parents
            .iter()
            .rev()
            .copied()
            .filter(|p| p.details.options_anywhere);
        std::iter::once(self.program).chain(above)
    }

    fn exact(&self, name: &str) -> Option<&'a Opt> {
        self.all().find_map(|program| program.options.get(name))
    }

    /// An option that stands for all others.
    fn pattern(&self, text: &str, loose: bool) -> Option<(String, &'a Opt)> {
        let names: &[&str] = if loose { &["--*", "-*"] } else { &["--*"] };
        names
            .iter()
            .filter(|name| loose || text.starts_with(&name[..2]))
            .find_map(|name| self.exact(name).map(|option| ((*name).to_owned(), option)))
    }

    /// Returns the long options that an abbreviation fits: several may be meant.
    fn abbreviated(&self, name: &str, value: Option<&str>) -> Vec<(String, &'a Opt)> {
        if name.len() < 3 {
            return Vec::new();
        }
        // An option with a value of its own entry (`--dry-run=client`) stands for that value alone.
        let fits = |long: &str| match long.split_once('=') {
            Some((long, own)) => long.starts_with(name) && value == Some(own),
            None => long.starts_with(name) && !long.ends_with('*'),
        };
        let mut found: Vec<(String, &Opt)> = self
            .all()
            .flat_map(|program| program.options.iter())
            .filter(|(long, _)| fits(long))
            .map(|(long, option)| (long.to_owned(), option))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}

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
