//! Programs that watch other programs: a call in, the facts that it shows and its changes out.

use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::{Call, ParsedOption};

/// Analyzes a program that captures packets; those of the loopback interface contain data that
/// programs of this machine exchange.
pub(super) fn capture(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let contents = [
        "-A", "-x", "-xx", "-X", "-XX", "-w", "-v", "-vv", "-vvv", "-V", "-O", "-T", "-z",
    ];
    capture_with(call, whole, call.has_option(&contents))
}

/// Analyzes a program that captures packets and always shows their contents; see [`capture`].
pub(super) fn capture_contents(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    capture_with(call, whole, true)
}

/// Analyzes a program that captures packets and may show their contents.
fn capture_with(call: &Call, whole: Span, shows_contents: bool) -> Analysis {
    let mut analysis = Analysis::new();
    let value = |names: &'static [&'static str]| {
        let options = call.options.iter();
        let options = options.filter(|opt| names.contains(&opt.name.as_str()));
        options.filter_map(|opt| opt.value.as_ref())
    };
    let prints = |opt: &ParsedOption| {
        opt.spec.effect == Some(OptionEffect::Forces(Effect::Read))
            || ["-D", "--list-interfaces", "-L", "-G"].contains(&opt.name.as_str())
    };
    // `-I` of some is a file, and of others a flag.
    let from_file = value(&["-r", "-I"]).next().is_some();
    if from_file || call.options.iter().any(prints) {
        return analysis;
    }
    let is_local_interface = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("lo")
            || ["any", "all", "pktap", "nflog", "loopback", "dbus"]
                .iter()
                .any(|word| name.contains(word))
            || name.parse::<u32>().is_ok()
            || name.contains(UNKNOWN)
    };
    let mut interfaces = value(&["-i", "--interface", "-d"]).peekable();
    let shows_local_traffic = match interfaces.peek() {
        Some(_) => interfaces.any(|interface| is_local_interface(&interface.text)),
        None => shows_contents,
    };
    if shows_local_traffic {
        let reason = format!("`{}` shows what programs of this machine send", call.path);
        analysis.require_confirmation(whole, reason);
    }
    analysis
}

/// Analyzes `ps`, which may print the environment of processes and with it their secrets.
pub(super) fn ps(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut value = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        let is_value = std::mem::take(&mut value);
        // A column of that name, wherever it is asked for: `-o pid,environ`, `oenviron=`.
        if text.contains("environ") {
            analysis.require_confirmation(arg.span, "`ps` prints the environment of processes");
        }
        let dashed = text.starts_with('-');
        let letters = text.trim_start_matches('-');
        if is_value || text.starts_with("--") || !letters.chars().all(|c| c.is_ascii_alphabetic()) {
            continue;
        }
        let own = match dashed {
            true => "oOkpqtUCGgsun",
            false => "oOkpqtU",
        };
        let flags = letters.split(|c| own.contains(c)).next().unwrap_or("");
        value = letters.ends_with(|c| own.contains(c));
        if flags.contains('E') || !dashed && flags.contains('e') {
            analysis.require_confirmation(arg.span, "`ps` prints the environment of processes");
        }
    }
    analysis
}

/// Analyzes a command that shows the processes of a container with the options of `ps`.
pub(super) fn container_top(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    // Columns of `podman top`, which stand where `ps` has letters.
    let columns = [
        "user", "huser", "time", "etime", "state", "seccomp", "label",
    ];
    let words: Vec<Arg> = call
        .args
        .iter()
        .skip_while(|arg| arg.text.starts_with('-'))
        .skip(1)
        .filter(|arg| !columns.contains(&arg.text.as_str()))
        .cloned()
        .collect();
    let inner = Call::read("ps", call.program, &words);
    ps(context, &inner, whole, input)
}

/// Analyzes `tshark`, for which a preference may name a file.
pub(super) fn tshark(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for value in call
        .options
        .iter()
        .filter(|opt| opt.name == "-o")
        .filter_map(|opt| opt.value.as_ref())
    {
        let name = value.text.split(':').next().unwrap_or("");
        let names_file = ["file", "path", "dir", "key", "log"];
        if !value.is_known() || names_file.iter().any(|word| name.contains(word)) {
            let reason = format!("`{name}` may name a file that is written, or one with keys");
            analysis.add_finding(Effect::Create, value.span, reason);
        }
    }
    analysis.then(capture(context, call, whole, input))
}

/// Analyzes `pprof`, which stores the fetched data in a file.
pub(super) fn pprof(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let values = call
        .options
        .iter()
        .filter(|opt| opt.name.ends_with("base"))
        .filter_map(|opt| opt.value.as_ref());
    let operands = call.operands.iter().map(|operand| &operand.arg);
    if let Some(arg) = operands.chain(values).find(|arg| arg.text.contains(':')) {
        analysis.add_finding(
            Effect::Create,
            arg.span,
            format!("`{}` keeps responses in a file", call.path),
        );
    }
    analysis
}

/// Analyzes `strace`, which may change the results of system calls.
pub(super) fn strace(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in call.options.iter().filter(|opt| opt.name == "-e") {
        let Some(value) = &opt.value else { continue };
        let text = value.text.trim_start_matches(['=', ' ']);
        if text.starts_with("inject") || text.starts_with("fault") || !value.is_known() {
            analysis.add_finding(
                Effect::Code,
                value.span,
                "`strace` changes system calls of the command",
            );
        }
    }
    analysis
}
