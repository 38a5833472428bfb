//! Operands and values of options by the role that they play.

use super::{as_address, elsewhere, leaves};
use crate::judge::environment::Contents;
use crate::judge::redirect::{device, kernel, nowhere, shown};
use crate::judge::{Arg, Input, Judge, Output};
use crate::shell::Span;
use crate::tables::{Call, Effect, Language, Operand, Role, members};

impl Judge<'_> {
    /// Notes what happens with words in a role.
    pub(in crate::judge) fn role(
        &mut self,
        call: &Call,
        role: Role,
        args: &[Arg],
        input: &Input,
    ) -> Output {
        let path = call.path.as_str();
        self.parts.role(role, args);
        // A program that looks for files notes itself what it finds.
        let finds = matches!(call.program.judge, Some("find" | "fd"));
        if matches!(role, Role::Input | Role::Name) && !finds {
            args.iter().for_each(|arg| self.name(arg));
        }
        match role {
            Role::Text | Role::Format | Role::Folder => {}
            Role::Host => args.iter().for_each(|arg| self.own_keys(arg)),
            Role::Name if !prints_contents(call) => {}
            Role::Filter if call.program.details.contents.is_some() && !prints_contents(call) => {}
            Role::Filter => {
                for arg in args {
                    for pattern in patterns(&arg.text) {
                        self.input_file(&arg.with(&pattern));
                        let name = pattern.rsplit('/').next().unwrap_or("");
                        if self.tables.is_searched(name) && !self.tables.is_source(name) {
                            let reason = format!("reads files `{pattern}`, a name of secrets");
                            self.ask(arg.span, reason);
                        }
                    }
                }
            }
            Role::Input | Role::Name => {
                let below = recurses(call) && !self.filters_source(call);
                args.iter().for_each(|arg| self.reads(arg, below));
            }
            Role::List => args.iter().for_each(|arg| self.listed(call, arg, input)),
            Role::Settings => {
                for arg in args.iter().filter(|arg| !own(arg)) {
                    self.ask(
                        arg.span,
                        format!(
                            "`{path}` follows `{}`, which may name a program",
                            shown(arg)
                        ),
                    );
                }
            }
            Role::Output => {
                for arg in args.iter().filter(|arg| !nowhere(&arg.text)) {
                    // One that is also an operand is there already.
                    let same =
                        |operand: &Operand| operand.arg.text == arg.text && operand.arg.known();
                    let effect = if device(&arg.text) {
                        Effect::Delete
                    } else if kernel(&arg.text)
                        || (call.operands.iter().any(same)
                            && call.operands.iter().filter(|o| same(o)).count()
                                > usize::from(path_operand(call, arg)))
                    {
                        Effect::Update
                    } else {
                        Effect::Create
                    };
                    self.find(
                        effect,
                        arg.span,
                        format!("`{path}` writes `{}`", shown(arg)),
                    );
                    self.unknown_file(arg);
                }
            }
            Role::Append | Role::Update => {
                for arg in args.iter().filter(|arg| !nowhere(&arg.text)) {
                    let effect = if device(&arg.text) {
                        Effect::Delete
                    } else {
                        Effect::Update
                    };
                    self.find(
                        effect,
                        arg.span,
                        format!("`{path}` changes `{}`", shown(arg)),
                    );
                }
            }
            Role::Delete => {
                for arg in args {
                    self.find(
                        Effect::Delete,
                        arg.span,
                        format!("`{path}` deletes `{}`", shown(arg)),
                    );
                }
            }
            Role::Argv { more } => {
                let mut words = args.to_vec();
                let last = words.last().map_or(Span::default(), |arg| arg.span);
                if more {
                    words.push(Arg::unknown(last));
                }
                return if words.is_empty() {
                    None
                } else {
                    self.run(words, input)
                };
            }
            Role::Shell => {
                let text = args
                    .iter()
                    .map(|arg| arg.text.as_str())
                    .collect::<Vec<_>>()
                    .join(" ");
                let (Some(first), Some(last)) = (args.first(), args.last()) else {
                    return None;
                };
                return self.shell_text(
                    &Arg::new(text, Span::new(first.span.start, last.span.end)),
                    input,
                );
            }
            Role::Module => {
                for arg in args {
                    // A version is no path.
                    let named = arg.text.contains('.') && arg.text.contains(char::is_alphabetic);
                    if !arg.known() || named || arg.text.contains(['/', '\\', ':']) {
                        self.parts.code_file(arg);
                        self.find(
                            Effect::Code,
                            arg.span,
                            format!("`{path}` loads code from `{}`", shown(arg)),
                        );
                    }
                }
            }
            Role::Pager => {
                for arg in args {
                    let harmless =
                        arg.known() && self.tables.variable("PAGER", Some(&arg.text)).is_none();
                    if !harmless {
                        self.role(call, Role::Program, std::slice::from_ref(arg), input);
                    }
                }
            }
            Role::Program => {
                for arg in args {
                    self.find(
                        Effect::Code,
                        arg.span,
                        format!("`{path}` runs `{}`", shown(arg)),
                    );
                    self.shell_text(&arg.with(&format!("{} \"$_\"", arg.text)), &Input::Unknown);
                }
            }
            Role::Script(
                language @ (Language::Redis
                | Language::PowerShell
                | Language::Mongo
                | Language::Cmd),
            ) => {
                if let (Some(first), Some(last)) = (args.first(), args.last()) {
                    let text = args
                        .iter()
                        .map(|arg| arg.text.as_str())
                        .collect::<Vec<_>>()
                        .join(" ");
                    let span = Span::new(first.span.start, last.span.end);
                    self.script_in(language, &Arg::new(text, span), path);
                }
            }
            Role::Script(language) => {
                for arg in args {
                    self.script_in(language, arg, path);
                }
            }
            Role::ScriptFile => {
                for arg in args {
                    self.parts.code_file(arg);
                    self.find(
                        Effect::Code,
                        arg.span,
                        format!("`{path}` runs what is in `{}`", shown(arg)),
                    );
                }
            }
            Role::Url | Role::Send | Role::Header => {
                for arg in args.iter().filter(|arg| leaves(arg)) {
                    self.ask(
                        arg.span,
                        format!("`{path}` sends what an expansion holds over the network"),
                    );
                }
                for arg in args {
                    if role == Role::Url {
                        self.own_keys(arg);
                    }
                    if let Some(file) = arg.text.strip_prefix("file://") {
                        self.input_file(&arg.with(file));
                    }
                    if role != Role::Url
                        && let Some(file) = arg.text.strip_prefix('@')
                    {
                        self.input_file(&arg.with(file));
                    }
                }
            }
            Role::Endpoint => {
                for arg in args {
                    self.own_keys(arg);
                    let address = match arg.text.contains("://") {
                        true => arg.clone(),
                        false => as_address(arg),
                    };
                    if let Some(host) = elsewhere(&address) {
                        self.ask(
                            arg.span,
                            format!("`{path}` shows the user's credentials to `{host}`"),
                        );
                    }
                }
            }
            Role::Request => {
                for arg in args.iter().filter(|arg| members(&arg.text).is_none()) {
                    self.find(
                        Effect::Code,
                        arg.span,
                        format!("`{path}` sends a request that is not shown"),
                    );
                }
            }
            Role::Config => args.iter().for_each(|arg| self.config(call, arg)),
            Role::Setting => {
                for arg in args {
                    self.prints_variable(&shown(arg), arg.span);
                }
            }
            Role::Method => {
                for arg in args {
                    let effect = crate::judge::special::method(&arg.text);
                    if effect > Effect::Read {
                        self.find(
                            effect,
                            arg.span,
                            format!("`{path}` sends a request `{}`", shown(arg)),
                        );
                    }
                }
            }
        }
        None
    }

    /// Returns whether a call reads source texts alone in the folders that it is given.
    fn filters_source(&self, call: &Call) -> bool {
        let filters = call
            .options
            .iter()
            .filter(|given| given.option.role == Role::Filter);
        let values = filters.filter_map(|given| given.value.as_ref());
        // Of what is left out, the rest may be anything.
        let mut values = values
            .filter(|value| !value.text.starts_with('!'))
            .peekable();
        values.peek().is_some()
            && values.all(|value| {
                let patterns = patterns(&value.text);
                let is_source = |pattern: &String| self.tables.is_source(pattern);
                patterns.iter().all(is_source)
            })
    }

    fn unknown_file(&mut self, arg: &Arg) {
        if arg.known() {
            self.environment
                .files
                .insert(arg.text.clone(), Contents::Unknown);
        }
    }
}

/// Whether a call prints the contents of the files that it names.
fn prints_contents(call: &Call) -> bool {
    // Options before the name of a command are none of its own.
    let first = call.args.first().map_or(usize::MAX, |arg| arg.span.start);
    let own = || {
        let options = call.options.iter();
        options.filter(|given| given.span.start >= first)
    };
    let given = |names: &[&str]| own().any(|given| names.contains(&given.name.as_str()));
    call.program
        .details
        .contents
        .as_ref()
        .is_some_and(|contents| {
            let name = call.path.rsplit(' ').next().unwrap_or("");
            let by_itself = !contents.only_on.contains(&name);
            given(contents.on) || by_itself && !given(contents.off)
        })
}

/// Returns whether a call reads all that lies in the folders that it names.
pub(in crate::judge) fn recurses(call: &Call) -> bool {
    let given = |names: &[&str]| call.has(names);
    let own = call.program.details.recurses.as_ref();
    own.is_some_and(|own| {
        let always = own.on.is_empty() || own.names.contains(&call.path.as_str());
        !given(own.off) && (always || given(own.on))
    })
}

/// Returns true if a program prints facts about the files that it is given, such as their number of
/// lines, and none of their contents.
pub(in crate::judge) fn prints_facts(call: &Call) -> bool {
    let takes = |role: Role| {
        call.program
            .operands
            .iter()
            .any(|(other, _)| *other == role)
    };
    takes(Role::Name) && !takes(Role::Input) && !prints_contents(call)
}

/// Returns the patterns of names that a filter of files consists of; none if it leaves files out.
fn patterns(filter: &str) -> Vec<String> {
    if filter.starts_with('!') {
        return Vec::new();
    }
    // A regular expression is reduced to the name that is likely meant.
    let filter = filter.replace(['\\', '^', '$'], "");
    match filter.split_once('{').and_then(|(before, rest)| {
        let (choice, after) = rest.split_once('}')?;
        Some((before, choice, after))
    }) {
        Some((before, choice, after)) => choice
            .split(',')
            .map(|one| format!("{before}{one}{after}"))
            .collect(),
        None => vec![filter],
    }
}

/// Whether a file lies where only its user puts files.
fn own(file: &Arg) -> bool {
    let text = file.text.as_str();
    file.known()
        && !text.split('/').any(|part| part == "..")
        && text.starts_with(['/', '~'])
        && !["/tmp/", "/var/tmp/", "/dev/"]
            .iter()
            .any(|shared| text.starts_with(shared))
}

/// Whether a file that is written is itself given as an operand.
fn path_operand(call: &Call, file: &Arg) -> bool {
    !call.options.iter().any(|given| {
        given.option.role == Role::Output
            && given
                .value
                .as_ref()
                .is_some_and(|value| value.text == file.text)
    })
}
