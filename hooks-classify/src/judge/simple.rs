//! Simple commands: assignments, redirections, and a program.

use super::environment::{OWN, is_numeric};
use super::names::DESCRIPTORS;
use super::numbers::Shown;
use super::redirect::{How, Printed, shown};
use super::run::plain;
use super::table::elsewhere;
use super::table::roles::prints_facts;
use super::words::is_number;
use super::{Arg, Input, Judge, Named, Output, Place, UNKNOWN, Value};
use crate::shell::{Change, Piece, Redirect, Span, Word};
use crate::tables::{Call, Effect};

impl Judge<'_> {
    pub(super) fn simple(
        &mut self,
        assigns: &[Word],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        (input, piped): (&Input, bool),
    ) -> Output {
        self.parts.enter(span);
        let mut set = Vec::new();
        for assign in assigns {
            let noted = std::mem::take(&mut self.noted);
            let assigned = self.assignment(assign);
            let names = std::mem::replace(&mut self.noted, noted);
            if let Some((name, value)) = assigned {
                if !names.is_empty() {
                    self.holds_names(base(&name.text), names);
                }
                self.parts.assignment(&name.text, &value);
                self.index(&name);
                set.push((name.text, value));
            }
        }
        let noted = std::mem::take(&mut self.noted);
        // What runs to make its words reads what it reads.
        let read = if piped { noted.clone() } else { Vec::new() };
        let args = self.with_names(read, |judge| judge.expand_all(words));
        // What a substitution printed may be their names.
        let mut names = self.noted.clone();
        self.noted.extend(noted);
        let label = args.iter().map(shown).collect::<Vec<_>>().join(" ");
        self.step(span, || {
            if label.is_empty() {
                "(assignment or redirection)".into()
            } else {
                label
            }
        });
        // Some shells take `a &> f b` for `a &` and `> f b`.
        let part = redirects.iter().find(|redirect| redirect.both);
        if let Some(part) = part {
            let behind = |word: &&Word| word.span.start >= part.span.end;
            let words: Vec<&Word> = words.iter().filter(behind).collect();
            let rest: Vec<Arg> = words
                .into_iter()
                .flat_map(|word| self.expand(word))
                .collect();
            if !rest.is_empty() {
                self.run(rest, &Input::Unknown);
            }
        }
        self.behind_brace(words);
        let silent = args.first().is_some_and(|name| self.speaks(&name.text));
        // What is substituted in its words may read before it does.
        let reads = |word: &Word| !word.pieces.iter().all(is_quiet);
        let unread = match input {
            Input::Known(_) if assigns.iter().chain(words).any(reads) => &Input::Unknown,
            input => input,
        };
        let how = How {
            piped,
            silent,
            facts: self.prints_facts(&args),
        };
        let mut sent = self.redirects(redirects, unread, how);
        if !redirects.is_empty() && moves(&args) {
            self.environment.moved = true;
            // `exec 3< <(find …)`: what reads the descriptor later gets these names.
            if redirects.iter().any(Redirect::takes) {
                let names = self.names_in(&Input::Unknown);
                self.holds_names(DESCRIPTORS, names);
            }
        }
        let Some(name) = args.first() else {
            for (name, value) in set {
                self.sets(&name, &value);
                self.assign(&name, &value);
            }
            self.written(&sent, Some(""), span, "");
            self.parts.close();
            // An assignment that the shell refuses may end it.
            return None;
        };
        let program = name.text.clone();
        let lookup = program.rsplit('/').next().unwrap_or(&program).to_owned();
        for (name, value) in &set {
            self.sets(name, value);
            let own = self.tables.program(&lookup).is_some_and(|table| {
                table
                    .details
                    .variables
                    .iter()
                    .any(|pattern| crate::tables::matches(pattern, name))
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
        let prints = |arg: &Arg| {
            let name = arg.text.rsplit('/').next().unwrap_or("");
            PRINTS_WORDS.contains(&name)
        };
        if sent.printed != Printed::Away && args.iter().any(prints) {
            self.prints_variables(words);
        }
        self.parts.ready();
        // Others may print less than follows from their words, or end the shell.
        let plain =
            PRINTS.contains(&program.as_str()) || self.environment.functions.contains_key(&program);
        let piped = match redirects.iter().any(Redirect::reads) {
            true => Shown::Anything,
            false => self.piped,
        };
        let shown = self.shows(&args, piped);
        // `$_` stands for a word of the command before.
        let repeats = words.iter().flat_map(|word| &word.pieces).any(is_last_word);
        names.extend(self.last_secret.clone().filter(|_| repeats));
        let secret = |arg: &&Arg| self.tables.secret_within(arg.path());
        let last_secret = args.iter().skip(1).find(secret).map(|arg| Named {
            path: arg.path().to_owned(),
            secret: true,
        });
        let certain = plain && set.is_empty() && words.iter().all(is_certain);
        let keeps =
            KEEPS.contains(&program.as_str()) || self.environment.functions.contains_key(&program);
        let output = self.capturing(sent.printed == Printed::Away, |judge| {
            judge.with_variables(&set, keeps, |judge| {
                judge.with_names(names, |judge| judge.run(args, &sent.input.clone()))
            })
        });
        self.last_secret = last_secret;
        self.judge_processes(words, redirects);
        self.written(&sent, output.as_deref(), span, &program);
        self.parts.close();
        if words.iter().flat_map(|word| &word.pieces).any(is_process) {
            // What it hands to a process may come out of that.
            sent.printed = Printed::Unclear;
        }
        let output = output.filter(|_| certain);
        self.shown = self.shown.and(match (&output, sent.printed) {
            (_, Printed::Away) => Shown::Numbers,
            (_, Printed::Unclear) => Shown::Anything,
            (Some(text), _) if is_numeric(text) => Shown::Numbers,
            (Some(_), _) => Shown::Anything,
            (None, _) => shown,
        });
        sent.out(output)
    }

    /// Judges again the processes that are given what a command prints, now that its names are known:
    /// `tee >(xargs cat)`.
    fn judge_processes(&mut self, words: &[Word], redirects: &[Redirect]) {
        let names: Vec<Named> = self
            .noted
            .iter()
            .filter(|named| named.secret)
            .cloned()
            .collect();
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let processes = words.iter().chain(targets);
        let processes = processes.filter(|word| word.pieces.iter().any(is_process));
        for word in processes.filter(|_| !names.is_empty()) {
            self.with_names(names.clone(), |judge| judge.value(word));
        }
    }

    /// Judges the words behind a `}`, which ends a group in some shells: `{ a } always { b; }`.
    fn behind_brace(&mut self, words: &[Word]) {
        let is = |word: &Word, text: &str| {
            matches!(
                word.pieces.as_slice(),
                [Piece::Text { text: piece, quoted: false }] if piece == text
            )
        };
        let Some(at) = words.iter().position(|word| is(word, "}")) else {
            return;
        };
        let behind = words[at..].iter();
        let rest = behind.skip_while(|word| is(word, "}") || is(word, "always") || is(word, "{"));
        let rest: Vec<Arg> = rest.flat_map(|word| self.expand(word)).collect();
        if let Some(first) = rest.first() {
            let span = first.span;
            self.find(Effect::Unknown, span, "some shells end a group before this");
            self.run(rest, &Input::Unknown);
        }
    }

    /// Runs a command with variables that are set for it alone, unless the shell `keeps` them.
    pub(super) fn with_variables<T>(
        &mut self,
        set: &[(String, Arg)],
        keeps: bool,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let names = set.iter().map(|(name, _)| base(name).to_owned());
        let before: Vec<_> = names
            .map(|name| (self.environment.variables.get(&name).cloned(), name))
            .collect();
        for (name, value) in set {
            self.assign(name, value);
        }
        let output = run(self);
        let variables = &mut self.environment.variables;
        for (value, name) in before {
            let value = match variables.remove(&name) {
                // Not every shell keeps them.
                Some(now) if keeps => Some(value.unwrap_or(Value::Inert).or(&now)),
                _ => value,
            };
            variables.extend(value.map(|value| (name, value)));
        }
        output
    }

    /// `NAME=VALUE`; the name keeps the `+` of `+=`.
    fn assignment(&mut self, word: &Word) -> Option<(Arg, Arg)> {
        let (name, value) = self.parted(word)?;
        is_name(base(&name.text)).then_some((name, value))
    }

    /// Judges the index of an array of which an element is set.
    fn index(&mut self, name: &Arg) {
        let Some((base, index)) = name.text.split_once('[') else {
            return;
        };
        let keyed = self.environment.keyed.contains(base);
        self.key(&name.with(index), keyed);
    }

    /// Returns true if a command prints at most facts about what it reads, such as its number of lines.
    fn prints_facts(&self, args: &[Arg]) -> bool {
        let Some(name) = args.first() else {
            return false;
        };
        if self.environment.functions.contains_key(&name.text)
            || self.environment.aliases.contains_key(&name.text)
        {
            return false;
        }
        let program = self.tables.program(plain(&name.text));
        let call = program.map(|program| Call::read(&name.text, program, &args[1..]));
        call.is_some_and(|call| prints_facts(&call))
    }

    /// Whether a name stands for a command of which nothing comes out but what it says.
    fn speaks(&self, name: &str) -> bool {
        matches!(name, "echo" | "printf")
            && !self.environment.functions.contains_key(name)
            && !self.environment.aliases.contains_key(name)
    }

    /// Asks where the value of a variable is printed that by its name is a secret, and that does
    /// not come from the command itself.
    pub(super) fn prints_variables(&mut self, words: &[Word]) {
        for word in words {
            for piece in &word.pieces {
                let Piece::Variable { name, change, .. } = piece else {
                    continue;
                };
                if !instead(change) {
                    let span = self.place.map(word.span);
                    for name in self.environment.referents(name) {
                        self.prints_variable(&name, span);
                    }
                }
            }
        }
    }

    /// Notes that a variable is set that changes what programs run.
    pub(super) fn sets(&mut self, name: &str, value: &Arg) {
        let plain = base(name);
        for referent in self.environment.referents(plain) {
            self.sets_one(&format!("{referent}{}", &name[plain.len()..]), value);
        }
    }

    fn sets_one(&mut self, name: &str, value: &Arg) {
        let plain = base(name);
        let reshaped = self.environment.reshaped.contains(plain);
        // Of what is appended to, the rest is not known.
        let known = value.known() && plain == name && !reshaped;
        let known = known.then_some(value.text.as_str());
        let inner = value.text.strip_prefix('(');
        // An element, or what is appended, is a part of a list.
        let list = (plain != name || inner.is_some())
            .then(|| format!("({}", inner.unwrap_or(value.text.as_str())));
        let name = plain;
        let found = self.tables.variable(name, known).or_else(|| {
            self.tables
                .special_value(name, list.as_deref().unwrap_or(&value.text))
        });
        let Some(variable) = found else {
            return;
        };
        // A list of folders names no file.
        if !name.ends_with("PATH") {
            self.parts.settings_file(value);
        }
        let reason = format!("sets `{name}`, {}", variable.why);
        // The value itself may be a command line.
        let value_runs = variable.why.contains("is run") || name.starts_with("GIT_CONFIG_VALUE_");
        self.find(Effect::Code, value.span, reason);
        if value_runs && value.known() && !value.text.is_empty() {
            let place = Place::Fixed(value.span);
            let Some(inner) = inner else {
                let text = value.text.trim_start_matches(['|', '-', '!']);
                self.text(text, place, &Input::Unknown);
                return;
            };
            // Each word of a list.
            for (at, part) in inner.trim_end_matches(')').split(['\'', '"']).enumerate() {
                let quoted = at % 2 == 1;
                let words = part.split_whitespace().filter(|_| !quoted);
                for text in words.chain(quoted.then_some(part)) {
                    self.text(text, place, &Input::Unknown);
                }
            }
        }
    }

    /// Notes that a variable may hold names of files that are not known.
    pub(super) fn holds_names(&mut self, name: &str, names: Vec<Named>) {
        for name in self.environment.referents(name) {
            let held = self.environment.secrets.entry(name).or_default();
            held.extend(names.iter().cloned());
            held.truncate(64);
        }
    }

    pub(super) fn assign(&mut self, name: &str, value: &Arg) {
        self.takes(name, value);
        if value.known() && base(name) == name {
            self.environment.secrets.remove(name);
        }
        match &value.place {
            Some(place) if base(name) == name => {
                self.environment
                    .places
                    .insert(name.to_owned(), place.clone());
            }
            _ => drop(self.environment.places.remove(base(name))),
        }
        let lower = value.path().to_lowercase();
        let secret =
            |path: &str| self.tables.secret_within(path) || self.tables.reads_secrets_below(path);
        // Of a list, each word.
        let list = value.path().strip_prefix('(');
        let words = list
            .into_iter()
            .flat_map(|list| list.trim_end_matches(')').split_whitespace());
        let words = words.map(|word| value.with(word).path().to_owned());
        let mut paths = [value.path().to_owned(), lower].into_iter().chain(words);
        if let Some(path) = paths.find(|path| secret(path)) {
            let named = Named { path, secret: true };
            self.holds_names(base(name), vec![named]);
        }
        let append = name.ends_with('+');
        let name = name.trim_end_matches('+');
        let base = base(name);
        if base != name {
            self.computed_values(value.span);
        }
        // Elements with an index of their own.
        if let Some(list) = value.text.strip_prefix('(')
            && list.contains('[')
            && !self.environment.keyed.contains(base)
        {
            for index in list
                .split('[')
                .skip(1)
                .filter_map(|rest| rest.split_once("]="))
            {
                self.computes(&value.with(index.0));
            }
        }
        let list = value.text.starts_with('(');
        let text = if !value.known() || base != name || OWN.contains(&base) {
            None
        } else if list {
            let words = value.text[1..].strip_suffix(')');
            words
                .filter(|words| !append && !words.contains(['\'', '"', '$', '*', '[']))
                .map(str::to_owned)
        } else if append {
            // Some shells know no `+=`.
            None
        } else {
            Some(value.text.clone())
        };
        // What is joined to another value, or is an element beside others, must be a number.
        let part = append || base != name;
        let number = match part {
            true => is_numeric(&value.text.replace(UNKNOWN, "")) && self.is_numeric(base),
            false => !value.text.contains(['[', '$', '`']),
        };
        let inert = (value.known() || value.inert) && number && !list;
        if list || base != name {
            self.environment.arrays.insert(base.to_owned());
        }
        let value = match text {
            Some(text) if list => Value::List(text),
            Some(text) => Value::Text(text),
            None if inert => Value::Inert,
            None if base == name && !append && is_address(value) => {
                Value::Address(value.text.clone())
            }
            None => Value::Unknown,
        };
        self.environment.set(base, value);
    }
}

/// Programs that print their words, or a part of them.
const PRINTS_WORDS: &[&str] = &[
    "echo", "printf", "print", "gecho", "gprintf", "basename", "dirname", "expr", "yes", "jo",
    "jq", "gojq", "jaq", "yq", "awk", "gawk", "mawk", "nawk", "figlet", "toilet", "banner",
    "cowsay",
];

/// The commands of which it is followed what they print.
const PRINTS: &[&str] = &[
    ":", "true", "echo", "printf", "cat", "base64", "gbase64", "openssl", "rev", "xxd", "tr",
];

/// Whether a shell can make something of a word, whatever there is: no value that must be
/// computed, and no pattern, which some shells refuse where no file fits it.
fn is_certain(word: &Word) -> bool {
    word.pieces
        .iter()
        .enumerate()
        .all(|(at, piece)| match piece {
            Piece::Text { quoted: true, .. } => true,
            Piece::Text { text, .. } => {
                let pattern = text.contains(['*', '?', '[', '~', '^', '#', '(', '<']);
                !pattern && (at > 0 || !text.starts_with('='))
            }
            Piece::Variable { name, change, .. } => {
                matches!(change, Change::None) && !is_number(name)
            }
            Piece::Substitution { .. } => true,
            Piece::Process { .. } | Piece::Arithmetic { .. } => false,
        })
}

/// Whether nothing runs where a shell expands this.
fn is_quiet(piece: &Piece) -> bool {
    match piece {
        Piece::Text { .. } => true,
        Piece::Variable { change, .. } => matches!(change, Change::None),
        Piece::Substitution { .. } | Piece::Process { .. } | Piece::Arithmetic { .. } => false,
    }
}

fn is_last_word(piece: &Piece) -> bool {
    matches!(piece, Piece::Variable { name, .. } if name == "_")
}

fn is_process(piece: &Piece) -> bool {
    matches!(piece, Piece::Process { .. })
}

/// Whether a command without a program, of which the redirections hold for the shell itself.
fn moves(args: &[Arg]) -> bool {
    let word = |arg: &Arg| {
        matches!(arg.text.as_str(), "exec" | "command" | "builtin") || arg.text.starts_with('-')
    };
    args.iter().any(|arg| arg.text == "exec") && args.iter().all(word)
}

/// Whether something else stands for a value: another text, or its length.
fn instead(change: &Change) -> bool {
    match change {
        Change::Length(_) => true,
        Change::Other(word) => word.pieces.first().is_some_and(|piece| match piece {
            Piece::Text { text, .. } => text.trim_start_matches(':').starts_with('+'),
            _ => false,
        }),
        _ => false,
    }
}

/// The name of a variable without the index and the `+` that may follow it.
fn base(name: &str) -> &str {
    name.split(['+', '[']).next().unwrap_or(name)
}

/// Whether of a value that is not known, as much is known as that it is an address elsewhere.
pub(super) fn is_address(value: &Arg) -> bool {
    elsewhere(value).is_some() && !value.text.contains(char::is_whitespace)
}

/// What the shell runs itself, and which some shells let keep the variables before it.
const KEEPS: &[&str] = &[
    "eval", "export", "readonly", "set", "shift", "trap", "unset", ".", "source", ":", "exec",
    "break", "continue", "return", "exit", "declare", "typeset", "local", "builtin", "command",
];

/// Returns true if a text can be the name of a variable.
pub(super) fn is_name(base: &str) -> bool {
    !base.is_empty()
        && base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !base.starts_with(|c: char| c.is_ascii_digit())
}

/// `NAME=VALUE`; the name keeps the `+` of `+=`.
pub(super) fn split_assignment(arg: &Arg) -> Option<(String, Arg)> {
    let (name, value) = arg.text.split_once('=')?;
    let base = name.trim_end_matches('+').split('[').next()?;
    is_name(base).then(|| (name.to_owned(), arg.with(value)))
}
