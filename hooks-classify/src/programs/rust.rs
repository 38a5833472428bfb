//! Tools of Rust: a call in, its effect out.

use super::effect::note_unrecognized;
use crate::analysis::{Analysis, Context};
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes a tool of Rust, for which a first word `+nightly` names a toolchain.
pub(super) fn toolchain(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    match call.args.first() {
        Some(first) if first.text.starts_with('+') => {
            if names_folder(first) {
                analysis.add_finding(Effect::Code, first.span, PROGRAMS_OF_FOLDER);
            }
            let inner = Call::read(&call.path, call.program, &call.args[1..]);
            let output = analysis.run_call(inner, whole, input);
            analysis.done_with(output)
        }
        _ => analysis,
    }
}

/// Reason for a toolchain that is a folder.
const PROGRAMS_OF_FOLDER: &str = "the toolchain is a folder, whose programs run";

/// Returns `true` if a toolchain is a folder, or may be one when the command runs.
fn names_folder(toolchain: &Arg) -> bool {
    !toolchain.is_known() || toolchain.text.contains(['/', '\\'])
}

/// Analyzes `rustup run`, of which the first operand names a toolchain.
pub(super) fn rustup_run(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if let Some(toolchain) = call.operands.first()
        && names_folder(&toolchain.arg)
    {
        analysis.add_finding(Effect::Code, toolchain.arg.span, PROGRAMS_OF_FOLDER);
    }
    analysis
}

/// Analyzes `rustc`, for which some values of `--print` compile.
pub(super) fn rustc(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in call.options.iter().filter(|g| g.name == "--print") {
        if let Some(value) = &opt.value
            && (value.text.contains('=')
                || ["link-args", "native-static-libs"].contains(&value.text.as_str()))
        {
            analysis.add_finding(
                Effect::Create,
                value.span,
                "`--print` of this compiles or writes a file",
            );
        }
    }
    analysis.then(toolchain(context, call, whole, input))
}

/// Analyzes `rustfmt`, which only reads if it emits text to its standard output.
pub(super) fn rustfmt(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let analysis = Analysis::new();
    let prints = call.options.iter().any(|g| {
        g.name == "--emit"
            && g.value
                .as_ref()
                .is_some_and(|v| ["stdout", "json", "checkstyle"].contains(&v.text.as_str()))
    });
    if prints {
        return analysis.with_effect(Effect::Read);
    }
    analysis.then(toolchain(context, call, whole, input))
}

/// Analyzes `cargo fmt`, which passes the words after `--` to `rustfmt`.
pub(super) fn cargo_fmt(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let after: Vec<Arg> = call
        .operands
        .iter()
        .filter(|o| o.after_double_dash)
        .map(|o| o.arg.clone())
        .collect();
    if after.is_empty() {
        return analysis;
    }
    let Some(program) = context.tables.program("rustfmt") else {
        return analysis.with_effect(Effect::Unknown);
    };
    let mut words = after;
    words.push(Arg::new("src/lib.rs", whole));
    let inner = Call::read("rustfmt", program, &words);
    let output = analysis.run_call(inner, whole, input);
    note_unrecognized(&mut analysis, call);
    analysis.done_with(output)
}
