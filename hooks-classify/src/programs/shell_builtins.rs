//! Builtins of the shell that tables describe too: a call in, the expressions that the shell
//! evaluates and the variables that it sets out.

use super::effect::operand_words;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, UNKNOWN, display_text};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::value::Value;
use crate::model::variable_name::is_variable_name;
use crate::options::call::Call;

/// Analyzes a command that sets variables. The name may be one that changes which programs run, and
/// an index in it is evaluated: `a[$(cmd)]` runs `cmd`, even where the word is quoted.
pub(super) fn assign(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let printf = call.path.ends_with("printf");
    for (at, arg) in call.args.iter().enumerate() {
        analysis.run_subscript(arg);
        if printf && let Some(name) = value_of(&call.args, at, "-v") {
            for operand in &call.operands {
                analysis.fill_variable(&name, &operand.arg);
            }
            analysis.add_variable_paths(&name.text, operand_words(call));
        }
    }
    // Some shells evaluate a value that is printed as a number.
    if printf && let Some((format, operands)) = call.operands.split_first() {
        let operands = operands.iter().map(|operand| &operand.arg);
        for arg in operands_shown_as_numbers(&format.arg, operands) {
            if !arg.inert || arg.is_known() {
                analysis.evaluate_expression(arg);
            }
        }
    }
    if call.path == "getopts"
        && let Some(name) = call.args.get(1)
    {
        let words = call.args.get(2..).filter(|words| !words.is_empty());
        let positional = context.environment.positional.clone();
        let words = match words {
            Some(words) => words.to_vec(),
            None => positional.unwrap_or_else(|| vec![Arg::unknown(name.span)]),
        };
        for value in &words {
            analysis.fill_variable(name, value);
            // The value of an option may follow its letter.
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let part = value.with_text(value.text.trim_start_matches(letter));
            for value in [value, &part] {
                analysis.evaluate_if_integer("OPTARG", value);
            }
            context.environment.options.note_all_ends(&value.text);
        }
        analysis.fill_variable(name, &Arg::new("", name.span));
        analysis.set_variable("OPTARG", Value::Unknown);
        analysis.set_variable("OPTIND", Value::Inert);
    }
    analysis
}

/// Analyzes `print`, which expands its words as a prompt (`-P`), evaluates them (`-f`), types them
/// (`-z`) or keeps them (`-v`).
pub(super) fn print(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let text = || call.operands.iter().map(|operand| &operand.arg);
    for arg in text().filter(|_| call.has_option(&["-P"])) {
        analysis.run_subscript(arg);
        if !arg.is_known() && !arg.inert {
            let reason = "expands a value as a prompt, and runs code in it";
            analysis.add_finding(Effect::Code, arg.span, reason);
        }
    }
    for opt in &call.options {
        match (opt.name.as_str(), &opt.value) {
            ("-v", Some(name)) => {
                for operand in &call.operands {
                    analysis.fill_variable(name, &operand.arg);
                }
            }
            ("-f", Some(format)) => {
                for arg in operands_shown_as_numbers(format, text()) {
                    analysis.evaluate_expression(arg);
                }
            }
            ("-z", _) => {
                analysis.add_finding(
                    Effect::Code,
                    whole,
                    "types a command that the shell then runs",
                );
                for arg in text() {
                    analysis.run_shell_text(arg, &Input::Unknown);
                }
            }
            _ => {}
        }
    }
    analysis
}

/// Analyzes `hash`, for which `NAME=PATH` gives a name to another program.
pub(super) fn hash(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in call.operands.iter().filter(|_| !call.has_option(&["-d"])) {
        analysis.run_subscript(&operand.arg);
        if operand.arg.text.contains('=') {
            let reason = "makes a name mean another program";
            analysis.add_finding(Effect::Code, operand.arg.span, reason);
        }
    }
    analysis
}

/// Functions that come with a shell, and that tables describe.
const FUNCTIONS_OF_SHELLS: &[&str] = &["zmv", "zargs"];

/// Analyzes `zargs OPTIONS -- WORDS -- COMMAND`.
pub(super) fn zargs(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut parts = call.args.split(|arg| arg.text == "--").skip(1);
    if let (Some(words), Some(command)) = (parts.next(), parts.next())
        && !command.is_empty()
    {
        analysis.run_words([command, words].concat(), &Input::Inherited);
    }
    analysis
}

/// Analyzes `autoload`, which loads functions from files.
pub(super) fn autoload(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        let name = operand.arg.text.as_str();
        let program =
            |name| context.tables.program(name).is_some() && !FUNCTIONS_OF_SHELLS.contains(&name);
        if name.contains(['/', UNKNOWN]) || program(name) {
            let reason = format!(
                "loads a function from a file for `{}`",
                display_text(&operand.arg)
            );
            analysis.add_finding(Effect::Code, operand.arg.span, reason);
        }
    }
    analysis
}

/// Analyzes `zmodload`, which loads modules of the shell or libraries.
pub(super) fn zmodload(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for operand in &call.operands {
        let name = operand.arg.text.as_str();
        let path = name.contains('/') && (!name.starts_with("zsh/") || name.contains(".."));
        // The contents of files are values of a variable then.
        let files = name == "zsh/mapfile";
        if path || files || !operand.arg.is_known() {
            let reason = format!("loads code from `{}`", display_text(&operand.arg));
            analysis.add_finding(Effect::Code, operand.arg.span, reason);
        }
    }
    analysis
}

/// Analyzes `zstyle -e PATTERN STYLE TEXT`, which runs the text where the style is looked up.
pub(super) fn zstyle(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["-e"]) {
        for operand in call.operands.iter().skip(2) {
            analysis.run_shell_text(&operand.arg, &Input::Unknown);
        }
    }
    // The value of a style goes to the variable that an operand names.
    if call.has_option(&["-s", "-a", "-b", "-g"]) {
        for operand in &call.operands {
            let unknown = Arg::unknown(operand.arg.span);
            analysis.fill_variable(&operand.arg, &unknown);
        }
    }
    analysis
}

/// Returns the value of an option if the word at a position is this option: joined to it, or the next
/// word.
fn value_of(args: &[Arg], at: usize, option: &str) -> Option<Arg> {
    match args[at].text.strip_prefix(option)? {
        "" => args.get(at + 1).cloned(),
        joined => Some(args[at].with_text(joined)),
    }
}

/// Returns the operands that a format shows as numbers, which some shells evaluate.
fn operands_shown_as_numbers<'call>(
    format: &Arg,
    operands: impl Iterator<Item = &'call Arg> + Clone,
) -> Vec<&'call Arg> {
    let kinds = operands_of_format(&format.text);
    // A word that may become several ones moves those behind it.
    let moves = format.may_split || operands.clone().any(|arg| arg.may_split || arg.glob);
    let any = !format.is_known() || format.text.contains('$') || moves;
    let is_number = |at: usize| match any {
        true => !format.is_known() || kinds.contains(&true),
        false => kinds.iter().cycle().nth(at).is_some_and(|number| *number),
    };
    let numbered = operands.enumerate().filter(|(at, _)| is_number(*at));
    numbered.map(|(_, arg)| arg).collect()
}

/// Returns for each operand that a format takes whether it is a number.
fn operands_of_format(format: &str) -> Vec<bool> {
    let mut kinds = Vec::new();
    let mut rest = format;
    while let Some((_, directive)) = rest.split_once('%') {
        if let Some(after) = directive.strip_prefix('%') {
            rest = after;
            continue;
        }
        let kind =
            directive.trim_start_matches(|c: char| c.is_ascii_digit() || " #+-.*'$".contains(c));
        let modifiers = &directive[..directive.len() - kind.len()];
        kinds.extend(modifiers.matches('*').map(|_| true));
        kinds.push(!kind.starts_with(['s', 'b', 'q', 'Q', 'c']));
        rest = kind;
    }
    kinds
}

/// Analyzes `ulimit`, of which some shells evaluate the number.
pub(super) fn ulimit(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let values = call.options.iter().filter_map(|opt| opt.value.as_ref());
    for arg in call.operands.iter().map(|o| &o.arg).chain(values) {
        analysis.evaluate_expression(arg);
    }
    analysis
}

/// Analyzes `repeat`, which evaluates the number of its rounds.
pub(super) fn repeat(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if let Some(count) = call.operands.first() {
        analysis.evaluate_expression(&count.arg);
    }
    analysis
}

/// Analyzes a test, which changes nothing, but evaluates its words.
pub(super) fn test(context: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    // Some shells evaluate words that other shells read as numbers.
    analysis.run_stored_subscripts(whole);
    for (at, arg) in call.args.iter().enumerate() {
        analysis.run_subscript(arg);
        if matches!(arg.text.as_str(), "-v" | "-t" | "-R")
            && let Some(name) = call.args.get(at + 1)
        {
            analysis.evaluate_variable_name(name);
        }
        // Such shells read a name in a numeric comparison as a variable.
        let compares = matches!(
            arg.text.as_str(),
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
        );
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        for word in beside.filter_map(|at| call.args.get(at)) {
            let computes = context.shells.intersects(Shells::COMPUTES_IN_TEST);
            if compares && (is_variable_name(&word.text) || computes && word.text.contains(UNKNOWN))
            {
                analysis.evaluate_expression(word);
            }
        }
    }
    analysis
}

/// Analyzes a command that evaluates expressions.
pub(super) fn arithmetic(context: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    analysis.run_stored_subscripts(whole);
    for arg in &call.args {
        analysis.evaluate_expression(arg);
        if let Some((name, _)) = arg.text.split_once('=') {
            let name = name.trim_end_matches(['+', '-', '*', '/', '%']);
            if context.tables.variable_rule(name, None).is_some() {
                analysis.add_finding(
                    Effect::Code,
                    arg.span,
                    format!("sets `{name}`, which may run other code"),
                );
            }
            analysis.set_variable(name, Value::Inert);
        }
    }
    analysis
}

/// Analyzes `compgen` and `complete`, of which `-C`, `-F` and `-W` run their values.
pub(super) fn compgen(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for arg in &call.args {
        analysis.run_subscript(arg);
    }
    if call.path == "compgen" {
        // bash 5.3 puts the completions into the array that `-V` names.
        let names = 0..call.args.len();
        for name in names.filter_map(|at| value_of(&call.args, at, "-V")) {
            analysis.fill_variable(&name, &Arg::unknown(name.span));
        }
        // Names of files with this beginning, regardless of other options.
        for operand in call
            .operands
            .iter()
            .filter(|operand| operand.arg.is_known())
        {
            let arg = &operand.arg;
            analysis.add_printed_path(&arg.with_text(&format!("{}*", arg.path())));
        }
        for opt in &call.options {
            if let ("-G", Some(value)) = (opt.name.as_str(), &opt.value) {
                analysis.add_printed_path(value);
            }
            if let ("-C" | "-F" | "-W", Some(value)) = (opt.name.as_str(), &opt.value) {
                if opt.name == "-W" {
                    analysis.run_subscript(value);
                } else {
                    analysis.run_shell_text(value, &Input::Unknown);
                }
            }
        }
    }
    analysis
}

/// Analyzes `jobs`, which runs a command with `-x`.
pub(super) fn jobs(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.path == "jobs"
        && let Some(at) = call.args.iter().position(|arg| arg.text == "-x")
    {
        analysis.run_words(call.args[at + 1..].to_vec(), &Input::Inherited);
        return analysis.done();
    }
    for arg in &call.args {
        analysis.run_subscript(arg);
    }
    analysis.without_operands()
}

/// Analyzes a program that prints facts only where it has no operands.
pub(super) fn facts_alone(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if !call.operands.is_empty() && call.has_option(&["-help", "--help", "-h", "-V", "-version"]) {
        analysis.add_finding(
            call.program.effect,
            whole,
            format!("`{}` {}", call.path, call.program.does),
        );
    }
    analysis
}
