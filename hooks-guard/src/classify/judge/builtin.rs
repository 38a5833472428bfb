//! The shell's own commands.

use super::environment::Contents;
use super::redirect::shown;
use super::simple::split_assignment;
use super::{Arg, Input, Judge, Output, Place, UNKNOWN, Value};
use crate::classify::shell::Span;
use crate::classify::tables::Effect;

impl Judge<'_> {
    /// The shell's own commands that run or set something; `None` for others.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Option<Output> {
        let rest = &args[1..];
        Some(match name {
            ":" | "true" | "false" => Some(String::new()),
            "break" | "continue" | "return" | "exit" | "shift" => {
                if let Some(count) = rest.first() {
                    self.computes(count);
                }
                if name == "shift" {
                    self.shift(rest);
                }
                None
            }
            "wait" => {
                for (at, arg) in rest.iter().enumerate() {
                    self.computed(arg);
                    if arg.text.starts_with('-') && arg.text.ends_with('p') {
                        let value = Arg::unknown(arg.span);
                        if let Some(name) = rest.get(at + 1) {
                            self.names_variable(name);
                            self.environment.set_unknown(&name.text);
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
                self.environment.moved = true;
                if rest.len() > 1 && action.text != "-" {
                    // When it runs, and whether it does, is not known.
                    let before = self.environment.clone();
                    self.shell_text(action, &Input::Unknown);
                    self.environment.merge(&before);
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
                let declares = matches!(name, "declare" | "typeset");
                self.environment.integers |= typed && (flag('i') || flag('F') || flag('E'));
                if typed && "ulcLRZT".chars().any(flag) {
                    self.find(
                        Effect::Code,
                        whole,
                        "a variable that changes what it is set to",
                    );
                }
                if typed && flag('n') {
                    self.find(
                        Effect::Code,
                        whole,
                        "a name for another variable, which is then set by it",
                    );
                }
                for arg in rest.iter().filter(|arg| !arg.text.starts_with(['-', '+'])) {
                    if self.environment.integers {
                        self.computes(arg);
                    }
                    if typed && name != "readonly" && !flag('g') {
                        let variable = arg.text.split(['=', '+', '[']).next();
                        self.own_variable(variable.unwrap_or(""));
                    }
                    let variable = arg.text.split('=').next().unwrap_or("");
                    if typed && flag('A') {
                        self.environment.keyed.insert(variable.to_owned());
                    } else if variable.contains('[') {
                        self.names_variable(arg);
                    }
                    if let Some((name, value)) = split_assignment(arg) {
                        self.sets(&name, &value);
                        self.assign(&name, &value);
                        if declares {
                            // Some shells have no such command.
                            self.environment.doubt(&name);
                        }
                    } else if !arg.known() {
                        self.find(
                            Effect::Code,
                            arg.span,
                            "which variable is set is only known when it runs",
                        );
                    } else if typed && name != "readonly" {
                        // In a function it is another one, without a value.
                        self.environment.doubt(&arg.text);
                    }
                }
                Some(String::new())
            }
            "unset" => {
                for arg in rest {
                    self.names_variable(arg);
                    // Without it what stands in the folder is found.
                    if arg.text == "PATH" {
                        self.sets(&arg.text, &arg.with(""));
                    }
                    self.environment.set_unknown(&arg.text);
                    self.environment.keyed.remove(&arg.text);
                    self.environment.functions.remove(&arg.text);
                }
                None
            }
            "read" | "mapfile" | "readarray" => {
                for arg in rest {
                    self.names_variable(arg);
                    if self.tables.variable(&arg.text, None).is_some() {
                        self.find(
                            Effect::Code,
                            arg.span,
                            format!("sets `{}` to what is read", arg.text),
                        );
                    }
                    if arg.text.chars().all(|c| c.is_alphanumeric() || c == '_') {
                        self.environment.set_unknown(&arg.text);
                    }
                }
                // One line, parted at blanks.
                let flags = |arg: &Arg| !arg.text.starts_with('-') || arg.text == "-r";
                if let Input::Known(text) = input
                    && name == "read"
                    && rest.iter().all(flags)
                    && !text.contains('\\')
                    && !self.environment.variables.contains_key("IFS")
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
                            .insert((*name).to_owned(), Value::Text(value));
                    }
                }
                if !rest.iter().any(|arg| !arg.text.starts_with('-')) {
                    self.environment.set_unknown("REPLY");
                    self.environment.set_unknown("MAPFILE");
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
                    self.environment.given = false;
                } else if rest.iter().any(|arg| !arg.text.starts_with(['-', '+'])) {
                    self.environment.positional = None;
                    self.environment.given = true;
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

    /// Leaves out the first positional parameters.
    fn shift(&mut self, rest: &[Arg]) {
        let count = match rest {
            [] => Some(1),
            [count] if !count.guess => count.text.parse::<usize>().ok(),
            _ => None,
        };
        let args = self.environment.positional.take();
        match (args, count) {
            (Some(args), Some(count)) if args.iter().all(|arg| !arg.many) => {
                self.environment.positional = Some(args.into_iter().skip(count).collect());
            }
            (None, _) => {}
            _ => self.environment.given = true,
        }
    }

    /// Notes that a function has a variable of its own.
    fn own_variable(&mut self, name: &str) {
        let before = self.environment.variables.get(name);
        if let Some(locals) = &mut self.locals {
            locals
                .entry(name.to_owned())
                .or_insert_with(|| before.cloned());
        }
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
            let opened = self.parts.words(args, input);
            let output = match self.builtin(&text, args, whole, input) {
                Some(output) => output,
                None => self.external(&text, args, whole, input),
            };
            if opened {
                self.parts.close();
            }
            self.depth -= 1;
            return output;
        }
        self.run(rest[at..].to_vec(), input)
    }
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
