//! Judges of programs that run other programs or scripts.

use super::{Outcome, args};
use crate::classify::judge::environment::Contents;
use crate::classify::judge::redirect::shown;
use crate::classify::judge::{Arg, Input, Judge, UNKNOWN};
use crate::classify::shell::Span;
use crate::classify::tables::{Call, Effect, Language, Role, Verb};

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

fn program(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    judge.verbs(call);
    match call.operands.first() {
        Some(file) if file.arg.text != "-" => {
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
            _ => judge.find(
                Effect::Code,
                whole,
                format!("`{}` runs what it reads", call.path),
            ),
        },
    }
    judge.strange(call);
    Outcome::Done(None)
}

pub(super) fn python(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let args = &call.args;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        at += 1;
        if !text.starts_with('-') || text == "-" || text == "--" {
            at -= 1;
            break;
        }
        if text.starts_with("--") {
            if !call
                .program
                .options
                .contains_key(text.split('=').next().unwrap_or(text))
            {
                judge.find(
                    Effect::Unknown,
                    arg.span,
                    format!("`{}` has no known option `{text}`", call.path),
                );
            }
            if text == "--check-hash-based-pycs" {
                at += 1;
            }
            if text.starts_with("--help") || text == "--version" {
                judge.find(Effect::Read, whole, "`python` prints facts about itself");
                return Outcome::Done(None);
            }
            continue;
        }
        if !text.contains(['c', 'm']) && text.contains('i') {
            judge.find(
                Effect::Code,
                arg.span,
                "`-i` stays in the interpreter afterwards",
            );
        }
        for (place, letter) in text[1..].char_indices() {
            let rest = &text[1 + place + letter.len_utf8()..];
            let value = |at: usize| {
                if rest.is_empty() {
                    args.get(at).cloned()
                } else {
                    Some(arg.with(rest))
                }
            };
            match letter {
                'c' => {
                    match value(at) {
                        Some(text) => judge.script_in(Language::Python, &text, &call.path),
                        None => judge.find(Effect::Unknown, arg.span, "`-c` has no value"),
                    }
                    return Outcome::Done(None);
                }
                'm' => {
                    let Some(module) = value(at) else {
                        return Outcome::Is(Effect::Unknown);
                    };
                    let from = if rest.is_empty() { at + 1 } else { at };
                    let name = format!("python -m {}", module.text);
                    let rest = args.get(from..).unwrap_or(&[]).to_vec();
                    let known = judge.tables.program(&name).cloned();
                    // Modules that are programs of their own are judged as these.
                    let own = judge.tables.program(&module.text).cloned().filter(|_| {
                        matches!(
                            module.text.as_str(),
                            "pip"
                                | "pytest"
                                | "black"
                                | "ruff"
                                | "mypy"
                                | "flake8"
                                | "isort"
                                | "pylint"
                                | "uv"
                                | "poetry"
                                | "tox"
                                | "nox"
                                | "coverage"
                                | "pre_commit"
                                | "virtualenv"
                                | "twine"
                                | "build"
                                | "pipenv"
                                | "pyflakes"
                                | "bandit"
                                | "sqlfluff"
                        )
                    });
                    match (known, own) {
                        (Some(program), _) => {
                            let inner = Call::read(&name, &program, &rest);
                            return Outcome::Done(judge.call(&inner, whole, input));
                        }
                        (None, Some(program)) => {
                            let inner = Call::read(&module.text, &program, &rest);
                            return Outcome::Done(judge.call(&inner, whole, input));
                        }
                        _ => {
                            judge.find(
                                Effect::Code,
                                module.span,
                                format!("`python` runs the module `{}`", shown(&module)),
                            );
                            return Outcome::Done(None);
                        }
                    }
                }
                'V' | 'h' | '?' => {
                    judge.find(Effect::Read, whole, "`python` prints facts about itself");
                    return Outcome::Done(None);
                }
                'W' | 'X' => {
                    if letter == 'W' && value(at).is_some_and(|v| v.text.contains('.')) {
                        judge.find(
                            Effect::Code,
                            arg.span,
                            "`-W` imports the module of a category",
                        );
                    }
                    if rest.is_empty() {
                        at += 1;
                    }
                    break;
                }
                _ if call.program.options.contains_key(&format!("-{letter}")) => {}
                _ => judge.find(
                    Effect::Unknown,
                    arg.span,
                    format!("`{}` has no known option `-{letter}`", call.path),
                ),
            }
        }
    }
    let rest: Vec<Arg> = args.get(at..).unwrap_or(&[]).to_vec();
    let mut inner = Call::read(&call.path, &call.program, &[]);
    inner.operands = rest
        .into_iter()
        .map(|arg| crate::classify::tables::Operand { arg, after: true })
        .collect();
    program(judge, &inner, whole, input)
}

/// `sh`, `bash`: `-c TEXT`, a file, or the input.
pub(super) fn shell(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let args = &call.args;
    let mut at = 0;
    let mut text = false;
    let mut stdin = false;
    while let Some(arg) = args.get(at) {
        let word = arg.text.as_str();
        if word == "--" || word == "-" {
            at += 1;
            break;
        }
        if !word.starts_with(['-', '+']) || word.len() < 2 {
            break;
        }
        at += 1;
        match word {
            "--version" | "--help" => {
                judge.find(
                    Effect::Read,
                    whole,
                    format!("`{}` prints facts about itself", call.path),
                );
                return Outcome::Done(None);
            }
            "--norc" | "--noprofile" | "--posix" | "--login" | "--verbose" | "--restricted"
            | "--noediting" => {}
            "--rcfile" | "--init-file" => {
                judge.find(
                    Effect::Code,
                    arg.span,
                    format!("`{}` runs a file first", call.path),
                );
                at += 1;
            }
            _ if word.starts_with("--") || !arg.known() => {
                judge.find(
                    Effect::Unknown,
                    arg.span,
                    format!("`{}` has no known option `{}`", call.path, shown(arg)),
                );
            }
            _ => {
                for letter in word[1..].chars() {
                    match letter {
                        'c' => text = true,
                        's' => stdin = true,
                        'o' | 'O' => at += 1,
                        'a'..='z' | 'A'..='Z' => {}
                        _ => judge.find(
                            Effect::Unknown,
                            arg.span,
                            format!("`{}` has no known option `{word}`", call.path),
                        ),
                    }
                }
            }
        }
    }
    {
        // Only checks syntax.
        let n = args[..at.min(args.len())]
            .iter()
            .any(|a| a.text.starts_with('-') && !a.text.starts_with("--") && a.text.contains('n'));
        if n && (!text || at < args.len()) {
            judge.find(
                Effect::Read,
                whole,
                format!("`{}` checks syntax", call.path),
            );
            return Outcome::Done(None);
        }
    }
    let rest = args.get(at..).unwrap_or(&[]);
    if text {
        let Some(script) = rest.first() else {
            judge.find(
                Effect::Unknown,
                whole,
                format!("`{}` is given no text to run", call.path),
            );
            return Outcome::Done(None);
        };
        let positional = rest.get(2..).unwrap_or(&[]).to_vec();
        return Outcome::Done(nested(judge, script, positional, input));
    }
    match rest.first() {
        Some(file) if !stdin => {
            if let Some(Contents::Text(text)) = judge.environment.files.get(&file.text).cloned() {
                return Outcome::Done(nested(
                    judge,
                    &Arg::new(text, file.span),
                    rest[1..].to_vec(),
                    input,
                ));
            }
            judge.find(
                Effect::Code,
                file.span,
                format!("`{}` runs what is in `{}`", call.path, shown(file)),
            );
            Outcome::Done(None)
        }
        _ => match input {
            Input::Known(text) => {
                let positional = rest.to_vec();
                Outcome::Done(nested(
                    judge,
                    &Arg::new(text.clone(), whole),
                    positional,
                    &Input::Unknown,
                ))
            }
            _ => {
                judge.find(
                    Effect::Code,
                    whole,
                    format!("`{}` runs what it reads", call.path),
                );
                Outcome::Done(None)
            }
        },
    }
}

/// Runs text in a shell of its own.
fn nested(
    judge: &mut Judge<'_>,
    text: &Arg,
    positional: Vec<Arg>,
    input: &Input,
) -> Option<String> {
    let before = judge.environment.clone();
    judge.environment.positional = Some(positional);
    let output = judge.shell_text(text, input);
    judge.leave(before);
    output
}

pub(super) fn eval(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let text = call
        .args
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Outcome::Done(judge.shell_text(&Arg::new(text, whole), input))
}

pub(super) fn source(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    judge.find(
        Effect::Code,
        whole,
        format!("`{}` runs what is in a file", call.path),
    );
    Outcome::Done(None)
}

/// `xargs`: the words it reads come last, or where `-I` says.
pub(super) fn xargs(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    let mark = call
        .options
        .iter()
        .rev()
        .find(|g| ["-I", "-i", "--replace", "-J"].contains(&g.name.as_str()));
    let mut words = args(call);
    if words.is_empty() {
        return Outcome::NoOperands;
    }
    judge.verbs(call);
    let last = words.last().map_or(Span::default(), |arg| arg.span);
    let read = match input {
        // One line is one word, or several: what it holds is then known.
        Input::Known(text) if mark.is_none() && !text.contains(['\'', '"', '\\']) => Some(
            text.split_whitespace()
                .map(|word| Arg::new(word, last))
                .collect::<Vec<_>>(),
        ),
        _ => None,
    };
    match mark {
        Some(given) => {
            let mark = given
                .value
                .as_ref()
                .map_or("{}", |value| value.text.as_str())
                .to_owned();
            let value = match input {
                Input::Known(text) if text.lines().count() == 1 => text.trim().to_owned(),
                _ => UNKNOWN.to_string(),
            };
            for word in &mut words {
                word.text = word.text.replace(&mark, &value);
            }
        }
        None => match read {
            Some(read) if !call.has(&["-0", "--null", "-d", "--delimiter", "-a", "--arg-file"]) => {
                words.extend(read)
            }
            _ => {
                // As many as fit, unless it is told to take one at a time.
                let one = call.options.iter().any(|g| {
                    ["-n", "--max-args", "-L", "--max-lines"].contains(&g.name.as_str())
                        && g.value.as_ref().is_some_and(|value| value.text == "1")
                });
                words.push(Arg::unknown(last));
                if !one {
                    words.push(Arg::unknown(last));
                }
            }
        },
    }
    judge.strange(call);
    judge.options(call, input);
    // Alone, a program is told all by what is read: also to write or to run.
    if let [name, rest @ ..] = words.as_slice()
        && rest.iter().all(|arg| !arg.known())
        && !rest.is_empty()
        && let Some(program) = judge.tables.program(&name.text)
        && program.options.values().any(|option| {
            matches!(
                option.role,
                Role::Output
                    | Role::Append
                    | Role::Update
                    | Role::Program
                    | Role::Shell
                    | Role::Argv { .. }
            )
        })
    {
        judge.find(
            Effect::Unknown,
            name.span,
            format!("what `{}` is told is only known when it runs", name.text),
        );
    }
    Outcome::Done(judge.run(words, &Input::Unknown))
}

/// `env`: assignments, then a command; without one it prints the variables.
pub(super) fn env(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    judge.verbs(call);
    let words = args(call);
    let mut at = 0;
    while let Some(arg) = words.get(at)
        && let Some((name, value)) = arg.text.split_once('=')
    {
        if name.contains(UNKNOWN) {
            judge.find(
                Effect::Code,
                arg.span,
                "which variable is set is only known when it runs",
            );
        }
        judge.sets(name, &arg.with(value));
        at += 1;
    }
    judge.strange(call);
    for given in &call.options {
        if let Some(value) = &given.value {
            if ["-S", "--split-string"].contains(&given.name.as_str()) {
                let text = words.iter().fold(value.text.clone(), |text, word| {
                    text + " " + &super::super::builtin::quoted(word)
                });
                return Outcome::Done(judge.shell_text(&value.with(&format!("env {text}")), input));
            }
            judge.option(call, given, input);
        }
    }
    let rest = words.get(at..).unwrap_or(&[]).to_vec();
    Outcome::Done(if rest.is_empty() {
        None
    } else {
        judge.run(rest, input)
    })
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

pub(super) fn awk(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let given = call.has(&["-f", "--file", "-E", "--exec", "-e", "--source"]);
    let skip = usize::from(!given);
    if !given && let Some(first) = call.operands.first() {
        judge.script_in(Language::Awk, &first.arg, &call.path);
    }
    for operand in call.operands.iter().skip(skip) {
        if !operand.arg.text.contains('=') {
            judge.input_file(&operand.arg);
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
        let inner = Call::read(&call.path, &call.program, &rest);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    let skip = usize::from(!call.has(&["-f", "--from-file"]));
    for operand in call.operands.iter().skip(skip) {
        judge.input_file(&operand.arg);
    }
    // A filter can neither write nor run anything.
    Outcome::NoOperands
}

/// Every operand is a goal; the strongest counts.
pub(super) fn goals(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.operands.is_empty() {
        return Outcome::Table;
    }
    let effect = call
        .operands
        .iter()
        .map(|operand| {
            call.program
                .command(&call.program, &operand.arg.text)
                .map_or(Effect::Code, |goal| goal.effect)
        })
        .max();
    Outcome::Is(effect.unwrap_or(Effect::Code))
}

/// A first word `+nightly` names a toolchain.
pub(super) fn toolchain(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    match call.args.first() {
        Some(first) if first.text.starts_with('+') && first.known() => {
            let inner = Call::read(&call.path, &call.program, &call.args[1..]);
            Outcome::Done(judge.call(&inner, whole, input))
        }
        _ => Outcome::Table,
    }
}

pub(super) fn rustc(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    for given in call.options.iter().filter(|g| g.name == "--print") {
        if let Some(value) = &given.value
            && (value.text.contains('=')
                || ["link-args", "native-static-libs"].contains(&value.text.as_str()))
        {
            judge.find(
                Effect::Create,
                value.span,
                "`--print` of this compiles or writes a file",
            );
        }
    }
    toolchain(judge, call, whole, input)
}

pub(super) fn rustfmt(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let prints = call.options.iter().any(|g| {
        g.name == "--emit"
            && g.value
                .as_ref()
                .is_some_and(|v| ["stdout", "json", "checkstyle"].contains(&v.text.as_str()))
    });
    if prints {
        return Outcome::Is(Effect::Read);
    }
    toolchain(judge, call, whole, input)
}

pub(super) fn cargo_fmt(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let after: Vec<Arg> = call
        .operands
        .iter()
        .filter(|o| o.after)
        .map(|o| o.arg.clone())
        .collect();
    if after.is_empty() {
        return Outcome::Table;
    }
    let Some(program) = judge.tables.program("rustfmt").cloned() else {
        return Outcome::Is(Effect::Unknown);
    };
    let mut words = after;
    words.push(Arg::new("src/lib.rs", whole));
    let inner = Call::read("rustfmt", &program, &words);
    let output = judge.call(&inner, whole, input);
    judge.strange(call);
    Outcome::Done(output)
}

/// `at` runs what it reads, later.
pub(super) fn at(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    let lists = call
        .options
        .iter()
        .any(|g| matches!(g.option.verb, Some(Verb::Means(_) | Verb::Only(_))));
    if !lists && let Input::Known(text) = input {
        let span = call
            .operands
            .first()
            .map_or(Span::default(), |o| o.arg.span);
        judge.shell_text(&Arg::new(text.clone(), span), &Input::Unknown);
    }
    Outcome::Table
}
