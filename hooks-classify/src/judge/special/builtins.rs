//! Judges of the shell's own commands that tables describe as well.

use super::{Outcome, args};
use crate::judge::Judge;
use crate::model::arg::{Arg, UNKNOWN, shown};
use crate::model::effect::Effect;
use crate::model::environment::Value;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// A name that is set may be one that changes what runs, and an index in it
/// is computed: `a[$(cmd)]` runs `cmd`, even where the word is quoted.
pub(super) fn assign(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let printf = call.path.ends_with("printf");
    for (at, arg) in call.args.iter().enumerate() {
        judge.computed(arg);
        if arg.text == "-v"
            && printf
            && let Some(name) = call.args.get(at + 1)
        {
            for operand in &call.operands {
                judge.fills(name, &operand.arg);
            }
            let words = call.operands.iter().map(|operand| &operand.arg);
            let words = words.map(|arg| judge.named_file(arg.path()));
            let names = words.chain(judge.handed.iter().cloned()).collect();
            judge.holds_names(&name.text, names);
        }
    }
    // Some shells compute what is shown as a number.
    if printf
        && let Some(format) = call.operands.first()
        && formats_numbers(&format.arg.text)
    {
        for operand in &call.operands[1..] {
            if !operand.arg.inert || operand.arg.known() {
                judge.computes(&operand.arg);
            }
        }
    }
    if call.path == "getopts"
        && let Some(name) = call.args.get(1)
    {
        let words = call.args.get(2..).filter(|words| !words.is_empty());
        let given = judge.environment.positional.clone();
        let words = match words {
            Some(words) => words.to_vec(),
            None => given.unwrap_or_else(|| vec![Arg::unknown(name.span)]),
        };
        for value in &words {
            judge.fills(name, value);
            // The value of an option may follow its letter.
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let part = value.with(value.text.trim_start_matches(letter));
            for value in [value, &part] {
                judge.takes("OPTARG", value);
            }
        }
        judge.fills(name, &Arg::new("", name.span));
        judge.environment.set_unknown("OPTARG");
        judge.environment.set_unknown("OPTIND");
    }
    Outcome::Table
}

/// `print`: text that is expanded as a prompt (`-P`), computed (`-f`), typed (`-z`) or kept (`-v`).
pub(super) fn print(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let text = || call.operands.iter().map(|operand| &operand.arg);
    for arg in text().filter(|_| call.has(&["-P"])) {
        judge.computed(arg);
        if !arg.known() && !arg.inert {
            let reason = "expands a value as a prompt, and runs what stands in it";
            judge.find(Effect::Code, arg.span, reason);
        }
    }
    for given in &call.options {
        match (given.name.as_str(), &given.value) {
            ("-v", Some(name)) => {
                for operand in &call.operands {
                    judge.fills(name, &operand.arg);
                }
            }
            ("-f", Some(format)) if formats_numbers(&format.text) => {
                for arg in text() {
                    judge.computes(arg);
                }
            }
            ("-z", _) => {
                judge.find(Effect::Code, whole, "types what the shell then runs");
                for arg in text() {
                    judge.shell_text(arg, &Input::Unknown);
                }
            }
            _ => {}
        }
    }
    Outcome::Table
}

/// `hash NAME=PATH` makes a name mean another program.
pub(super) fn hash(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for operand in call.operands.iter().filter(|_| !call.has(&["-d"])) {
        judge.computed(&operand.arg);
        if operand.arg.text.contains('=') {
            let reason = "makes a name mean another program";
            judge.find(Effect::Code, operand.arg.span, reason);
        }
    }
    Outcome::Table
}

/// Functions that come with a shell, and that tables describe.
const SUPPLIED: &[&str] = &["zmv", "zargs"];

/// `zargs OPTIONS -- WORDS -- COMMAND`
pub(super) fn zargs(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let mut parts = call.args.split(|arg| arg.text == "--").skip(1);
    if let (Some(words), Some(command)) = (parts.next(), parts.next())
        && !command.is_empty()
    {
        judge.run([command, words].concat(), &Input::Inherited);
    }
    Outcome::Table
}

/// `autoload`: a function from a file of the user's, or by the name of a program.
pub(super) fn autoload(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for operand in &call.operands {
        let name = operand.arg.text.as_str();
        let program = |name| judge.tables.program(name).is_some() && !SUPPLIED.contains(&name);
        if name.contains(['/', UNKNOWN]) || program(name) {
            let reason = format!("loads a function from a file for `{}`", shown(&operand.arg));
            judge.find(Effect::Code, operand.arg.span, reason);
        }
    }
    Outcome::Table
}

/// `zmodload`: a module of the shell's own, or any library.
pub(super) fn zmodload(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for operand in &call.operands {
        let name = operand.arg.text.as_str();
        let path = name.contains('/') && (!name.starts_with("zsh/") || name.contains(".."));
        if path || !operand.arg.known() {
            let reason = format!("loads code from `{}`", shown(&operand.arg));
            judge.find(Effect::Code, operand.arg.span, reason);
        }
    }
    Outcome::Table
}

/// `zstyle -e PATTERN STYLE TEXT`: the text is run where the style is looked up.
pub(super) fn zstyle(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.has(&["-e"]) {
        for operand in call.operands.iter().skip(2) {
            judge.shell_text(&operand.arg, &Input::Unknown);
        }
    }
    Outcome::Table
}

/// Returns true if a format shows one of its arguments as a number, which some shells compute.
fn formats_numbers(format: &str) -> bool {
    format.split('%').skip(1).any(|rest| {
        let kind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " #+-.*'".contains(c));
        let width = rest.len() > kind.len() && rest[..rest.len() - kind.len()].contains('*');
        width || kind.starts_with(|c| "diouxXeEfFgGaA".contains(c))
    })
}

/// `ulimit` computes its number in some shells.
pub(super) fn ulimit(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let values = call.options.iter().filter_map(|given| given.value.as_ref());
    for arg in call.operands.iter().map(|o| &o.arg).chain(values) {
        judge.computes(arg);
    }
    Outcome::Table
}

/// `repeat` computes how often it runs a command.
pub(super) fn repeat(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if let Some(count) = call.operands.first() {
        judge.computes(&count.arg);
    }
    Outcome::Table
}

/// Nothing is changed by a test, but what it computes may run.
pub(super) fn test(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    // Some shells compute what others take for numbers.
    judge.computed_values(whole);
    for (at, arg) in call.args.iter().enumerate() {
        judge.computed(arg);
        if matches!(arg.text.as_str(), "-v" | "-t" | "-R")
            && let Some(name) = call.args.get(at + 1)
        {
            judge.names_variable(name);
        }
    }
    Outcome::Table
}

pub(super) fn arithmetic(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    judge.computed_values(whole);
    for arg in &call.args {
        judge.computes(arg);
        if let Some((name, _)) = arg.text.split_once('=') {
            let name = name.trim_end_matches(['+', '-', '*', '/', '%']);
            if judge.tables.variable(name, None).is_some() {
                judge.find(
                    Effect::Code,
                    arg.span,
                    format!("sets `{name}`, which changes what runs"),
                );
            }
            judge.environment.set(name, Value::Inert);
        }
    }
    Outcome::Table
}

/// `compgen -C`, `-F` and `-W` run what their values say.
pub(super) fn compgen(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for arg in &call.args {
        judge.computed(arg);
    }
    if call.path == "compgen" {
        // Names of files that begin so, whatever else the options ask for.
        for operand in call.operands.iter().filter(|operand| operand.arg.known()) {
            let arg = &operand.arg;
            judge.name(&arg.with(&format!("{}*", arg.path())));
        }
        for given in &call.options {
            if let ("-G", Some(value)) = (given.name.as_str(), &given.value) {
                judge.name(value);
            }
            if let ("-C" | "-F" | "-W", Some(value)) = (given.name.as_str(), &given.value) {
                if given.name == "-W" {
                    judge.computed(value);
                } else {
                    judge.shell_text(value, &Input::Unknown);
                }
            }
        }
    }
    Outcome::Table
}

/// `jobs -x COMMAND`.
pub(super) fn jobs(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.path == "jobs"
        && let Some(at) = call.args.iter().position(|arg| arg.text == "-x")
    {
        judge.run(call.args[at + 1..].to_vec(), &Input::Inherited);
        return Outcome::Done(None);
    }
    for arg in &call.args {
        judge.computed(arg);
    }
    Outcome::NoOperands
}

/// `fish`: only a plain command is understood.
pub(super) fn fish(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if call.has(&["-n", "--no-execute"]) {
        // It prints the lines with errors.
        for operand in &call.operands {
            judge.input_file(&operand.arg);
        }
        judge.find(Effect::Read, whole, "`fish` checks syntax");
        return Outcome::Done(None);
    }
    let text = call
        .options
        .iter()
        .find(|g| ["-c", "--command", "-C", "--init-command"].contains(&g.name.as_str()));
    let Some(text) = text.and_then(|g| g.value.clone()) else {
        if args(call).is_empty() && call.has(&["--version", "-v", "--help", "-h"]) {
            return Outcome::Table;
        }
        judge.runs_unseen(whole, UnseenCode::Input, "`fish` runs what it reads");
        return Outcome::Done(None);
    };
    judge.verbs(call);
    for given in call
        .options
        .iter()
        .filter(|given| !["-c", "--command", "-C", "--init-command"].contains(&given.name.as_str()))
    {
        judge.option(call, given, &Input::Unknown);
    }
    if text.text.contains([';', '(', '$', '\n', '&', '|', '{']) {
        judge.find(
            Effect::Code,
            text.span,
            "`fish` runs text in a language that is not followed",
        );
    }
    judge.shell_text(&text, &Input::Unknown);
    Outcome::Done(None)
}

impl Judge<'_> {
    /// Notes a word whose index the shell computes.
    pub(in crate::judge) fn computed(&mut self, arg: &Arg) {
        let text = arg.text.as_str();
        let Some(at) = text.find("$(").or_else(|| text.find('`')) else {
            return;
        };
        self.find(
            Effect::Code,
            arg.span,
            "the shell computes this, and runs what stands in it",
        );
        let inner = text[at..].trim_start_matches(['$', '(', '`']);
        let inner = inner.split([')', '`']).next().unwrap_or(inner);
        if !inner.is_empty() {
            self.shell_text(&arg.with(inner), &Input::Unknown);
        }
    }
}

/// What shows facts does so only where nothing else is said.
pub(super) fn facts_alone(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if !call.operands.is_empty() && call.has(&["-help", "--help", "-h", "-V", "-version"]) {
        judge.find(
            call.program.effect,
            whole,
            format!("`{}` {}", call.path, call.program.does),
        );
    }
    Outcome::Table
}
