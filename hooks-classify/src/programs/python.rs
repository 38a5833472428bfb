//! Python: a call and its input in, the text, module or file that runs out.

use super::interpreters::analyze_script_file;
use super::project_files::note_imports;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes Python, which runs a text, a module, a file or its input.
pub(super) fn python(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let args = &call.args;
    let mut at = 0;
    // Without the folder in which it runs among the places of modules.
    let mut is_isolated = false;
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
                analysis.add_finding(
                    Effect::Unknown,
                    arg.span,
                    format!("unknown option `{text}` of `{}`", call.path),
                );
            }
            if text == "--check-hash-based-pycs" {
                at += 1;
            }
            if text.starts_with("--help") || text == "--version" {
                analysis.add_finding(Effect::Read, whole, "`python` prints facts about itself");
                return analysis.done();
            }
            continue;
        }
        if !text.contains(['c', 'm']) && text.contains('i') {
            analysis.add_finding(
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
                    Some(arg.with_text(rest))
                }
            };
            match letter {
                'c' => {
                    match value(at) {
                        Some(text) => {
                            if !is_isolated && text.text.contains("import") {
                                note_imports(&mut analysis, context, call, None, whole);
                            }
                            analysis.run_script(Language::Python, &text, call);
                        }
                        None => {
                            analysis.add_finding(Effect::Unknown, arg.span, "`-c` has no value")
                        }
                    }
                    return analysis.done();
                }
                'm' => {
                    let Some(module) = value(at) else {
                        return analysis.with_effect(Effect::Unknown);
                    };
                    if !is_isolated {
                        let first = module.text.split('.').next();
                        note_imports(&mut analysis, context, call, first, whole);
                    }
                    let from = if rest.is_empty() { at + 1 } else { at };
                    let name = format!("python -m {}", module.text);
                    let rest = args.get(from..).unwrap_or(&[]).to_vec();
                    let known = context.tables.program(&name);
                    // Modules that are programs are analyzed as these programs.
                    let own = context.tables.program(&module.text).filter(|_| {
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
                            let output = analysis.run_call(inner, whole, input);
                            return analysis.done_with(output);
                        }
                        (None, Some(program)) => {
                            let inner = Call::read(&module.text, program, &rest);
                            let output = analysis.run_call(inner, whole, input);
                            return analysis.done_with(output);
                        }
                        _ => {
                            let path = module.text.replace('.', "/");
                            for file in ["", "/__init__", "/__main__"] {
                                analysis.record_optional_code_file(&format!("{path}{file}.py"));
                            }
                            analysis.add_finding(
                                Effect::Code,
                                module.span,
                                format!("`python` runs the module `{}`", display_text(&module)),
                            );
                            return analysis.done();
                        }
                    }
                }
                'i' if text.contains(['c', 'm']) => analysis.add_finding(
                    Effect::Code,
                    arg.span,
                    "`-i` stays in the interpreter afterwards",
                ),
                'V' | 'h' | '?' => {
                    analysis.add_finding(Effect::Read, whole, "`python` prints facts about itself");
                    return analysis.done();
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
                        analysis.add_finding(
                            Effect::Code,
                            arg.span,
                            "`-X` may write files or run modules",
                        );
                    }
                    if letter == 'W' && value(at).is_some_and(|v| v.text.contains('.')) {
                        analysis.add_finding(
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
                'I' | 'P' => is_isolated = true,
                _ if call.program.options.contains_key(&format!("-{letter}")) => {}
                _ => analysis.add_finding(
                    Effect::Unknown,
                    arg.span,
                    format!("unknown option `-{letter}` of `{}`", call.path),
                ),
            }
        }
    }
    let rest: Vec<Arg> = args.get(at..).unwrap_or(&[]).to_vec();
    let reads_input = rest.first().is_none_or(|file| file.text == "-");
    if !is_isolated && reads_input {
        note_imports(&mut analysis, context, call, None, whole);
    }
    let words = rest.len();
    let mut inner = Call::read(&call.path, call.program, &[]);
    inner.operands = rest
        .into_iter()
        .enumerate()
        .map(|(at, arg)| crate::options::call::Operand {
            arg,
            after_double_dash: true,
            words_left: words - at,
        })
        .collect();
    analysis.then(analyze_script_file(context, &inner, whole, input))
}
