//! Programs where one value among harmless ones carries code, or names a file that is written.

use super::{Outcome, services};
use crate::judge::Judge;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// `@FILE` stands for the arguments in a file.
pub(super) fn arguments_file(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if let Some(arg) = call.args.iter().find(|arg| arg.text.starts_with('@')) {
        judge.find(
            Effect::Unknown,
            arg.span,
            format!("what `{}` is told stands in a file", call.path),
        );
    }
    Outcome::Table
}

/// What stands after `--` is for the compiler: what is not known of it may load or write.
pub(super) fn compile_flags(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let harmless = |flag: &str| {
        !flag.starts_with("-Wl,")
            && !flag.starts_with("-Wp,")
            && !flag.starts_with("-Wa,")
            && ([
                "-I",
                "-D",
                "-U",
                "-W",
                "-O",
                "-std=",
                "-isystem",
                "-iquote",
                "-isysroot",
                "-fno-",
                "--target=",
                "--sysroot=",
                "-march=",
                "-mtune=",
            ]
            .iter()
            .any(|known| flag.starts_with(known))
                || [
                    "-x",
                    "-c",
                    "-w",
                    "-g",
                    "-m32",
                    "-m64",
                    "-include",
                    "-pthread",
                    "-pedantic",
                    "-ansi",
                    "-nostdinc",
                    "-nostdinc++",
                    "-fPIC",
                    "-fpic",
                    "-fPIE",
                    "-fexceptions",
                    "-frtti",
                    "-fopenmp",
                    "-fcoroutines",
                    "-fsyntax-only",
                    "-xc",
                    "-xc++",
                ]
                .contains(&flag))
    };
    for operand in call
        .operands
        .iter()
        .filter(|operand| operand.after_double_dash)
    {
        let text = operand.arg.text.as_str();
        if !operand.arg.known()
            || text.starts_with('@')
            || (text.starts_with('-') && !harmless(text))
        {
            judge.find(
                Effect::Unknown,
                operand.arg.span,
                "this flag of the compiler may load or write something",
            );
        }
    }
    arguments_file(judge, call, Span::default(), &Input::Unknown)
}

/// `-version` and `-list` are all that is done only where they stand alone.
pub(super) fn convert(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let facts = call.has(&["-version", "--version", "-help", "-list"]);
    if facts && (call.options.len() > 1 || !call.operands.is_empty()) {
        judge.find(
            Effect::Create,
            whole,
            format!("`{}` may write its last operand", call.path),
        );
    }
    Outcome::Table
}

/// What is read over the network needs an extension, which is fetched and loaded.
pub(super) fn duckdb(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    if let Some(arg) = call.args.iter().find(|arg| arg.text.contains("://")) {
        judge.find(
            Effect::Create,
            arg.span,
            "`duckdb` fetches an extension to read from an address",
        );
    }
    services::sql_client(judge, call, whole, input)
}

/// `glow config` writes settings where there are none, and opens them in an editor.
pub(super) fn glow(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if call
        .operands
        .first()
        .is_some_and(|operand| operand.arg.text == "config")
    {
        judge.find(
            Effect::Create,
            whole,
            "`glow config` writes settings, and opens them in an editor",
        );
    }
    Outcome::Table
}

/// `--log-opts` are options of `git log`.
pub(super) fn log_options(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for given in &call.options {
        if given.name == "--log-opts"
            && let Some(value) = &given.value
        {
            let line = format!("git log {}", value.text);
            judge.shell_text(&value.with(&line), &Input::Unknown);
        }
    }
    Outcome::Table
}

/// `npm diff`: only packages that the registry has are not built first; the scripts of others run.
pub(super) fn npm_diff(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let specs: Vec<&Arg> = call
        .options
        .iter()
        .filter(|given| given.name == "--diff")
        .filter_map(|given| given.value.as_ref())
        .collect();
    if specs.len() == 2
        && specs
            .iter()
            .all(|spec| spec.known() && published(&spec.text))
    {
        Outcome::Table
    } else {
        Outcome::Is(Effect::Code)
    }
}

/// Whether this is `NAME@VERSION` or `@SCOPE/NAME@VERSION`.
fn published(spec: &str) -> bool {
    let plain = |part: &str, more: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let (scoped, rest) = match spec.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, spec),
    };
    let Some((name, version)) = rest.split_once('@') else {
        return false;
    };
    let named = match name.split_once('/') {
        Some((scope, name)) => scoped && plain(scope, "-_.") && plain(name, "-_."),
        None => !scoped && plain(name, "-_."),
    };
    let archive = [".tgz", ".tar", ".gz"]
        .iter()
        .any(|end| version.ends_with(end));
    named
        && !name.starts_with('.')
        && !archive
        && !version.starts_with('.')
        && plain(version, ".-+^~*<>=")
}

/// `pprof` keeps what it fetches in a file.
pub(super) fn pprof(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let values = call
        .options
        .iter()
        .filter(|given| given.name.ends_with("base"))
        .filter_map(|given| given.value.as_ref());
    let operands = call.operands.iter().map(|operand| &operand.arg);
    if let Some(arg) = operands.chain(values).find(|arg| arg.text.contains(':')) {
        judge.find(
            Effect::Create,
            arg.span,
            format!("`{}` keeps what it fetches in a file", call.path),
        );
    }
    Outcome::Table
}

/// `-e inject=…` and `-e fault=…` change what the command is told.
pub(super) fn strace(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for given in call.options.iter().filter(|given| given.name == "-e") {
        let Some(value) = &given.value else { continue };
        let text = value.text.trim_start();
        if text.starts_with("inject") || text.starts_with("fault") || !value.known() {
            judge.find(
                Effect::Code,
                value.span,
                "`strace` changes what the command is told",
            );
        }
    }
    Outcome::Table
}
