//! Option reader: the words after the name of a program, its table and the rules of its style in, a
//! [`Call`] out.

use std::mem::take;

use super::call::{Call, Operand, ParsedOption};
use super::request::{RequestMember, request_members};
use super::rules::{FirstWordSyntax, LongNameSyntax, OperandOrder, StyleRules};
use super::scope::{MatchedOption, OptionScope};
use crate::model::arg::Arg;
use crate::model::effect::OptionEffect;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::tables::{OptionSpec, Program, Style, ValueArity};

impl Call {
    /// Reads `args`, the words after the name of the program.
    pub(crate) fn read(name: &str, program: &'static Program, args: &[Arg]) -> Self {
        let mut reader = OptionReader {
            call: Self {
                program,
                path: name.to_owned(),
                options: Vec::new(),
                operands: Vec::new(),
                unrecognized: Vec::new(),
                args: args.to_vec(),
            },
            words_left: 0,
            follows_operand: false,
            ignored_harmless: false,
            version_dependent: false,
        };
        reader.read_command(program, args);
        reader.call
    }
}

struct OptionReader {
    call: Call,
    /// Number of words from the current word to the end.
    words_left: usize,
    /// `true` if the word follows an operand after which harmless options do not count.
    follows_operand: bool,
    /// `true` if a harmless option of the word was left out because of `late`.
    ignored_harmless: bool,
    /// `true` if only some versions of the program read the current options.
    version_dependent: bool,
}

impl OptionReader {
    /// Reads words up to the name of the innermost command, and the words after it.
    fn read_command(&mut self, root: &'static Program, mut rest: &[Arg]) {
        let mut parents = Vec::new();
        loop {
            let current = self.call.program;
            // Several goals may follow each other; the function `goals` reads them.
            if !current.has_commands() || current.function() == Some("goals") {
                self.read_all_words(current, &parents, rest);
                return;
            }
            // A name that begins with a dash is a command where it comes first.
            if let Some(first) = rest.first()
                && first.text.starts_with('-')
                && let Some(command) = current.commands.get(&first.text)
            {
                rest = &rest[1..];
                self.enter_command(&first.text, command, rest);
                parents.push(current);
                continue;
            }
            let before = self.call.operands.len();
            let used = self.read_words(current, &parents, rest, true);
            let Some(operand) = self.call.operands.get(before) else {
                return;
            };
            let (word, span) = (operand.arg.text.clone(), operand.arg.span);
            if let Some(command) = current.command(root, &word) {
                self.call.operands.truncate(before);
                rest = &rest[used..];
                self.enter_command(&word, command, rest);
                parents.push(current);
                continue;
            }
            if matches!(current.function(), Some("maybe-command" | "output-formats")) {
                // The operand belongs to the program itself: read all words again.
                self.call.operands.truncate(before);
                self.call.options.clear();
                self.read_all_words(current, &parents, rest);
                return;
            }
            let reason = format!("unknown {} subcommand `{word}`", self.call.path);
            self.call.unrecognized.push((reason, span));
            let following_operands = rest[used..].iter().enumerate().map(|(at, arg)| Operand {
                arg: arg.clone(),
                after_double_dash: true,
                words_left: rest.len() - used - at,
            });
            self.call.operands.extend(following_operands);
            return;
        }
    }

    fn enter_command(&mut self, name: &str, command: &'static Program, rest: &[Arg]) {
        self.call.path = format!("{} {name}", self.call.path);
        self.call.program = command;
        self.call.args = rest.to_vec();
    }

    fn read_all_words(&mut self, program: &Program, parents: &[&'static Program], args: &[Arg]) {
        self.read_words(program, parents, args, false);
        self.add_request_options(program, parents);
        self.add_value_entries(program, parents);
    }

    /// Reads words until the end, or with `first` until the first operand. Returns how many it read.
    fn read_words(
        &mut self,
        program: &Program,
        parents: &[&'static Program],
        args: &[Arg],
        stop_at_operand: bool,
    ) -> usize {
        let style = program.style;
        let rules = StyleRules::of(style);
        let scope = OptionScope { program, parents };
        let mut at = 0;
        let mut ended = rules.operands == OperandOrder::AreAll;
        let mut double_dash = false;
        while at < args.len() {
            let arg = &args[at];
            let text = arg.text.as_str();
            self.words_left = args.len() - at;
            at += 1;
            let plain_first = at == 1 && !text.starts_with('-');
            let letters = plain_first && rules.first_word != FirstWordSyntax::Plain;
            // An operand that is an assignment keeps its meaning after `--`.
            let operand = ended && style != Style::Assign;
            if operand || !(letters || is_option(text, style, &scope)) {
                if text == "-" && rules.dash_ends_options && !ended {
                    ended = true;
                    continue;
                }
                self.call.operands.push(Operand {
                    arg: arg.clone(),
                    after_double_dash: double_dash,
                    words_left: self.words_left,
                });
                if stop_at_operand {
                    return at;
                }
                ended |= rules.operands == OperandOrder::EndOptions;
                continue;
            }
            if text == "--" && scope.by_exact_name("--").is_none() {
                (ended, double_dash) = (true, true);
                continue;
            }
            let mut next = RemainingArgs { args, at };
            let options = self.call.options.len();
            self.follows_operand = !self.call.operands.is_empty() || style == Style::Jar && at > 1;
            self.ignored_harmless = false;
            if letters {
                self.read_letters(&scope, arg, text, &mut next);
            } else {
                self.read_option(&scope, arg, &mut next);
            }
            self.follows_operand = false;
            if take(&mut self.ignored_harmless) && self.call.options.len() == options {
                self.call.operands.push(Operand {
                    arg: arg.clone(),
                    after_double_dash: false,
                    words_left: self.words_left,
                });
                continue;
            }
            // The words of a command that an option takes are not its value.
            let max_taken = if letters { args.len() } else { 1 };
            for (place, taken) in args
                .iter()
                .enumerate()
                .take(next.at)
                .skip(at)
                .take(max_taken)
            {
                self.words_left = args.len() - place;
                self.read_value_as_option(&scope, taken, &next);
            }
            at = next.at;
        }
        at
    }

    /// Adds the options that the members of whole requests stand for.
    fn add_request_options(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = OptionScope { program, parents };
        let mut at = 0;
        // A member may be a request itself.
        while let Some(opt) = self.call.options.get(at) {
            at += 1;
            self.words_left = opt.words_left;
            let (Role::Request, Some(request)) = (opt.spec.role, opt.value.clone()) else {
                continue;
            };
            for (name, member) in request_members(&request.text).unwrap_or_default() {
                let value = match member {
                    RequestMember::Flag(false) => continue,
                    RequestMember::Flag(true) => None,
                    RequestMember::Text(text) => Some(request.with_text(&text)),
                };
                if let Some(found) = scope.by_exact_name(&name) {
                    let value = value.filter(|_| found.spec.arity != ValueArity::None);
                    self.add_option(&found, value, request.span, &mut RemainingArgs::none());
                }
            }
        }
    }

    /// Adds the entries for an option with one value, if the value is a separate word: `-d recurse` is
    /// `-d=recurse`, too. A separate value never makes a call harmless.
    fn add_value_entries(&mut self, program: &Program, parents: &[&'static Program]) {
        let scope = OptionScope { program, parents };
        let with_value = |opt: &ParsedOption| {
            let value = opt.value.as_ref().filter(|value| value.is_known())?;
            let found = scope.by_exact_name(&format!("{}={}", opt.name, value.text))?;
            (!found.spec.makes_harmless()).then_some((found, opt.span, opt.words_left))
        };
        let found: Vec<_> = self.call.options.iter().filter_map(with_value).collect();
        for (found, span, words_left) in found {
            self.words_left = words_left;
            self.add_option(&found, None, span, &mut RemainingArgs::none());
        }
    }

    /// Reads the value of an option as an option too, because a version of the program may take no
    /// value there. The second reading never makes a call harmless.
    fn read_value_as_option(
        &mut self,
        scope: &OptionScope<'_>,
        taken: &Arg,
        next: &RemainingArgs<'_>,
    ) {
        let long = taken.text.starts_with("--") && taken.text.len() > 2;
        // Some commands of git parse their words twice, first without most options.
        let git = scope.program.style == Style::Git;
        let letters = git && taken.text.starts_with('-') && taken.text.len() > 1;
        if !long && !letters {
            return;
        }
        let unrecognized = self.call.unrecognized.len();
        let mut next = RemainingArgs {
            args: if git { next.args } else { &[] },
            at: next.at,
        };
        self.version_dependent = true;
        self.read_option(scope, taken, &mut next);
        self.version_dependent = false;
        self.call.unrecognized.truncate(unrecognized);
    }

    fn read_option(&mut self, scope: &OptionScope<'_>, arg: &Arg, next: &mut RemainingArgs<'_>) {
        let style = scope.program.style;
        let rules = StyleRules::of(style);
        let text = arg.text.as_str();
        if style == Style::Assign {
            self.read_assignment(scope, arg, next);
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
        if let Some(found) = scope.by_name(text, rules.long_names) {
            self.add_option(&found, None, arg.span, next);
            return;
        }
        let one_dash = rules.long_names == LongNameSyntax::OneDash;
        let letter = !one_dash && !name.starts_with("--") && name.chars().count() == 2;
        let named = scope.by_name(name, rules.long_names).filter(|found| {
            let takes_value = found.spec.arity != ValueArity::None;
            let joined = takes_value && (!letter || rules.drops_equals);
            value.is_none() || joined || one_dash || name.starts_with("--")
        });
        if let Some(found) = named {
            self.read_named_option(&found, arg, value, text, next);
            return;
        }
        let long = text.starts_with("--") && !one_dash;
        let fitting = match long && rules.allows_abbreviations {
            true => scope.by_abbreviation(name, value),
            false => Vec::new(),
        };
        // An entry with a name comes before a wildcard.
        if (long || one_dash)
            && !fitting.iter().any(|found| found.spec.does_more_than_read())
            && let Some(found) = scope.wildcard(text, rules.long_names)
        {
            let value = value.map(|value| arg.with_text(value));
            self.add_option(&found, value, arg.span, next);
            next.at = next.at.min(next.args.len());
        } else if one_dash {
            self.add_unknown_option(name, arg.span);
        } else if long {
            self.read_abbreviation(fitting, name, value, arg, next);
        } else if text.starts_with('+')
            && let Some(found) = scope.by_exact_name("+*")
        {
            self.add_option(&found, None, arg.span, next);
        } else {
            self.read_letters(scope, arg, text.get(1..).unwrap_or(""), next);
        }
    }

    /// Reads an operand `key=value`.
    fn read_assignment(
        &mut self,
        scope: &OptionScope<'_>,
        arg: &Arg,
        next: &mut RemainingArgs<'_>,
    ) {
        let text = arg.text.as_str();
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let name = format!("{key}=");
        match scope
            .by_exact_name(&name)
            .or_else(|| scope.by_exact_name(key))
        {
            Some(found) => {
                let found = MatchedOption { name, ..found };
                self.add_option(&found, Some(arg.with_text(value)), arg.span, next);
            }
            None => self.add_unknown_option(key, arg.span),
        }
    }

    /// Reads an option whose name is in the table, with the value that is joined to it.
    fn read_named_option(
        &mut self,
        found: &MatchedOption<'_>,
        arg: &Arg,
        value: Option<&str>,
        text: &str,
        next: &mut RemainingArgs<'_>,
    ) {
        let flag = found.spec.arity == ValueArity::None;
        match (value, value.and_then(parse_bool)) {
            (_, Some(false)) if flag => {
                // The flag is off, so it does not make the call harmless.
                match found.spec.effect {
                    Some(
                        OptionEffect::AtLeast(_)
                        | OptionEffect::Reveals
                        | OptionEffect::ReplacesAndReveals,
                    ) => self.add_option(found, None, arg.span, next),
                    Some(_) => {
                        let silent = OptionSpec {
                            effect: None,
                            ..*found.spec
                        };
                        let found = MatchedOption {
                            // No name in a table has a blank.
                            name: format!("{}= false", found.name),
                            spec: &silent,
                            style: found.style,
                        };
                        self.add_option(&found, None, arg.span, next);
                    }
                    None => {}
                }
            }
            (_, Some(true)) if flag => self.add_option(found, None, arg.span, next),
            (Some(_), None) if flag => self.add_unknown_option(text, arg.span),
            _ => {
                let value = value.map(|value| arg.with_text(value));
                self.add_option(found, value, arg.span, next);
            }
        }
    }

    /// Reads an abbreviation as every option that it matches.
    fn read_abbreviation(
        &mut self,
        mut found: Vec<MatchedOption<'_>>,
        name: &str,
        value: Option<&str>,
        arg: &Arg,
        next: &mut RemainingArgs<'_>,
    ) {
        // If an option changes something, harmless options do not count.
        if found.iter().any(|found| found.spec.does_more_than_read()) {
            found.retain(|found| found.spec.does_more_than_read());
        }
        let takes = found
            .first()
            .map(|found| found.spec.arity == ValueArity::Required);
        let is_same_option =
            |found: &MatchedOption<'_>| Some(found.spec.arity == ValueArity::Required) == takes;
        let are_same_option = found.iter().all(is_same_option);
        let flag = |found: &MatchedOption<'_>| found.spec.arity == ValueArity::None;
        if found.is_empty() || !are_same_option || (value.is_some() && found.iter().any(flag)) {
            self.add_unknown_option(name, arg.span);
            // An ambiguous abbreviation never makes a call harmless.
            found.retain(|found| found.spec.does_more_than_read());
        }
        let mut value = value.map(|value| arg.with_text(value));
        if value.is_none() && takes == Some(true) {
            value = match are_same_option {
                true => next.take(),
                // The word remains an operand too.
                false => next.args.get(next.at).cloned(),
            };
        }
        let mut nothing = RemainingArgs::none();
        for found in found {
            let value = value
                .clone()
                .filter(|_| found.spec.arity != ValueArity::None);
            let next = if are_same_option {
                &mut *next
            } else {
                &mut nothing
            };
            self.add_option(&found, value, arg.span, next);
        }
    }

    /// Reads joined letters: each is a flag, or takes the letters after it or the next word.
    fn read_letters(
        &mut self,
        scope: &OptionScope<'_>,
        arg: &Arg,
        letters: &str,
        next: &mut RemainingArgs<'_>,
    ) {
        let rules = StyleRules::of(scope.program.style);
        let sign = if arg.text.starts_with('+') { '+' } else { '-' };
        let values_behind =
            rules.first_word == FirstWordSyntax::ValuesFollow && !arg.text.starts_with(sign);
        for (at, letter) in letters.char_indices() {
            let name = format!("{sign}{letter}");
            let Some(found) = scope.by_exact_name(&name) else {
                self.add_unknown_option(&name, arg.span);
                return;
            };
            let rest = &letters[at + letter.len_utf8()..];
            match found.spec.arity {
                ValueArity::None => {
                    self.add_option(&found, None, arg.span, next);
                    if rest.starts_with('=') {
                        self.add_unknown_option(&arg.text, arg.span);
                        return;
                    }
                }
                ValueArity::Required if values_behind => {
                    self.add_option(&found, None, arg.span, next)
                }
                ValueArity::Joined if values_behind => {
                    self.add_option(&found, None, arg.span, next)
                }
                ValueArity::Joined | ValueArity::Required => {
                    let joined = (!rest.is_empty()).then(|| {
                        let value = rest.strip_prefix('=').filter(|_| rules.drops_equals);
                        arg.with_text(value.unwrap_or(rest))
                    });
                    self.add_option(&found, joined, arg.span, next);
                    // A program with another style drops the `=`.
                    if let Some(value) = rest.strip_prefix('=')
                        && !rules.drops_equals
                        && found.spec.role != Role::Text
                    {
                        self.version_dependent = true;
                        let value = Some(arg.with_text(value));
                        self.add_option(&found, value, arg.span, &mut RemainingArgs::none());
                        self.version_dependent = false;
                    }
                    return;
                }
            }
        }
    }

    fn add_unknown_option(&mut self, name: &str, span: Span) {
        let path = &self.call.path;
        let reason = format!("unknown option `{name}` of `{path}`");
        self.call.unrecognized.push((reason, span));
    }

    /// Adds an option, with the next word as its value if it needs one and has none.
    fn add_option(
        &mut self,
        found: &MatchedOption<'_>,
        value: Option<Arg>,
        span: Span,
        next: &mut RemainingArgs<'_>,
    ) {
        let option = found.spec;
        let ends = |style| StyleRules::of(style).operands == OperandOrder::EndHarmless;
        if option.makes_harmless()
            && (self.version_dependent
                || self.follows_operand && (ends(self.call.program.style) || ends(found.style)))
        {
            self.ignored_harmless = true;
            return;
        }
        if self.version_dependent && !option.does_more_than_read() && option.role == Role::Text {
            return;
        }
        let mut value = value;
        let mut rest = Vec::new();
        if option.arity == ValueArity::Required && value.is_none() {
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
            spec: *option,
            value,
            command: rest,
            span,
            words_left: self.words_left,
            version_dependent: self.version_dependent,
        });
    }
}

/// Words after the current word.
struct RemainingArgs<'a> {
    args: &'a [Arg],
    at: usize,
}

impl RemainingArgs<'_> {
    fn none() -> Self {
        Self { args: &[], at: 0 }
    }

    fn take(&mut self) -> Option<Arg> {
        let arg = self.args.get(self.at).cloned();
        self.at += 1;
        arg
    }
}

/// Returns `true` if a word before the end of the options is an option.
fn is_option(text: &str, style: Style, scope: &OptionScope<'_>) -> bool {
    if style == Style::Assign {
        return true;
    }
    if style == Style::Slash && text.starts_with('/') {
        return text.len() > 1 && !text[1..].contains('/');
    }
    if text.starts_with('+') {
        if text.len() > 1 && scope.by_exact_name("+*").is_some() {
            return true;
        }
        return text.len() > 1
            && (scope.by_exact_name(text).is_some()
                || text
                    .get(..2)
                    .is_some_and(|flag| scope.by_exact_name(flag).is_some()));
    }
    text.len() > 1 && text.starts_with('-')
}

/// Returns the value of a flag: `--color=no`.
fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "1" | "yes" => Some(true),
        "0" | "no" => Some(false),
        value => value.parse().ok(),
    }
}
