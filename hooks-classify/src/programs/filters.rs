//! `sed`, `awk` and `jq`: a call in, its script and the files that it reads out.

use crate::analysis::{Analysis, Context, OutputAction, PathSource};
use crate::languages::awk::is_connection;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `sed`: with the script in an option, all operands are files.
pub(super) fn sed(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["-e", "--expression", "-f", "--file"]) {
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
            analysis.run_script(Language::Sed, &texts[0].with_text(&joined), call);
        }
        for operand in &call.operands {
            analysis.read_file(&operand.arg);
        }
        return analysis.without_operands();
    }
    analysis
}

/// Analyzes `awk`, of which the program may read files that its input names.
pub(super) fn awk(_: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    // The program may read files that its input names.
    analysis.with_paths(PathSource::OwnInput(input.clone()), |inner| {
        awk_program(inner, call);
        OutputAction::NONE
    });
    analysis.without_operands()
}

/// Runs the program of `awk` and reads its files.
fn awk_program(analysis: &mut Analysis, call: &Call) {
    let has_program_option = call.has_option(&["-f", "--file", "-E", "--exec", "-e", "--source"]);
    let skip = usize::from(!has_program_option);
    if !has_program_option && let Some(first) = call.operands.first() {
        analysis.run_script(Language::Awk, &first.arg, call);
    }
    // The program may read a file that a variable names.
    let reads_named_files = call.args.iter().any(|arg| {
        ["getline", "ARGV"]
            .iter()
            .any(|name| arg.text.contains(name))
    });
    let values = call.options.iter().filter_map(|opt| opt.value.as_ref());
    let operands = call.operands.iter().skip(skip).map(|operand| &operand.arg);
    for word in operands.clone().chain(values) {
        let file = word
            .text
            .split_once('=')
            .map_or(&*word.text, |(_, value)| value);
        if is_connection(file) {
            analysis.add_finding(Effect::Code, word.span, "`awk` connects to another machine");
        }
        if reads_named_files && file.len() < word.text.len() {
            analysis.read_file(&word.with_text(file));
        }
    }
    for operand in operands {
        if !operand.text.contains('=') {
            analysis.read_file(operand);
        }
    }
}

/// Returns `true` if a filter loads a module: `import "FILE"` or `include "FILE"`, with blanks or
/// comments before the name.
fn loads_module(filter: &str) -> bool {
    ["import", "include"].iter().any(|directive| {
        filter.match_indices(directive).any(|(at, _)| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"' | '$');
            let mut rest = filter[at + directive.len()..].trim_start();
            while let Some(comment) = rest.strip_prefix('#') {
                rest = comment
                    .split_once('\n')
                    .map_or("", |(_, next)| next)
                    .trim_start();
            }
            !filter[..at].ends_with(is_word) && rest.starts_with('"')
        })
    })
}

/// Analyzes `jq` and similar programs, whose filter neither writes nor runs anything.
pub(super) fn jq(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
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
            analysis.read_file(&value);
        }
        let inner = Call::read(&call.path, call.program, &rest);
        let output = analysis.run_call(inner, whole, input);
        return analysis.done_with(output);
    }
    let commands = ["e", "eval", "ea", "eval-all"];
    let mut first = call
        .operands
        .iter()
        .map(|operand| operand.arg.text.as_str());
    let command = call.program.options.contains_key("--inplace")
        && first.next().is_some_and(|first| commands.contains(&first));
    let filter = !call.has_option(&["-f", "--from-file"]);
    let skip = usize::from(command) + usize::from(filter);
    let filters = call.operands.iter().take(skip);
    for operand in filters.skip(usize::from(command)) {
        analysis.run_script(Language::Jq, &operand.arg, call);
        if loads_module(&operand.arg.text) {
            let reason = format!("the filter of `{}` prints what is in a module", call.path);
            analysis.require_confirmation(operand.arg.span, reason);
        }
    }
    if !filter && call.has_option(&["-L", "--library-path"]) {
        let reason = format!(
            "a filter in a file of `{}` may print what is in a module",
            call.path
        );
        analysis.require_confirmation(whole, reason);
    }
    for operand in call.operands.iter().skip(skip) {
        analysis.read_file(&operand.arg);
    }
    // A filter can neither write nor run anything.
    analysis.without_operands()
}
