//! Programs that work on another machine: a call in, the commands that run there and the data that is
//! sent there out.

use super::addresses::host_of_remote_path;
use super::effect::{note_options, operand_words};
use super::requests::{effect_of_method, method_of_headers};
use super::words_as_text::join_words;
use crate::analysis::{Analysis, Context};
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::{Call, ParsedOption};

/// Analyzes `ssh`, which runs the words after the host in a shell of that host.
pub(super) fn ssh(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let operands = operand_words(call);
    // `--` after the host ends the options, and is not part of the command.
    if operands.len() > 2 && operands[1].text == "--" {
        let mut rest = call.args.clone();
        rest.remove(call.args.len() + 1 - operands.len());
        let inner = Call::read(&call.path, call.program, &rest);
        let output = analysis.run_call(inner, whole, input);
        return analysis.done_with(output);
    }
    if operands
        .first()
        .is_some_and(|host| host.text.starts_with('-') || !host.is_known())
    {
        analysis.add_finding(
            Effect::Code,
            operands[0].span,
            "the host is only known when it runs, and may be an option",
        );
    }
    for opt in &call.options {
        let Some(value) = &opt.value else { continue };
        if ["-l", "-J", "-o"].contains(&opt.name.as_str()) && !value.is_known() {
            analysis.require_confirmation(
                value.span,
                "sends the value of an expansion to another machine",
            );
        }
        let text = value.text.to_ascii_lowercase();
        if let Some(rest) = text.strip_prefix("sendenv") {
            let harmless = |name: &str| name.starts_with("lang") || name.starts_with("lc_");
            if !rest.trim_matches([' ', '=']).split(' ').all(harmless) {
                analysis.require_confirmation(value.span, "sends variables to another machine");
            }
        }
    }
    let runs_no_command = call.has_option(&["-N", "-f"]);
    if operands.len() > 1 && !runs_no_command {
        if !call.has_option(&["-n"]) {
            check_sent_input(&mut analysis, call, whole, input);
        }
        analysis.with_effect(Effect::Read)
    } else if let (1, false, Input::Known(text)) = (operands.len(), runs_no_command, input)
        && !call.has_option(&["-W"])
    {
        // The shell there runs its input.
        analysis.run_shell_text(&Arg::new(text.clone(), whole), &Input::Unknown);
        analysis.with_effect(Effect::Read)
    } else {
        analysis
    }
}

/// Analyzes `adb shell`, which starts a server and runs its words as a text in the shell of a device. The
/// programs that only devices have are in the tables under `adb shell NAME`.
pub(super) fn adb_shell(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    note_options(&mut analysis, call);
    analysis.add_finding(
        Effect::Create,
        whole,
        "`adb` starts a server that continues",
    );
    let Some(text) = join_words(&operand_words(call)) else {
        if let Input::Known(text) = input {
            analysis.run_shell_text(&Arg::new(text.clone(), whole), &Input::Unknown);
        }
        return analysis;
    };
    let is_plain = |c: char| c.is_alphanumeric() || " ._-/:=,+@%".contains(c);
    let mut words = text.text.split_whitespace();
    let name = format!("{} {}", call.path, words.next().unwrap_or_default());
    if let Some(program) = context.tables.program(&name)
        && text.text.chars().all(is_plain)
    {
        let words: Vec<Arg> = words.map(|word| text.with_text(word)).collect();
        let output = analysis.run_call(Call::read(&name, program, &words), whole, input);
        return analysis.done_with(output);
    }
    let output = analysis.run_shell_text(&text, input);
    analysis.done_with(output)
}

/// Analyzes a command of Mercurial, for which `chg` starts a server.
pub(super) fn command_server(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.path.split(' ').next() == Some("chg") {
        analysis.add_finding(
            Effect::Create,
            whole,
            "`chg` starts a server that continues",
        );
    }
    analysis
}

/// Analyzes `rsync`, for which `-e` names the program that connects.
pub(super) fn rsync(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let plain = |arg: &Arg| {
        let mut words = arg.text.split_whitespace();
        words.next() == Some("ssh")
            && {
                let rest: Vec<&str> = words.collect();
                rest.iter().all(|w| {
                    !w.to_ascii_lowercase().contains("command")
                        && !w.starts_with("-F")
                        && !w.contains(['`', '$', ';', '|', '&'])
                })
            }
            && arg.is_known()
    };
    let shells = |name: &str| name == "-e" || name == "--rsh";
    if call
        .options
        .iter()
        .any(|g| shells(&g.name) && g.value.as_ref().is_some_and(plain))
    {
        // Read again without these words, which have no effect.
        let mut rest = Vec::new();
        let mut words = call.args.iter();
        while let Some(word) = words.next() {
            if word.text == "-e" || word.text == "--rsh" {
                words.next();
            } else if word.text.starts_with("--rsh=")
                || (word.text.starts_with("-e") && word.text.len() > 2)
            {
                continue;
            } else if word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.ends_with('e')
                && word.text.len() > 2
            {
                rest.push(word.with_text(&word.text[..word.text.len() - 1]));
                words.next();
            } else {
                rest.push(word.clone());
            }
        }
        let inner = Call::read(&call.path, call.program, &rest);
        let output = analysis.run_call(inner, whole, input);
        return analysis.done_with(output);
    }
    let lists = |opt: &&ParsedOption| LISTING_OPTIONS.contains(&opt.name.as_str());
    if let Some(opt) = call.options.iter().find(lists)
        && let Some(host) = call
            .operands
            .iter()
            .find_map(|o| host_of_remote_path(&o.arg))
    {
        let reason = format!("`rsync` sends the contents of a file to `{host}`");
        analysis.require_confirmation(opt.span, reason);
    }
    if call.operands.len() == 1 {
        analysis.with_effect(Effect::Read)
    } else {
        analysis
    }
}

/// Options of `rsync` with files whose lines are sent to the other machine.
const LISTING_OPTIONS: &[&str] = &[
    "--files-from",
    "--exclude-from",
    "--include-from",
    "--early-input",
];

/// Analyzes a program that sends its input over the network; the request in the input decides the
/// effect.
pub(super) fn sends_input(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    // A probe of `nc` sends nothing.
    if call.has_option(&["-z"]) {
        return analysis;
    }
    check_sent_input(&mut analysis, call, whole, input);
    if let Input::Known(text) = input {
        let effect = protocol_effect(text);
        if effect > Effect::Read {
            let reason = format!("`{}` sends a request that is more than a read", call.path);
            analysis.add_finding(effect, whole, reason);
        }
    }
    analysis
}

/// Returns the effect of text that is sent to a server: requests of HTTP, greetings and goodbyes
/// are known. Any other text may be a command of any protocol.
fn protocol_effect(text: &str) -> Effect {
    let mut in_head = false;
    let mut strongest = method_of_headers(text).unwrap_or(Effect::Read);
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let first = words.first().map_or("", |word| *word);
        let is_header = line.split(':').next().is_some_and(|name| {
            name.len() < line.len() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        });
        match words.as_slice() {
            [] => in_head = false,
            [name, _, version] if version.starts_with("HTTP/") => {
                in_head = true;
                strongest = strongest.max(effect_of_method(name));
            }
            _ if in_head && is_header => {}
            _ if GREETINGS
                .iter()
                .any(|word| first.eq_ignore_ascii_case(word)) => {}
            ["DELETE", target] if target.starts_with('/') => strongest = Effect::Delete,
            _ => strongest = strongest.max(Effect::Create),
        }
    }
    strongest
}

/// First words of lines that change nothing, in any protocol.
const GREETINGS: &[&str] = &[
    "quit",
    "q",
    "exit",
    "ehlo",
    "helo",
    "lhlo",
    "noop",
    "capability",
];

/// Requires confirmation for unknown input that is sent to another machine.
pub(super) fn check_sent_input(analysis: &mut Analysis, call: &Call, whole: Span, input: &Input) {
    if *input == Input::Unknown {
        analysis.require_confirmation(whole, format!("`{}` sends its input", call.path));
    }
}
