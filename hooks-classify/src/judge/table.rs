//! Commands as their tables say.

pub(super) mod config;
mod requests;
pub(super) mod roles;

use std::net::IpAddr;

pub(super) use requests::overridden_by_header;

use super::environment::Contents;
use super::redirect::shown;
use super::special::{Outcome, from_input, special};
use super::{Arg, Finding, Input, Judge, Output, UNKNOWN};
use crate::Crud;
use crate::shell::Span;
use crate::tables::{Call, Effect, Given, Language, Program, Role, Verb, matches};

/// From more folders than this it is not followed where the shell goes.
const FOLDERS: usize = 8;

impl Judge<'_> {
    pub(super) fn table(
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

    /// Notes what a call does; says what it prints.
    pub(super) fn call(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        let program = call.program;
        self.parts.call(call);
        self.note_terminal(call, input);
        // What asks for help wherever a command has not another use for it.
        let aws = matches!(call.args.as_slice(), [arg] if arg.text == "help")
            && call.path.starts_with("aws ");
        let git = matches!(call.args.as_slice(), [arg] if arg.text == "-h")
            && call.path.starts_with("git ")
            && call.path.split(' ').count() == 2;
        let alone = |arg: &Arg| arg.known() && program.details.help.contains(&arg.text.as_str());
        let help = matches!(call.args.as_slice(), [arg] if alone(arg));
        if aws || git || help {
            self.find(
                Effect::Read,
                whole,
                format!("`{}` prints its help", call.path),
            );
            return None;
        }
        self.files_in_words(call);
        self.requests(call);
        self.finds(call);
        self.in_folder(call, |judge| judge.call_here(call, whole, input))
    }

    fn call_here(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        let program = call.program;
        let outcome = match &program.judge {
            Some(name) => special(name)(self, call, whole, input),
            None => Outcome::Table,
        };
        let base = match outcome {
            Outcome::Done(output) => return output,
            Outcome::Is(effect) => Some(effect),
            Outcome::Table | Outcome::NoOperands => None,
        };
        let before = self.findings.len();
        self.strange(call);
        self.effect(call, base, whole);
        self.remotes(call);
        self.options(call, input);
        let mut output = None;
        if !matches!(outcome, Outcome::NoOperands) {
            // A word that may be several may reach an operand that is written; where the call
            // is known to write anyway, that is no news.
            let reads = |finding: &Finding| finding.effect == Crud::Read;
            let writes = |role: &Role| {
                matches!(
                    role,
                    Role::Output | Role::Append | Role::Update | Role::Delete
                )
            };
            if let Some(operand) = call.operands.iter().find(|operand| operand.arg.many)
                && call.program.operands.iter().any(|(role, _)| writes(role))
                && self.findings[before..].iter().all(reads)
            {
                self.find(
                    Effect::Unknown,
                    operand.arg.span,
                    format!(
                        "`{}` writes an operand, and `{}` may be several",
                        call.path,
                        shown(&operand.arg)
                    ),
                );
            }
            let (roles, extra) = call.roles();
            if let Some(extra) = extra.first() {
                let path = &call.path;
                self.find(
                    Effect::Unknown,
                    extra.span,
                    format!("`{path}` takes no operand `{}`", shown(extra)),
                );
            }
            // What `only` reads does not run.
            let dry = prints_other(call);
            // Without a folder it goes through the one where it runs.
            let files = |role: &Role| matches!(role, Role::Name | Role::Input);
            let told = roles
                .iter()
                .any(|(role, args)| files(role) && !args.is_empty());
            let takes = call.program.operands.iter().any(|(role, _)| files(role));
            if takes && !told && *input == Input::Inherited && roles::recurses(call) {
                self.role(call, Role::Name, &[Arg::new(".", whole)], input);
            }
            for (role, args) in roles {
                if dry && role == Role::Script(Language::Sql) {
                    continue;
                }
                output = self.role(call, role, &args, input);
            }
        }
        self.sends(call, whole);
        let given = program.details.reveals_given.as_ref();
        let given = given.filter(|_| !call.operands.is_empty());
        let shown = program
            .details
            .reveals
            .as_ref()
            .filter(|_| !prints_other(call));
        if let Some(what) = shown.or(given) {
            self.ask(whole, format!("`{}` shows {what}", call.path));
        }
        self.same(call);
        self.goes(call);
        output.or_else(|| self.printed(call, input))
    }

    /// Asks about what expansions hold, where it may go to another machine.
    fn sends(&mut self, call: &Call, whole: Span) {
        let program = &call.program;
        if program.details.offline && !program.details.sends {
            return;
        }
        // Options before the name of a command are none of its words.
        let first = call.args.first().map_or(usize::MAX, |arg| arg.span.start);
        let values = call.options.iter().filter_map(|given| given.value.as_ref());
        let before = values.filter(|value| value.span.start < first);
        let held: Vec<_> = before
            .chain(&call.args)
            .filter(|arg| !arg.known())
            .collect();
        let path = &call.path;
        if program.details.sends {
            for arg in held.into_iter().filter(|arg| leaves(arg)) {
                let reason = format!("`{path}` sends what an expansion holds over the network");
                self.ask(arg.span, reason);
            }
            return;
        }
        let tells = program.details.shows.iter().any(|pattern| {
            let variables = self.environment.variables.iter();
            let mut set = variables.filter(|(_, value)| value.is_unknown());
            set.any(|(name, _)| matches(pattern, name))
        });
        if held.is_empty() && !tells {
            return;
        }
        // A server is named in everyday calls: what the shell was started with may go there.
        let printed = held.iter().find(|arg| !arg.inert).map(|arg| arg.span);
        let printed = printed.or(tells.then_some(whole));
        let found = match address(call) {
            Some(host) => Some((held.first().map_or(whole, |arg| arg.span), host)),
            None => printed.and_then(|span| Some((span, server(call)?))),
        };
        if let Some((span, host)) = found {
            let reason = format!("`{path}` may send what an expansion holds to `{host}`");
            self.ask(span, reason);
        }
    }

    /// Remembers where the shell went.
    fn goes(&mut self, call: &Call) {
        if !matches!(call.path.as_str(), "cd" | "chdir" | "pushd") {
            return;
        }
        // A command that goes there and prints where it is prints its name.
        call.operands
            .iter()
            .for_each(|operand| self.name(&operand.arg));
        let mut operands = call.operands.iter().map(|operand| &operand.arg);
        let path = match operands.find(|arg| !arg.text.starts_with('-')) {
            // The folder that the shell goes to may be one of those that a loop goes through.
            Some(arg) if arg.path() == UNKNOWN.to_string() => {
                let named = self.handed.iter().find(|named| named.secret);
                named.map_or_else(|| arg.path().to_owned(), |named| named.path.clone())
            }
            Some(arg) => arg.path().to_owned(),
            None if call.operands.is_empty() && call.path != "pushd" => "~".to_owned(),
            None => return,
        };
        self.goes_to(&path);
    }

    pub(super) fn goes_to(&mut self, path: &str) {
        let folders = &mut self.environment.folders;
        if path.starts_with(['/', '~']) || folders.is_empty() {
            *folders = [path.to_owned()].into();
        } else if folders.len() <= FOLDERS {
            *folders = folders.iter().map(|f| format!("{f}/{path}")).collect();
        }
    }

    /// Remembers that a file is now another's twin.
    fn same(&mut self, call: &Call) {
        if !matches!(call.path.as_str(), "ln" | "cp" | "mv" | "install") {
            return;
        }
        if let [source, target] = call.operands.as_slice()
            && source.arg.known()
            && target.arg.known()
        {
            let (source, mut target) = (source.arg.text.clone(), target.arg.text.clone());
            if target.ends_with('/') || target == "." {
                target = format!(
                    "{}/{}",
                    target.trim_end_matches('/'),
                    source.rsplit('/').next().unwrap_or("")
                );
            }
            let contents = self
                .environment
                .files
                .get(&source)
                .cloned()
                .unwrap_or(Contents::Same(source));
            self.environment
                .files
                .insert(target.trim_start_matches("./").to_owned(), contents.clone());
            self.environment.files.insert(target, contents);
        }
    }

    fn effect(&mut self, call: &Call, special: Option<Effect>, whole: Span) {
        let program = &call.program;
        if program.details.options_first
            && let Some(first) = call.operands.first()
            && let Some(late) = call
                .options
                .iter()
                .find(|given| given.span.start > first.arg.span.start)
        {
            let reason = format!(
                "`{}` takes `{}` for the name of a file",
                call.path, late.name
            );
            self.find(Effect::Create, late.span, reason);
        }
        let mut means: Option<(Effect, Span, &str)> = None;
        let mut only = means;
        let mut raised = means;
        for (at, given) in call.options.iter().enumerate() {
            let promises = matches!(
                given.option.verb,
                Some(Verb::Only(_) | Verb::Means(Effect::Read))
            );
            if promises && withdrawn(call, at) {
                continue;
            }
            let entry = |effect| (effect, given.span, given.name.as_str());
            let stronger =
                |old: Option<(Effect, Span, &str)>, new: Effect| old.is_none_or(|old| new > old.0);
            match given.option.verb {
                Some(Verb::Means(effect)) if stronger(means, effect) => means = Some(entry(effect)),
                Some(Verb::Only(effect)) if stronger(only, effect) => only = Some(entry(effect)),
                Some(Verb::Raises(effect)) if stronger(raised, effect) => {
                    raised = Some(entry(effect))
                }
                Some(verb @ (Verb::Reveals | Verb::MeansSecret)) => {
                    self.ask(given.span, format!("`{}` shows secrets", given.name));
                    if verb == Verb::MeansSecret && stronger(means, Effect::Read) {
                        means = Some(entry(Effect::Read));
                    }
                }
                _ => {}
            }
        }
        let given = program.given.filter(|_| !call.operands.is_empty());
        let plain = special.or(given).unwrap_or(program.effect);
        let (mut effect, mut span, mut option) = (plain, whole, None);
        if let Some((strongest, at, name)) = means {
            (effect, span, option) = (strongest, at, Some(name));
            if special.is_some_and(|special| special > effect) {
                (effect, span, option) = (plain, whole, None);
            }
        }
        if let Some((strongest, at, name)) = raised
            && strongest > effect
        {
            (effect, span, option) = (strongest, at, Some(name));
        }
        if let Some((strongest, _, _)) = only {
            (effect, span, option) = (strongest, whole, None);
        }
        let path = &call.path;
        let reason = match (option, effect) {
            (Some(option), effect) => format!("`{path}` with `{option}` {}", verb(effect)),
            (None, Effect::Unknown) => format!("`{path}` is not understood"),
            (None, Effect::Code) => format!(
                "`{path}` {}, and so runs code that is not shown",
                program.does
            ),
            (None, _) => format!("`{path}` {}", program.does),
        };
        self.find(effect, span, reason);
    }

    /// Notes what options say of themselves, for judges that do the rest.
    pub(super) fn verbs(&mut self, call: &Call) {
        for given in &call.options {
            match given.option.verb {
                Some(Verb::Raises(effect) | Verb::Means(effect)) => {
                    let reason = format!("`{}` with `{}` {}", call.path, given.name, verb(effect));
                    self.find(effect, given.span, reason);
                }
                Some(Verb::Reveals | Verb::MeansSecret) => {
                    self.ask(given.span, format!("`{}` shows secrets", given.name))
                }
                _ => {}
            }
        }
    }

    pub(super) fn options(&mut self, call: &Call, input: &Input) {
        for given in &call.options {
            // The judge of the program reads it.
            if !from_input(call, given) {
                self.option(call, given, input);
            }
        }
    }

    /// Notes what happens with what an option is given.
    pub(super) fn option(&mut self, call: &Call, given: &Given, input: &Input) {
        if matches!(given.option.role, Role::Argv { .. }) {
            self.role(call, given.option.role, &given.rest, input);
        } else if let Some(value) = &given.value {
            self.role(call, given.option.role, std::slice::from_ref(value), input);
        }
    }

    /// Notes what no table knows.
    pub(super) fn strange(&mut self, call: &Call) {
        for (reason, span) in &call.strange {
            self.find(Effect::Unknown, *span, reason.clone());
        }
    }
}

/// Words behind an option that turn it off for some programs.
const OFF: &[&str] = &[
    "false", "no", "0", "null", "off", "without", "disable", "n", "f",
];

/// Options that test or list, and those that have the program do its work all the same.
const LOOKS: &[&str] = &["-t", "--test", "-l", "--list"];
const WORKS: &[&str] = &["-z", "--compress", "-d", "--decompress", "--uncompress"];

/// Whether something takes back what an option says: another value, `--no-…`, a word that turns
/// it off, another option, or its place.
fn withdrawn(call: &Call, at: usize) -> bool {
    let given = &call.options[at];
    // Spans are equal to each other.
    let place = |arg: &Arg| arg.span.start == given.span.start;
    let place = call.args.iter().position(place);
    if let Some(place) = place {
        let next = call.args.get(place + 1);
        if next.is_some_and(|next| OFF.contains(&next.text.as_str()))
            || (call.program.details.only_first && place > 0)
        {
            return true;
        }
    }
    let works = |given: &Given| WORKS.contains(&given.name.as_str());
    let compresses = call.program.options.contains_key("--decompress");
    if compresses && LOOKS.contains(&given.name.as_str()) && call.options.iter().any(works) {
        return true;
    }
    let name = given.name.as_str();
    let base = |name: &str| name.split('=').next().unwrap_or(name).to_owned();
    let own = base(name);
    let verb = given.option.verb;
    let negated = call.args.iter().any(|arg| {
        arg.text.strip_prefix("--no-").is_some_and(|rest| {
            let positive = format!("--{rest}");
            // An option with the same meaning has another name perhaps.
            let mut options = call.program.options.iter();
            own == "--*"
                || own.starts_with(&positive)
                || options.any(|(name, option)| option.verb == verb && name.starts_with(&positive))
        })
    });
    negated
        || call.options[at + 1..].iter().any(|later| {
            let other = base(&later.name);
            (other == own && later.name != name) || later.name.ends_with("= false")
        })
}

fn verb(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "only reads",
        Effect::Create => "creates something",
        Effect::Code => "runs code that is not shown",
        Effect::Unknown => "is not understood",
        Effect::Update => "changes something",
        Effect::Delete => "deletes or discards something",
    }
}

/// The other machine that a word of a call names, as far as it is known. Commands and scripts among
/// its words are judged by themselves.
fn address(call: &Call) -> Option<String> {
    let is_word = |role: &Role| {
        !matches!(
            role,
            Role::Argv { .. } | Role::Shell | Role::Script(_) | Role::ScriptFile
        )
    };
    let (operands, _) = call.roles();
    let operands = operands.iter().filter(|(role, _)| is_word(role));
    let options = call.options.iter();
    let options = options.filter(|given| is_word(&given.option.role));
    let values = options.filter_map(|given| given.value.as_ref());
    let mut words = operands.flat_map(|(_, args)| args).chain(values);
    if call.program.details.hosts
        && let Some(host) = call.operands.iter().find_map(|o| place(&o.arg))
    {
        return Some(host);
    }
    words.find_map(elsewhere)
}

/// Whether an option has a program print something else, such as its version.
fn prints_other(call: &Call) -> bool {
    call.options.iter().enumerate().any(|(at, given)| {
        given.option.verb == Some(Verb::Only(Effect::Read)) && !withdrawn(call, at)
    })
}

/// The other machine on which a place is, named without `://`: `host:path`, `host::module`.
pub(super) fn place(arg: &Arg) -> Option<String> {
    let (host, _) = arg.text.split_once(':')?;
    // A single letter is a drive.
    let named = host.len() > 1 && !host.contains('/') && !arg.text.contains("://");
    named.then(|| elsewhere(&as_address(&arg.with(host))))?
}

/// Whether a word that is sent holds what is not known. The port of a service on this machine,
/// `http://localhost:$PORT/`, gets nowhere else.
pub(super) fn leaves(word: &Arg) -> bool {
    let own_port = || {
        let (scheme, authority, rest) = parted(&word.text)?;
        let (host, port) = authority.rsplit_once(':')?;
        let open = port.chars().all(|c| c == UNKNOWN);
        let known = !scheme.contains(UNKNOWN) && !rest.contains(UNKNOWN);
        Some(word.inert && open && known && is_this_machine(host))
    };
    !word.known() && own_port() != Some(true)
}

/// The other machine that an option of a call names.
fn server(call: &Call) -> Option<String> {
    let options = call.options.iter();
    let options = options.filter(|given| given.option.role == Role::Host);
    let mut values = options.filter_map(|given| given.value.as_ref());
    values.find_map(|value| elsewhere(&as_address(value)))
}

/// The name of a machine as an address of it.
pub(super) fn as_address(host: &Arg) -> Arg {
    host.with(&format!("server://{}", host.text))
}

/// The machine that an address names, unless it is this one, or nothing of it is known.
pub(super) fn elsewhere(address: &Arg) -> Option<String> {
    let (scheme, authority, _) = parted(&address.text)?;
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || c == UNKNOWN || "+-.".contains(c);
    if !scheme.chars().all(of_scheme) || scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let authority = authority.split(char::is_whitespace).next()?;
    let host = authority.rsplit('@').next()?;
    let of_port = |c: char| c.is_ascii_digit() || c == UNKNOWN;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.chars().all(of_port) => host,
        _ => host,
    };
    // A field of a template is none.
    let known = host.contains(|c: char| c.is_ascii_alphanumeric()) && !host.contains('{');
    // Libraries of databases take another one from behind the path.
    let another = address.text.to_ascii_lowercase().contains("host=");
    (another || known && !is_this_machine(host)).then(|| shown(&address.with(host)))
}

/// The scheme of an address, the host with what is beside it, and what follows.
fn parted(address: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    Some((scheme, authority, rest))
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}
