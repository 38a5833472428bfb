//! Builtins of the shell: a builtin with its words in, its effects and its output out.

use super::cursor::Place;
use super::interpreter::Interpreter;
use super::names::DESCRIPTORS;
use crate::model::arg::{Arg, shown};
use crate::model::effect::Effect;
use crate::model::environment::{Contents, Value};
use crate::model::io::{Input, Output};
use crate::model::span::Span;
use crate::model::variable_name::is_name;
use crate::programs::call::analyze_option_values;

impl Interpreter<'_> {
    /// Runs a builtin that runs or sets something. Returns `None` for other commands.
    pub(crate) fn builtin(
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
                    self.shell.shift(match rest {
                        [] => Some(1),
                        [count] if !count.guess => count.text.parse::<usize>().ok(),
                        _ => None,
                    });
                }
                None
            }
            "wait" => {
                for (at, arg) in rest.iter().enumerate() {
                    self.computes_index(arg);
                    if arg.text.starts_with('-')
                        && arg.text.ends_with('p')
                        && let Some(name) = rest.get(at + 1)
                    {
                        // The process id is a number.
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
                self.sink.parts.code_file(file);
                match self.shell.environment.files.get(&file.text).cloned() {
                    Some(Contents::Text(text)) => self.text(&text, Place::Fixed(file.span), input),
                    _ => {
                        self.find(
                            Effect::Code,
                            file.span,
                            format!("runs the file `{}`", shown(file)),
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
                self.shell.environment.stdio_redirected = true;
                if operands.len() > 1 && action.text != "-" {
                    // The action may run at any time, or never.
                    let before = self.shell.environment.clone();
                    self.shell_text(action, &Input::Unknown);
                    self.shell.environment.merge(&before);
                }
                Some(String::new())
            }
            "emulate" => {
                // In a cluster, the letter that takes the text is the last one.
                let text = rest
                    .iter()
                    .position(|arg| arg.text.starts_with('-') && arg.text.ends_with('c'))
                    .and_then(|at| rest.get(at + 1));
                if let Some(text) = text {
                    let before = self.shell.environment.clone();
                    self.shell_text(text, &Input::Unknown);
                    // Other shells do not have this builtin.
                    self.shell.environment.merge(&before);
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
                        self.shell
                            .environment
                            .aliases
                            .insert(alias.to_owned(), text);
                        // An alias is as harmless as its value.
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
                    // Without `PATH`, programs of the working directory run.
                    if self
                        .shell
                        .environment
                        .referents(&arg.text)
                        .iter()
                        .any(|n| n == "PATH")
                    {
                        self.sets("PATH", &arg.with(""));
                    }
                    self.shell.environment.set_unknown(&arg.text);
                    self.shell.environment.keyed.remove(&arg.text);
                    self.shell.environment.functions.remove(&arg.text);
                }
                None
            }
            "read" | "mapfile" | "readarray" => {
                let line = match input {
                    Input::Known(text) => Arg::new(text.clone(), whole),
                    Input::Inherited | Input::Unknown => Arg::unknown(whole),
                };
                // Another descriptor has other contents.
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
                    self.shell
                        .environment
                        .secrets
                        .get(DESCRIPTORS)
                        .cloned()
                        .unwrap_or_default(),
                );
                for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
                    self.fills(arg, &line);
                    let plain = arg.text.split('[').next().unwrap_or("");
                    self.shell.holds_names(plain, &names);
                }
                for arg in rest.iter().filter(|arg| arg.text.starts_with('-')) {
                    // The name may be joined to the letter: `-aNAME`.
                    self.names_variable(arg);
                    let name = arg.text.get(2..).unwrap_or("");
                    if is_name(name) {
                        self.fills(&arg.with(name), &line);
                        self.shell.holds_names(name, &names);
                    }
                }
                // One line, split at blanks.
                let flags = |arg: &Arg| !arg.text.starts_with('-') || arg.text == "-r";
                if let Input::Known(text) = input
                    && name == "read"
                    && rest.iter().all(flags)
                    && !text.contains('\\')
                    && !self.shell.environment.variables.contains_key("IFS")
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
                        self.shell.environment.set(name, Value::Text(value));
                    }
                }
                if !rest.iter().any(|arg| !arg.text.starts_with('-')) {
                    for name in ["REPLY", "MAPFILE"] {
                        self.takes(name, &line);
                        self.shell.environment.set_unknown(name);
                        self.shell.holds_names(name, &names);
                    }
                }
                if name == "mapfile" || name == "readarray" {
                    let call = self.read_builtin(name, args)?;
                    self.perform_analysis(|context| analyze_option_values(context, &call));
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
                    self.shell.environment.positional = Some(rest[at + 1..].to_vec());
                    self.shell.environment.given = false;
                    let names = self.names_of_arguments(&rest[at + 1..]);
                    self.shell.environment.secrets.insert("@".to_owned(), names);
                } else if rest.iter().any(|arg| !arg.text.starts_with(['-', '+'])) {
                    self.shell.environment.positional = None;
                    self.shell.environment.given = true;
                    let names = self.names_of_arguments(rest);
                    self.shell.environment.secrets.insert("@".to_owned(), names);
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

    /// Runs `exec`, `command`, `builtin` or `nohup`: options, then a command.
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
                    format!("unknown option `{text}` of `{name}`"),
                ),
            }
            at += 1;
        }
        if self.cursor.is_too_deep() {
            self.find(Effect::Unknown, whole, "there is too much in it to follow");
            return None;
        }
        if name == "nohup" {
            self.find(Effect::Create, whole, "`nohup` may write `nohup.out`");
        }
        if at >= rest.len() {
            // `exec > file` redirects the output of later commands.
            return None;
        }
        if name != "exec" && name != "nohup" {
            // Functions and aliases are skipped.
            let args = &rest[at..];
            let text = args[0].text.clone();
            if !args[0].known() || args[0].glob {
                return self.run(args.to_vec(), input);
            }
            self.cursor.depth += 1;
            let opened = self.sink.parts.words(args, input);
            let output = match self.builtin(&text, args, whole, input) {
                Some(output) => output,
                None => self.external(&text, args, whole, input),
            };
            if opened {
                self.sink.parts.close();
            }
            self.cursor.depth -= 1;
            return output;
        }
        self.run(rest[at..].to_vec(), input)
    }
}
