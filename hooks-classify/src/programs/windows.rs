//! PowerShell, the command shell and programs of Windows: a call in, the commands that it runs and its
//! changes out.

use super::graphql::note_body;
use super::words_as_text::join_words_at;
use crate::analysis::{Analysis, Context};
use crate::languages::powershell;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// Analyzes `netsh show`, which shows passwords with `key=clear`; the name may be left out and the
/// value shortened.
pub(super) fn netsh_show(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for arg in &call.args {
        let text = arg.text.to_ascii_lowercase();
        let (_, value) = text.rsplit_once('=').unwrap_or(("", &text));
        if !arg.is_known() || (!value.is_empty() && "clear".starts_with(value)) {
            analysis.require_confirmation(arg.span, "`netsh` shows passwords");
        }
    }
    analysis
}

/// Analyzes PowerShell, which runs the text or the file among its words, or its input.
pub(super) fn powershell(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let name = call.path.trim_end_matches(".exe");
    if name != "powershell" && name != "pwsh" {
        let mut text = call.path.clone();
        for arg in &call.args {
            text.push(' ');
            text.push_str(&arg.text);
        }
        // `$_` is a variable of PowerShell here, not of this shell.
        analysis.run_script(
            Language::PowerShell,
            &Arg::new(text.replace(UNKNOWN, "$_"), whole),
            call,
        );
        return analysis.done();
    }
    let valued = [
        "executionpolicy",
        "ep",
        "ex",
        "windowstyle",
        "w",
        "outputformat",
        "o",
        "of",
        "inputformat",
        "if",
        "configurationname",
        "workingdirectory",
        "wd",
        "version",
        "psconsolefile",
        "settingsfile",
        "custompipename",
    ];
    let flags = [
        "noprofile",
        "nop",
        "noninteractive",
        "noni",
        "nologo",
        "nol",
        "noexit",
        "noe",
        "login",
        "l",
        "mta",
        "sta",
    ];
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        let text = arg.text.to_ascii_lowercase().replace('\u{2013}', "-");
        let Some(option) = text.strip_prefix(['-', '/']) else {
            break;
        };
        at += 1;
        let option = option.trim_start_matches('-');
        let begins = |long: &str, least: usize| option.len() >= least && long.starts_with(option);
        if option.is_empty() {
            break;
        }
        if ["help", "h", "?", "v"].contains(&option) {
            analysis.add_finding(Effect::Read, whole, "PowerShell prints help");
            return analysis.done();
        }
        if begins("command", 1) {
            let rest = &call.args[at..];
            if rest.first().is_some_and(|arg| arg.text == "-") {
                return run_input(analysis, call, whole, input);
            }
            run_words(&mut analysis, call, rest, whole);
            return analysis.done();
        }
        if begins("encodedcommand", 1) || option == "ec" {
            match call.args.get(at) {
                Some(value) => match powershell::decode_command(&value.text) {
                    Some(text) => {
                        analysis.add_finding(Effect::Code, value.span, "an encoded command");
                        analysis.run_script(Language::PowerShell, &value.with_text(&text), call);
                    }
                    None => analysis.add_finding(
                        Effect::Code,
                        value.span,
                        "an encoded command that cannot be read",
                    ),
                },
                None => {
                    analysis.add_finding(Effect::Unknown, arg.span, "an option without its value")
                }
            }
            return analysis.done();
        }
        if begins("file", 1) {
            if let Some(file) = call.args.get(at) {
                analysis.record_code_file(file);
            }
            analysis.add_finding(
                Effect::Code,
                whole,
                "PowerShell runs the contents of a file",
            );
            return analysis.done();
        }
        if valued
            .iter()
            .any(|v| *v == option || (v.len() > 3 && option.len() > 2 && v.starts_with(option)))
        {
            at += 1;
        } else if !flags
            .iter()
            .any(|v| *v == option || (v.len() > 4 && option.len() > 2 && v.starts_with(option)))
        {
            analysis.add_finding(
                Effect::Unknown,
                arg.span,
                format!("unknown option `{}` of PowerShell", arg.text),
            );
        }
    }
    let rest = &call.args[at.min(call.args.len())..];
    if rest.is_empty() {
        return run_input(analysis, call, whole, input);
    }
    if name == "pwsh" {
        analysis.record_code_file(&rest[0]);
        analysis.add_finding(
            Effect::Code,
            rest[0].span,
            "PowerShell runs the contents of a file",
        );
    } else {
        run_words(&mut analysis, call, rest, whole);
    }
    analysis.done()
}

/// Runs words as a text of PowerShell.
fn run_words(analysis: &mut Analysis, call: &Call, words: &[Arg], whole: Span) {
    let span = words
        .first()
        .map_or(whole, |first| Span::new(first.span.start, whole.end));
    analysis.run_script(Language::PowerShell, &join_words_at(words, span), call);
}

/// Runs the input as a text of PowerShell.
fn run_input(mut analysis: Analysis, call: &Call, whole: Span, input: &Input) -> Analysis {
    match input {
        Input::Known(text) => {
            analysis.run_script(Language::PowerShell, &Arg::new(text.clone(), whole), call)
        }
        _ => analysis.add_unseen_code(whole, UnseenCode::Input, "PowerShell runs its input"),
    }
    analysis.done()
}

/// Analyzes the command shell of Windows, which runs the words after `/c`.
pub(super) fn cmd(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let at = call.args.iter().position(|arg| {
        matches!(
            arg.text.to_ascii_lowercase().as_str(),
            "/c" | "/k" | "/r" | "//c"
        )
    });
    let Some(at) = at else {
        analysis.add_finding(Effect::Code, whole, "opens a shell");
        return analysis.done();
    };
    let words = &call.args[at + 1..];
    analysis.run_script(Language::Cmd, &join_words_at(words, whole), call);
    analysis.done()
}

/// Analyzes a request of PowerShell.
pub(super) fn request(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut text = call.path.clone();
    for arg in &call.args {
        text.push(' ');
        text.push_str(&arg.text);
        note_body(&mut analysis, &call.path, arg);
        if !arg.is_known() {
            analysis
                .require_confirmation(arg.span, "sends the value of an expansion over the network");
        }
    }
    analysis.run_script(Language::PowerShell, &Arg::new(text, whole), call);
    analysis.done()
}

/// Analyzes `wmic`, of which the verb among its words decides the effect.
pub(super) fn wmic(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let words: Vec<String> = call
        .args
        .iter()
        .map(|arg| arg.text.to_ascii_lowercase())
        .collect();
    let mut skip = false;
    for word in &words {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word.as_str() {
            "where" => skip = true,
            "/?" => return analysis.with_effect(Effect::Read),
            "get" | "list" => {
                let writes = words
                    .iter()
                    .any(|w| w.starts_with("/output:") || w.starts_with("/append:"));
                return analysis.with_effect(if writes { Effect::Create } else { Effect::Read });
            }
            "create" => return analysis.with_effect(Effect::Create),
            "call" | "set" => return analysis.with_effect(Effect::Update),
            "delete" => return analysis.with_effect(Effect::Delete),
            _ => {}
        }
    }
    analysis
}

/// Analyzes `wsl`, which opens a shell without words.
pub(super) fn wsl(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let lists = call.has_option(&["-l", "--list", "--status", "-v", "--version", "--help"]);
    let verbs = call
        .options
        .iter()
        .any(|opt| opt.spec.effect.is_some() || !opt.command.is_empty());
    if call.operands.is_empty() && !lists && !verbs {
        analysis.with_effect(Effect::Code)
    } else {
        analysis
    }
}
