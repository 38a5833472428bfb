//! Simple commands: assignments, what a name stands for, the shell's own commands.

use super::environment::Contents;
use super::redirect::shown;
use super::{Arg, Input, Judge, Output, Place, Ran, UNKNOWN};
use crate::classify::shell::{Redirect, Span, Word};
use crate::classify::tables::Effect;

/// Folders whose programs are what their names say.
const SYSTEM: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/usr/lib/git-core/",
    "/usr/libexec/git-core/",
    "/busybox/",
];

/// The name of a program, without a folder in which programs are what their names say.
pub(crate) fn plain(name: &str) -> &str {
    SYSTEM
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .unwrap_or(name)
}

impl Judge<'_> {
    pub(super) fn simple(
        &mut self,
        assigns: &[Word],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        input: &Input,
    ) -> Output {
        let mut set = Vec::new();
        for assign in assigns {
            let value = self.value(assign);
            if let Some((name, value)) = split_assignment(&value) {
                set.push((name, value));
            }
        }
        let args: Vec<Arg> = words.iter().flat_map(|word| self.expand(word)).collect();
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
        let output = self.run(args, &sent.input.clone());
        self.written(&sent, output.as_deref(), span, &program);
        if sent.away {
            Some(String::new())
        } else {
            output
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

    fn assign(&mut self, name: &str, value: &Arg) {
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

    /// Runs a command of which the words are known as far as they are.
    pub(crate) fn run(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        let before = self.findings.len();
        let at = self.trace.as_mut().map(|trace| {
            trace.runs.push(Ran {
                words: args.clone(),
                findings: before..before,
            });
            trace.runs.len() - 1
        });
        self.depth += 1;
        let output = self.run_here(args, input);
        self.depth -= 1;
        if let (Some(at), Some(trace)) = (at, &mut self.trace) {
            trace.runs[at].findings.end = self.findings.len();
        }
        output
    }

    fn run_here(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        let name = args.first()?.clone();
        self.work += 1;
        if self.work > super::STEPS || self.depth > super::DEPTH {
            self.find(
                Effect::Unknown,
                name.span,
                "there is too much in it to follow",
            );
            return None;
        }
        if name.text.is_empty() {
            return self.run_rest(&args, input);
        }
        if name.glob && name.known() {
            self.patterned(&args, input);
        }
        if !name.known() || name.glob {
            self.find(
                Effect::Code,
                name.span,
                "which program runs is only known when it runs",
            );
            // What is not known may be empty: then the rest is the name.
            let rest = name.text.replace(UNKNOWN, "");
            let mut args = args;
            if !name.glob && !rest.is_empty() && self.tables.program(&rest).is_some() {
                args[0].text = rest;
                self.run(args, input);
            } else if rest.is_empty() && name.text.chars().count() == 1 {
                args.remove(0);
                if args
                    .first()
                    .is_some_and(|first| self.tables.program(&first.text).is_some())
                {
                    self.run(args, input);
                }
            }
            return None;
        }
        if name.maybe {
            self.find(
                Effect::Code,
                name.span,
                "a variable may name another program",
            );
        }
        let whole = Span::new(
            name.span.start,
            args.iter()
                .map(|arg| arg.span.end)
                .max()
                .unwrap_or(name.span.end),
        );
        let text = name.text.clone();
        self.alias(&text, &args, input);
        if self.environment.functions.contains_key(&text) {
            let output = self.call_function(&text, &args[1..], input);
            if self.tables.program(&text).is_none() {
                return output;
            }
            // The definition may not have been reached.
            self.external(&text, &args, whole, input);
            return None;
        }
        if let Some(output) = self.builtin(&text, &args, whole, input) {
            return output;
        }
        self.external(&text, &args, whole, input)
    }

    /// A pattern as a program's name: every program that fits may run.
    fn patterned(&mut self, args: &[Arg], input: &Input) {
        let pattern = args[0].text.rsplit('/').next().unwrap_or("").to_owned();
        let names: Vec<&str> = self
            .tables
            .names()
            .filter(|name| fits(pattern.as_bytes(), name.as_bytes()))
            .take(20)
            .collect();
        for name in names {
            let mut args = args.to_vec();
            args[0] = Arg::new(name, args[0].span);
            self.run(args, input);
        }
    }

    fn run_rest(&mut self, args: &[Arg], input: &Input) -> Output {
        if args.len() < 2 {
            return None;
        }
        self.run(args[1..].to_vec(), input)
    }

    fn alias(&mut self, name: &str, args: &[Arg], input: &Input) {
        let Some(alias) = self.environment.aliases.get(name).cloned() else {
            return;
        };
        let span = args[0].span;
        let Some(value) = alias else {
            self.find(
                Effect::Code,
                span,
                format!("`{name}` is an alias that is not known"),
            );
            return;
        };
        self.environment.aliases.remove(name);
        let rest: Vec<String> = args[1..].iter().map(quoted).collect();
        self.text(
            &format!("{value} {}", rest.join(" ")),
            Place::Fixed(span),
            input,
        );
        self.environment
            .aliases
            .insert(name.to_owned(), Some(value));
    }

    /// The shell's own commands that run or set something; `None` for others.
    fn builtin(&mut self, name: &str, args: &[Arg], whole: Span, input: &Input) -> Option<Output> {
        let rest = &args[1..];
        Some(match name {
            ":" | "true" | "false" | "break" | "continue" | "return" | "exit" | "shift" => {
                Some(String::new())
            }
            "wait" => {
                for (at, arg) in rest.iter().enumerate() {
                    self.computed(arg);
                    if arg.text.starts_with('-') && arg.text.ends_with('p') {
                        let value = Arg::unknown(arg.span);
                        if let Some(name) = rest.get(at + 1) {
                            self.sets(&name.text, &value);
                        }
                    }
                }
                Some(String::new())
            }
            "eval" => {
                let text = rest
                    .iter()
                    .map(|arg| arg.text.as_str())
                    .collect::<Vec<_>>()
                    .join(" ");
                if text.is_empty() {
                    return Some(Some(String::new()));
                }
                let start = rest.first().map_or(whole.start, |arg| arg.span.start);
                self.shell_text(&Arg::new(text, Span::new(start, whole.end)), input)
            }
            "source" | "." => {
                let Some(file) = rest.first() else {
                    return Some(None);
                };
                if matches!(
                    file.text.as_str(),
                    "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
                ) && let Input::Known(text) = input
                {
                    return Some(self.text(text, Place::Fixed(file.span), &Input::Unknown));
                }
                match self.environment.files.get(&file.text).cloned() {
                    Some(Contents::Text(text)) => self.text(&text, Place::Fixed(file.span), input),
                    _ => {
                        self.find(
                            Effect::Code,
                            file.span,
                            format!("runs what is in `{}`", shown(file)),
                        );
                        None
                    }
                }
            }
            "exec" | "command" | "builtin" | "nohup" => self.wrapped(name, rest, whole, input),
            "trap" => {
                if rest
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "-p" | "-l" | "-lp" | "-P"))
                {
                    return Some(None);
                }
                let Some(action) = rest
                    .iter()
                    .find(|arg| !arg.text.starts_with('-') || arg.text == "-")
                else {
                    return Some(None);
                };
                if rest.len() > 1 && action.text != "-" {
                    self.shell_text(action, &Input::Unknown);
                }
                Some(String::new())
            }
            "alias" => {
                for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
                    if let Some((alias, value)) = arg.text.split_once('=') {
                        let value = arg.with(value);
                        let text = value.known().then(|| value.text.clone());
                        self.environment.aliases.insert(alias.to_owned(), text);
                        // An alias is only harmless if what it stands for is.
                        self.shell_text(&value, &Input::Unknown);
                    }
                }
                None
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let flag = |letter: char| {
                    rest.iter()
                        .any(|arg| arg.text.starts_with('-') && arg.text.contains(letter))
                };
                if flag('f') {
                    if name == "export" || flag('x') {
                        self.environment.exported.extend(
                            rest.iter()
                                .filter(|arg| !arg.text.starts_with('-'))
                                .map(|arg| arg.text.clone()),
                        );
                    }
                    return Some(if name == "export" || flag('x') {
                        Some(String::new())
                    } else {
                        None
                    });
                }
                // `export` has no types.
                let typed = name != "export";
                self.environment.integers |= typed && flag('i');
                if typed && flag('n') {
                    self.find(
                        Effect::Code,
                        whole,
                        "a name for another variable, which is then set by it",
                    );
                }
                for arg in rest.iter().filter(|arg| !arg.text.starts_with(['-', '+'])) {
                    if self.environment.integers {
                        self.computed(arg);
                    }
                    if arg
                        .text
                        .split('=')
                        .next()
                        .is_some_and(|name| name.contains('['))
                    {
                        self.computed(arg);
                    }
                    if let Some((name, value)) = split_assignment(arg) {
                        self.sets(&name, &value);
                        self.assign(&name, &value);
                    } else if !arg.known() {
                        self.find(
                            Effect::Code,
                            arg.span,
                            "which variable is set is only known when it runs",
                        );
                    }
                }
                Some(String::new())
            }
            "unset" => {
                for arg in rest {
                    self.computed(arg);
                    // Without it what stands in the folder is found.
                    if arg.text == "PATH" {
                        self.sets(&arg.text, &arg.with(""));
                    }
                    self.environment.variables.insert(arg.text.clone(), None);
                }
                Some(String::new())
            }
            "read" | "mapfile" | "readarray" => {
                for arg in rest {
                    self.computed(arg);
                    if self.tables.variable(&arg.text, None).is_some() {
                        self.find(
                            Effect::Code,
                            arg.span,
                            format!("sets `{}` to what is read", arg.text),
                        );
                    }
                    if arg.text.chars().all(|c| c.is_alphanumeric() || c == '_') {
                        self.environment.variables.insert(arg.text.clone(), None);
                    }
                }
                // One line, parted at blanks.
                if let Input::Known(text) = input
                    && name == "read"
                {
                    let names: Vec<&str> = rest
                        .iter()
                        .map(|arg| arg.text.as_str())
                        .filter(|n| !n.starts_with('-'))
                        .collect();
                    let mut words = text.lines().next().unwrap_or("").split_whitespace();
                    for (at, name) in names.iter().enumerate() {
                        let value = if at + 1 == names.len() {
                            words.by_ref().collect::<Vec<_>>().join(" ")
                        } else {
                            words.next().unwrap_or("").to_owned()
                        };
                        self.environment
                            .variables
                            .insert((*name).to_owned(), Some(value));
                    }
                }
                if name == "mapfile" || name == "readarray" {
                    return self.callback(rest);
                }
                Some(String::new())
            }
            "set" => {
                let keyword = |arg: &Arg| {
                    arg.text == "keyword"
                        || (arg.text.starts_with('-')
                            && !arg.text.starts_with("--")
                            && arg.text.contains('k'))
                };
                if let Some(arg) = rest
                    .iter()
                    .take_while(|arg| arg.text != "--")
                    .find(|arg| keyword(arg))
                {
                    self.find(
                        Effect::Code,
                        arg.span,
                        "makes assignments of words that follow programs",
                    );
                }
                if let Some(at) = rest.iter().position(|arg| arg.text == "--") {
                    self.environment.positional = Some(rest[at + 1..].to_vec());
                }
                Some(String::new())
            }
            "enable" => {
                if rest
                    .iter()
                    .any(|arg| !matches!(arg.text.as_str(), "-a" | "-p" | "-s" | "-ap" | "-as"))
                {
                    self.find(
                        Effect::Code,
                        whole,
                        "changes which of the shell's commands there are",
                    );
                }
                Some(String::new())
            }
            _ => return None,
        })
    }

    fn callback(&mut self, rest: &[Arg]) -> Option<Output> {
        for (at, arg) in rest.iter().enumerate() {
            if let Some(joined) = arg.text.strip_prefix("-C") {
                let text = if joined.is_empty() {
                    rest.get(at + 1).cloned()
                } else {
                    Some(arg.with(joined))
                };
                if let Some(text) = text {
                    self.shell_text(&text, &Input::Unknown);
                }
            }
        }
        Some(Some(String::new()))
    }

    /// `exec`, `command`, `builtin`, `nohup`: options, then a command.
    fn wrapped(&mut self, name: &str, rest: &[Arg], whole: Span, input: &Input) -> Output {
        let mut at = 0;
        while let Some(arg) = rest.get(at) {
            let text = arg.text.as_str();
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') {
                break;
            }
            match (name, text) {
                ("command", "-v" | "-V" | "-pv" | "-pV" | "-vp") => return None,
                ("command", "-p") | ("exec", "-c" | "-l" | "-cl" | "-lc") => {}
                ("exec", "-a" | "-ca" | "-la") => at += 1,
                ("nohup", "--help" | "--version") => return None,
                _ => self.find(
                    Effect::Unknown,
                    arg.span,
                    format!("`{name}` has no known option `{text}`"),
                ),
            }
            at += 1;
        }
        if self.depth > super::DEPTH {
            self.find(Effect::Unknown, whole, "there is too much in it to follow");
            return None;
        }
        if name == "nohup" {
            self.find(Effect::Create, whole, "`nohup` may write `nohup.out`");
        }
        if at >= rest.len() {
            // A redirection without a command: `exec > file` writes later.
            return None;
        }
        if name != "exec" && name != "nohup" {
            // Functions and aliases are passed over.
            let args = &rest[at..];
            let text = args[0].text.clone();
            if !args[0].known() || args[0].glob {
                return self.run(args.to_vec(), input);
            }
            self.depth += 1;
            let output = match self.builtin(&text, args, whole, input) {
                Some(output) => output,
                None => self.external(&text, args, whole, input),
            };
            self.depth -= 1;
            return output;
        }
        self.run(rest[at..].to_vec(), input)
    }

    /// A program that is not the shell's own.
    fn external(&mut self, name: &str, args: &[Arg], whole: Span, input: &Input) -> Output {
        if name.contains('/') {
            return self.path(name, args, whole, input);
        }
        if let Some(program) = self.tables.program(name).cloned() {
            return self.table(name, &program, args, whole, input);
        }
        if super::special::cmdlet(name) {
            return self.cmdlet(args, whole);
        }
        let span = args[0].span;
        self.find(
            Effect::Unknown,
            span,
            format!("`{name}` is no program that is known here"),
        );
        None
    }

    /// A program by its path.
    fn path(&mut self, path: &str, args: &[Arg], whole: Span, input: &Input) -> Output {
        let clean = path.replace("/./", "/").replace("//", "/");
        for folder in SYSTEM {
            if let Some(name) = clean.strip_prefix(folder)
                && !name.contains('/')
                && !self.environment.files.contains_key(&clean)
            {
                let mut args = args.to_vec();
                args[0].text = name.to_owned();
                if self.tables.program(name).is_some() || self.builtin_name(name) {
                    return self.external_or_builtin(name, &args, whole, input);
                }
                self.find(
                    Effect::Unknown,
                    args[0].span,
                    format!("`{path}` is no program that is known here"),
                );
                return None;
            }
        }
        let short = path.trim_start_matches("./");
        let contents = [path, short]
            .iter()
            .find_map(|name| self.environment.files.get(*name))
            .cloned();
        let span = args[0].span;
        self.find(
            Effect::Code,
            span,
            format!("runs `{path}`, whatever that is"),
        );
        let name = path.rsplit('/').next().unwrap_or("");
        let stands_for = match name {
            "gradlew" => "gradle",
            "mvnw" => "mvn",
            _ => name,
        };
        if (stands_for != name || path.contains("bin/"))
            && contents.is_none()
            && let Some(program) = self.tables.program(stands_for).cloned()
        {
            // Most likely that program; it is confirmed in any case.
            self.table(stands_for, &program, args, whole, input);
        }
        match contents {
            Some(Contents::Text(text)) => {
                self.text(&text, Place::Fixed(span), input);
            }
            Some(Contents::Same(target)) => {
                let mut args = args.to_vec();
                args[0].text = target;
                self.run(args, input);
            }
            _ => {}
        }
        None
    }

    fn builtin_name(&self, name: &str) -> bool {
        matches!(name, "true" | "false" | "nohup")
    }

    fn external_or_builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        if self.builtin_name(name)
            && let Some(output) = self.builtin(name, args, whole, input)
        {
            return output;
        }
        self.external(name, args, whole, input)
    }
}

/// Whether a name fits a pattern of `*`, `?` and `[…]` (which fits any character here).
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    // Where to go on if it does not fit: only the last `*` need take more.
    let mut star = None;
    while place < name.len() {
        let one = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, place));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => pattern[at..]
                .iter()
                .position(|byte| *byte == b']')
                .map(|end| end + 1),
            Some(byte) if *byte == name[place] => Some(1),
            _ => None,
        };
        match (one, star) {
            (Some(length), _) => {
                at += length;
                place += 1;
            }
            (None, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// `NAME=VALUE`; the name keeps the `+` of `+=`.
fn split_assignment(arg: &Arg) -> Option<(String, Arg)> {
    let (name, value) = arg.text.split_once('=')?;
    let base = name.trim_end_matches('+').split('[').next()?;
    let good = !base.is_empty()
        && base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !base.starts_with(|c: char| c.is_ascii_digit());
    good.then(|| (name.to_owned(), arg.with(value)))
}

/// A word as shell text that means just it.
pub(super) fn quoted(arg: &Arg) -> String {
    if arg.known() {
        format!("'{}'", arg.text.replace('\'', "'\\''"))
    } else {
        let text: String = arg
            .text
            .chars()
            .map(|c| match c {
                UNKNOWN => "$_".to_owned(),
                '"' | '$' | '`' | '\\' => format!("\\{c}"),
                _ => c.to_string(),
            })
            .collect();
        format!("\"{text}\"")
    }
}
