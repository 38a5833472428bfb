//! Judges of programs that run other programs or scripts.

use super::Outcome;
use crate::judge::environment::Contents;
use crate::judge::redirect::shown;
use crate::judge::{Arg, Input, Judge};
use crate::language::is_connection;
use crate::parts::UnseenCode;
use crate::shell::Span;
use crate::tables::{Call, Effect, Language, Role, Verb};

/// The language of an interpreter, by its name.
fn language(name: &str) -> Option<Language> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "py" | "ipython" | "bpython" | "ptpython" => Language::Python,
        "node" | "nodejs" | "tsx" | "ts-node" | "bun" | "deno" => Language::Node,
        "perl" => Language::Perl,
        "ruby" | "irb" | "jruby" => Language::Ruby,
        "php" => Language::Php,
        "lua" | "luajit" => Language::Lua,
        _ => return None,
    })
}

fn code(judge: &mut Judge<'_>, call: &Call, text: &str, span: Span) {
    match language(&call.path) {
        Some(language) => judge.script_in(language, &Arg::new(text, span), &call.path),
        None => judge.script_in(Language::Code, &Arg::new(text, span), &call.path),
    }
}

/// Whether perl takes this for what stands between fields, and for nothing more.
fn separator(text: &str) -> bool {
    let inner = match text.strip_prefix('/') {
        Some(rest) => match rest.strip_suffix('/') {
            Some(inner) => inner,
            None => return rest.is_empty(),
        },
        None => text,
    };
    !inner
        .contains(|c: char| c.is_whitespace() || c.is_control() || "/'\"`()[]{}<>;$@#&".contains(c))
}

/// Where no option gave the text, the first operand is a file or the input is the program.
pub(super) fn interpreter(
    judge: &mut Judge<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Outcome {
    let given = call
        .options
        .iter()
        .any(|g| matches!(g.option.role, Role::Script(_)));
    let only = call
        .options
        .iter()
        .any(|g| matches!(g.option.verb, Some(Verb::Only(_))))
        || (call.operands.is_empty()
            && call
                .options
                .iter()
                .any(|g| matches!(g.option.verb, Some(Verb::Means(_)))));
    for value in call
        .options
        .iter()
        .filter(|g| g.name == "-F" && call.path.contains("perl"))
        .filter_map(|g| g.value.as_ref())
    {
        if !separator(&value.text) || !value.known() {
            judge.find(
                Effect::Code,
                value.span,
                "`perl` makes the value of `-F` a part of the program",
            );
        }
    }
    // To Lua the first operand is a script, whatever else it ran.
    if given && language(&call.path) == Some(Language::Lua) && !call.operands.is_empty() {
        judge.options(call, input);
        return program(judge, call, whole, input);
    }
    if given || only {
        for operand in &call.operands {
            judge.input_file(&operand.arg);
            // Perl opens what `-n` and `-p` read in its old way: a name may be a command.
            let text = &operand.arg.text;
            if call.path.ends_with("perl")
                && (text.contains(['|', '>', '<']) || text.starts_with(char::is_whitespace))
            {
                judge.find(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs or writes what a name with `|` or `>` says",
                );
                judge.shell_text(
                    &operand.arg.with(text.trim_matches(['|', '>', '<', ' '])),
                    &Input::Unknown,
                );
            } else if call.path.ends_with("perl") && may_run(&operand.arg) {
                judge.find(
                    Effect::Code,
                    operand.arg.span,
                    "`perl` runs what a name that ends in `|` says, and these are not known",
                );
            }
        }
        // The texts decide: a plain call would run code.
        if given
            && !only
            && !call
                .options
                .iter()
                .any(|g| matches!(g.option.verb, Some(Verb::Means(_))))
        {
            return Outcome::Is(Effect::Read);
        }
        return Outcome::NoOperands;
    }
    program(judge, call, whole, input)
}

pub(super) fn program(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    judge.verbs(call);
    match call.operands.first() {
        Some(file) if file.arg.text != "-" => {
            judge.parts.code_file(&file.arg);
            if let Some(Contents::Text(text)) = judge.environment.files.get(&file.arg.text).cloned()
            {
                code(judge, call, &text, file.arg.span);
            } else {
                judge.find(
                    Effect::Code,
                    file.arg.span,
                    format!("`{}` runs what is in `{}`", call.path, shown(&file.arg)),
                );
            }
        }
        _ => match input {
            Input::Known(text) => code(judge, call, text, whole),
            _ => judge.runs_unseen(
                whole,
                UnseenCode::Input,
                format!("`{}` runs what it reads", call.path),
            ),
        },
    }
    judge.strange(call);
    Outcome::Done(None)
}

pub(super) fn sed(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.has(&["-e", "--expression", "-f", "--file"]) {
        let texts: Vec<Arg> = call
            .options
            .iter()
            .filter(|g| g.name == "-e" || g.name == "--expression")
            .filter_map(|g| g.value.clone())
            .collect();
        if texts.len() > 1 {
            let joined = texts
                .iter()
                .map(|t| t.text.as_str())
                .collect::<Vec<_>>()
                .join("\n");
            judge.script_in(Language::Sed, &texts[0].with(&joined), &call.path);
        }
        for operand in &call.operands {
            judge.input_file(&operand.arg);
        }
        return Outcome::NoOperands;
    }
    Outcome::Table
}

pub(super) fn awk(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    // The program may read files that its input names.
    let names = judge.names_read(input);
    judge.with_names(names, |judge| awk_program(judge, call))
}

fn awk_program(judge: &mut Judge<'_>, call: &Call) -> Outcome {
    let given = call.has(&["-f", "--file", "-E", "--exec", "-e", "--source"]);
    let skip = usize::from(!given);
    if !given && let Some(first) = call.operands.first() {
        judge.script_in(Language::Awk, &first.arg, &call.path);
    }
    let values = call.options.iter().filter_map(|given| given.value.as_ref());
    let operands = call.operands.iter().skip(skip).map(|operand| &operand.arg);
    for word in operands.clone().chain(values) {
        let file = word
            .text
            .split_once('=')
            .map_or(&*word.text, |(_, value)| value);
        if is_connection(file) {
            judge.find(Effect::Code, word.span, "`awk` connects to another machine");
        }
    }
    for operand in operands {
        if !operand.text.contains('=') {
            judge.input_file(operand);
        }
    }
    Outcome::NoOperands
}

pub(super) fn jq(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let two = [
        "--arg",
        "--argjson",
        "--slurpfile",
        "--rawfile",
        "--argfile",
    ];
    if let Some(at) = call
        .args
        .iter()
        .position(|arg| two.contains(&arg.text.as_str()))
    {
        let mut rest = call.args.clone();
        let option = rest[at].text.clone();
        let value = rest.get(at + 2).cloned();
        rest.drain(at..(at + 3).min(rest.len()));
        if let Some(value) = value
            && option.ends_with("file")
        {
            judge.input_file(&value);
        }
        let inner = Call::read(&call.path, call.program, &rest);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    let commands = ["e", "eval", "ea", "eval-all"];
    let mut first = call
        .operands
        .iter()
        .map(|operand| operand.arg.text.as_str());
    let command = call.program.options.contains_key("--inplace")
        && first.next().is_some_and(|first| commands.contains(&first));
    let filter = !call.has(&["-f", "--from-file"]);
    let skip = usize::from(command) + usize::from(filter);
    let filters = call.operands.iter().take(skip);
    for operand in filters.skip(usize::from(command)) {
        judge.script_in(Language::Jq, &operand.arg, &call.path);
    }
    for operand in call.operands.iter().skip(skip) {
        judge.input_file(&operand.arg);
    }
    // A filter can neither write nor run anything.
    Outcome::NoOperands
}

/// Whether a name of a file that is not known may be a command: it may not where what it begins
/// and ends with is known.
fn may_run(name: &Arg) -> bool {
    if name.known() && !name.glob {
        return false;
    }
    let text = name.text.as_str();
    let letter = |c: char| c.is_alphanumeric() || "._/-~".contains(c);
    !(text.starts_with(letter) && text.ends_with(letter))
}
