//! Commands as their tables say.

use std::sync::Arc;

use super::environment::Contents;
use super::redirect::{device, kernel, nowhere, shown};
use super::special::{Outcome, from_input, special};
use super::{Arg, Finding, Input, Judge, Output, UNKNOWN};
use crate::classify::Crud;
use crate::classify::shell::Span;
use crate::classify::tables::{
    Call, Effect, Given, Language, Operand, Program, Role, Verb, matches,
};

impl Judge<'_> {
    pub(super) fn table(
        &mut self,
        name: &str,
        program: &Arc<Program>,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        let call = Call::read(name, program, &args[1..]);
        self.call(&call, whole, input)
    }

    /// Notes what a call does; says what it prints.
    pub(super) fn call(&mut self, call: &Call, whole: Span, input: &Input) -> Output {
        let program = Arc::clone(&call.program);
        // What asks for help wherever a command has not another use for it.
        let aws = matches!(call.operands.as_slice(), [operand] if operand.arg.text == "help")
            && call.path.starts_with("aws ");
        let git = matches!(call.args.as_slice(), [arg] if arg.text == "-h")
            && call.path.starts_with("git ")
            && call.path.split(' ').count() == 2;
        if aws || git {
            self.find(
                Effect::Read,
                whole,
                format!("`{}` prints its help", call.path),
            );
            return None;
        }
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
            let dry = call.options.iter().enumerate().any(|(at, given)| {
                given.option.verb == Some(Verb::Only(Effect::Read)) && !withdrawn(call, at)
            });
            for (role, args) in roles {
                if dry && role == Role::Script(Language::Sql) {
                    continue;
                }
                output = self.role(call, role, &args, input);
            }
        }
        if program.sends {
            for arg in call.args.iter().filter(|arg| !arg.known()) {
                self.ask(
                    arg.span,
                    format!(
                        "`{}` sends what an expansion holds over the network",
                        call.path
                    ),
                );
            }
        }
        if let Some(what) = &program.reveals {
            self.ask(whole, format!("`{}` shows {what}", call.path));
        }
        self.same(call);
        output.or_else(|| self.printed(call, input))
    }

    /// Addresses that name programs: `ext::COMMAND` and other helpers of git,
    /// `:backend,key=value:` of rclone.
    fn remotes(&mut self, call: &Call) {
        let helpers = [
            "git ls-remote",
            "git fetch",
            "git clone",
            "git pull",
            "git push",
            "git archive",
            "git remote",
            "git remote show",
            "git remote update",
            "git submodule",
        ]
        .contains(&call.path.as_str());
        let clouds = call.path.starts_with("rclone ");
        let formulae = call.path.starts_with("brew ");
        if !helpers && !clouds && !formulae {
            return;
        }
        let values = call.options.iter().filter_map(|given| given.value.as_ref());
        for arg in call
            .operands
            .iter()
            .map(|operand| &operand.arg)
            .chain(values)
        {
            let command = match arg.text.split_once("::") {
                Some(("ext", command)) if helpers => Some(command.to_owned()),
                Some((name, _)) if helpers && name.chars().all(char::is_alphanumeric) => {
                    Some(String::new())
                }
                _ if formulae => {
                    (arg.text.ends_with(".rb") || arg.text.contains("://")).then(String::new)
                }
                _ => (clouds && arg.text.contains(',') && arg.text.contains('=')).then(String::new),
            };
            let Some(command) = command else { continue };
            self.find(
                Effect::Code,
                arg.span,
                format!("`{}` may name a program", shown(arg)),
            );
            if !command.is_empty() {
                self.shell_text(&arg.with(&command), &Input::Unknown);
            }
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
                Some(Verb::Reveals) => {
                    self.ask(given.span, format!("`{}` shows secrets", given.name));
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
                Some(Verb::Reveals) => {
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

    /// Notes what happens with words in a role.
    pub(super) fn role(&mut self, call: &Call, role: Role, args: &[Arg], input: &Input) -> Output {
        let path = call.path.as_str();
        match role {
            Role::Text => {}
            Role::Input => args.iter().for_each(|arg| self.input_file(arg)),
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
                    self.find(
                        Effect::Code,
                        arg.span,
                        format!("`{path}` runs what is in `{}`", shown(arg)),
                    );
                }
            }
            Role::Url | Role::Send => {
                for arg in args.iter().filter(|arg| !arg.known()) {
                    self.ask(
                        arg.span,
                        format!("`{path}` sends what an expansion holds over the network"),
                    );
                }
                for arg in args {
                    if let Some(file) = arg.text.strip_prefix("file://") {
                        self.input_file(&arg.with(file));
                    }
                    if role == Role::Send
                        && let Some(file) = arg.text.strip_prefix('@')
                    {
                        self.input_file(&arg.with(file));
                    }
                }
            }
            Role::Config => args.iter().for_each(|arg| self.config(call, arg)),
            Role::Method => {
                for arg in args {
                    let effect = super::special::method(&arg.text);
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

    fn config(&mut self, call: &Call, arg: &Arg) {
        let (key, value) = arg.text.split_once('=').unwrap_or((&arg.text, "true"));
        let key = key.to_ascii_lowercase();
        let pair = format!("{key}={value}");
        let harmless = |pattern: &String| {
            let pattern = pattern.to_ascii_lowercase();
            if pattern.contains('=') {
                matches(&pattern, &pair) && !value.contains(['!', ';', '|', '&', '`', '$', UNKNOWN])
            } else {
                matches(&pattern, &key)
            }
        };
        if !key.contains(UNKNOWN) && call.program.harmless_config.iter().any(harmless) {
            return;
        }
        let path = &call.path;
        // Without a list of its own the program sets variables of an environment.
        let name = arg.text.split('=').next().unwrap_or("");
        let plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == UNKNOWN);
        let contained = ["docker", "podman", "nerdctl", "kubectl"]
            .iter()
            .any(|name| call.path.starts_with(name));
        if (call.program.harmless_config.is_empty() || contained) && plain {
            if name.contains(UNKNOWN) {
                self.find(
                    Effect::Code,
                    arg.span,
                    "which variable is set is only known when it runs",
                );
            }
            self.sets(name, &arg.with(value));
            return;
        }
        self.find(
            Effect::Code,
            arg.span,
            format!("`{path}` is told `{key}`, which may change what runs"),
        );
        let command = value.trim_start_matches('!');
        let runs = value.starts_with('!')
            || [
                "pager",
                "editor",
                "command",
                "alias",
                "exec",
                "helper",
                "textconv",
                "external",
                "fsmonitor",
                "askpass",
                "program",
                "driver",
                "smudge",
                "clean",
                "process",
                "invoke",
            ]
            .iter()
            .any(|w| key.contains(w));
        if runs && !command.is_empty() {
            self.shell_text(&arg.with(command), &Input::Unknown);
        }
    }

    fn unknown_file(&mut self, arg: &Arg) {
        if arg.known() {
            self.environment
                .files
                .insert(arg.text.clone(), Contents::Unknown);
        }
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

/// Whether a later option takes back what one says: another value, or `--no-…`.
fn withdrawn(call: &Call, at: usize) -> bool {
    let name = call.options[at].name.as_str();
    let base = |name: &str| name.split('=').next().unwrap_or(name).to_owned();
    let own = base(name);
    let verb = call.options[at].option.verb;
    // An option with the same meaning has another name perhaps.
    let same = |name: &str| {
        own == name
            || call
                .program
                .options
                .get(name)
                .is_some_and(|option| option.verb == verb)
    };
    let negated = call.args.iter().any(|arg| {
        arg.text.strip_prefix("--no-").is_some_and(|rest| {
            own == format!("--{rest}") || own == "--*" || same(&format!("--{rest}"))
        })
    });
    negated
        || call.options[at + 1..].iter().any(|later| {
            let other = base(&later.name);
            (other == own && later.name != name) || later.name.ends_with("= false")
        })
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
