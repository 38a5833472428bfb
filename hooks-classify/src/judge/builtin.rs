//! The shell's own commands.

use super::names::DESCRIPTORS;
use super::{Judge, Place};
use crate::model::arg::{Arg, UNKNOWN, shown};
use crate::model::effect::Effect;
use crate::model::environment::{Contents, Value};
use crate::model::io::{Input, Output};
use crate::model::span::Span;

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
        if self.declares(name) {
            return Some(self.declare(name, args, whole));
        }
        Some(match name {
            ":" | "true" | "false" => Some(String::new()),
            "break" | "continue" | "return" | "exit" | "shift" => {
                let counts = rest.iter().filter(|arg| arg.text != "--");
                counts.for_each(|count| self.computes(count));
                if name == "shift" {
                    self.shift(rest);
                }
                None
            }
            "wait" => {
                for (at, arg) in rest.iter().enumerate() {
                    self.computed(arg);
                    if arg.text.starts_with('-')
                        && arg.text.ends_with('p')
                        && let Some(name) = rest.get(at + 1)
                    {
                        // A number.
                        self.fills(name, &Arg::new("1", arg.span));
                    }
                }
                Some(String::new())
            }
            "eval" => {
                let ends = rest.first().is_some_and(|first| first.text == "--");
                let rest = &rest[usize::from(ends)..];
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
                self.parts.code_file(file);
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
                let call = self.read_builtin(name, args)?;
                if call.has(&["-l", "-p", "-P"]) {
                    return Some(None);
                }
                let operands: Vec<Arg> = call.operands.into_iter().map(|o| o.arg).collect();
                let Some(action) = operands.first() else {
                    return Some(None);
                };
                self.environment.moved = true;
                if operands.len() > 1 && action.text != "-" {
                    // When it runs, and whether it does, is not known.
                    let before = self.environment.clone();
                    self.shell_text(action, &Input::Unknown);
                    self.environment.merge(&before);
                }
                Some(String::new())
            }
            "emulate" => {
                // In a cluster, the letter that takes the text ends it.
                let text = rest
                    .iter()
                    .position(|arg| arg.text.starts_with('-') && arg.text.ends_with('c'))
                    .and_then(|at| rest.get(at + 1));
                if let Some(text) = text {
                    let before = self.environment.clone();
                    self.shell_text(text, &Input::Unknown);
                    // Other shells have no such command.
                    self.environment.merge(&before);
                }
                None
            }
            "alias" => {
                let anywhere =
                    |arg: &&Arg| arg.text.starts_with('-') && arg.text.contains(['g', 's']);
                if let Some(arg) = rest.iter().find(anywhere)
                    && rest.iter().any(|arg| arg.text.contains('='))
                {
                    self.find(
                        Effect::Code,
                        arg.span,
                        "an alias that also stands for words behind programs",
                    );
                }
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
            "unset" => {
                for arg in rest {
                    self.names_variable(arg);
                    if arg.text.contains('[') {
                        self.sets(&arg.text, &Arg::unknown(arg.span));
                    }
                    // Without it what stands in the folder is found.
                    if self
                        .environment
                        .referents(&arg.text)
                        .iter()
                        .any(|n| n == "PATH")
                    {
                        self.sets("PATH", &arg.with(""));
                    }
                    self.environment.set_unknown(&arg.text);
                    self.environment.keyed.remove(&arg.text);
                    self.environment.functions.remove(&arg.text);
                }
                None
            }
            "read" | "mapfile" | "readarray" => {
                let line = match input {
                    Input::Known(text) => Arg::new(text.clone(), whole),
                    Input::Inherited | Input::Unknown => Arg::unknown(whole),
                };
                // Another descriptor has names of its own.
                let other = |arg: &Arg| {
                    let flags = arg.text.strip_prefix('-').unwrap_or("");
                    flags
                        .chars()
                        .take_while(|c| c.is_ascii_alphabetic())
                        .any(|c| c == 'u')
                };
                let mut names = match rest.iter().any(other) {
                    true => self.names_in(&Input::Unknown),
                    false => self.names_in(input),
                };
                names.extend(
                    self.environment
                        .secrets
                        .get(DESCRIPTORS)
                        .cloned()
                        .unwrap_or_default(),
                );
                for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
                    self.fills(arg, &line);
                    let plain = arg.text.split('[').next().unwrap_or("");
                    self.holds_names(plain, names.clone());
                }
                for arg in rest.iter().filter(|arg| arg.text.starts_with('-')) {
                    // The name may follow the letter: `-aNAME`.
                    self.names_variable(arg);
                    let name = arg.text.get(2..).unwrap_or("");
                    if super::simple::is_name(name) {
                        self.fills(&arg.with(name), &line);
                        self.holds_names(name, names.clone());
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
                        self.environment.set(name, Value::Text(value));
                    }
                }
                if !rest.iter().any(|arg| !arg.text.starts_with('-')) {
                    for name in ["REPLY", "MAPFILE"] {
                        self.takes(name, &line);
                        self.environment.set_unknown(name);
                        self.holds_names(name, names.clone());
                    }
                }
                if name == "mapfile" || name == "readarray" {
                    let call = self.read_builtin(name, args)?;
                    for given in &call.options {
                        self.option(&call, given, &Input::Unknown);
                    }
                }
                Some(String::new())
            }
            "set" => {
                if let [option, name, words @ ..] = rest
                    && matches!(option.text.as_str(), "-A" | "+A")
                {
                    self.sets_list(name, words);
                    return Some(Some(String::new()));
                }
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
                    let names = self.names_of_arguments(&rest[at + 1..]);
                    self.environment.secrets.insert("@".to_owned(), names);
                } else if rest.iter().any(|arg| !arg.text.starts_with(['-', '+'])) {
                    self.environment.positional = None;
                    self.environment.given = true;
                    let names = self.names_of_arguments(rest);
                    self.environment.secrets.insert("@".to_owned(), names);
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
