//! Python, which runs files, modules and texts.

use super::Outcome;
use super::runs::program;
use crate::judge::redirect::shown;
use crate::judge::{Arg, Input, Judge};
use crate::shell::Span;
use crate::tables::{Call, Effect, Language};

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
                    let known = judge.tables.program(&name);
                    // Modules that are programs of their own are judged as these.
                    let own = judge.tables.program(&module.text).filter(|_| {
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
                            let inner = Call::read(&name, program, &rest);
                            return Outcome::Done(judge.call(&inner, whole, input));
                        }
                        (None, Some(program)) => {
                            let inner = Call::read(&module.text, program, &rest);
                            return Outcome::Done(judge.call(&inner, whole, input));
                        }
                        _ => {
                            let path = module.text.replace('.', "/");
                            for file in ["", "/__init__", "/__main__"] {
                                judge.parts.maybe_code_file(&format!("{path}{file}.py"));
                            }
                            judge.find(
                                Effect::Code,
                                module.span,
                                format!("`python` runs the module `{}`", shown(&module)),
                            );
                            return Outcome::Done(None);
                        }
                    }
                }
                'i' if text.contains(['c', 'm']) => judge.find(
                    Effect::Code,
                    arg.span,
                    "`-i` stays in the interpreter afterwards",
                ),
                'V' | 'h' | '?' => {
                    judge.find(Effect::Read, whole, "`python` prints facts about itself");
                    return Outcome::Done(None);
                }
                'W' | 'X' => {
                    const HARMLESS: &[&str] = &[
                        "utf8",
                        "dev",
                        "importtime",
                        "faulthandler",
                        "tracemalloc",
                        "no_debug_ranges",
                        "frozen_modules",
                        "int_max_str_digits",
                        "warn_default_encoding",
                        "showrefcount",
                        "gil",
                    ];
                    let name = value(at).map(|value| value.text);
                    let name = name.as_deref().and_then(|text| text.split('=').next());
                    if letter == 'X' && !name.is_some_and(|name| HARMLESS.contains(&name)) {
                        judge.find(
                            Effect::Code,
                            arg.span,
                            "`-X` writes files or runs modules, as it is told",
                        );
                    }
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
    let mut inner = Call::read(&call.path, call.program, &[]);
    inner.operands = rest
        .into_iter()
        .map(|arg| crate::tables::Operand { arg, after: true })
        .collect();
    program(judge, &inner, whole, input)
}
