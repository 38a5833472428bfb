//! Programs about the machine: a call in, its effect out: it shows facts, or it changes settings.

use super::effect::operand_words;
use crate::analysis::{Analysis, Context};
use crate::model::arg::UNKNOWN;
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::{Call, ParsedOption};

/// Analyzes `PlistBuddy`, of which the commands in `-c` decide the effect.
pub(super) fn plist_commands(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let commands = call.options.iter().filter(|opt| opt.name == "-c");
    let effect = commands
        .filter_map(|opt| opt.value.as_ref())
        .map(|command| {
            let name = command.text.split_whitespace().next().unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "print" if command.is_known() && !command.text.contains('\n') => Effect::Read,
                "delete" | "clear" => Effect::Delete,
                _ => Effect::Update,
            }
        });
    match effect.max() {
        Some(effect) => analysis.with_effect(effect),
        None => analysis,
    }
}

/// Analyzes `sysctl`, which sets values by `NAME=VALUE`.
pub(super) fn sysctl(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let sets = call
        .operands
        .iter()
        .any(|operand| operand.arg.text.contains('=') || !operand.arg.is_known());
    if sets {
        analysis.with_effect(Effect::Update)
    } else {
        analysis
    }
}

/// Analyzes `smartctl`, for which some logs of `-l` take numbers and set values.
pub(super) fn smartctl(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in &call.options {
        let Some(value) = &opt.value else { continue };
        let log = value.text.to_ascii_lowercase();
        if ["-l", "--log"].contains(&opt.name.as_str())
            && (log.starts_with("scterc,") || log.starts_with("scttempint") || !value.is_known())
        {
            analysis.add_finding(
                Effect::Update,
                value.span,
                format!("`smartctl` may set `{log}`"),
            );
        }
    }
    analysis
}

/// Analyzes `ldd`, which runs the loader that a program names.
pub(super) fn ldd(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    const SYSTEM_FOLDERS: &[&str] = &[
        "/usr/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib32/",
        "/lib64/",
        "/nix/store/",
        "/gnu/store/",
    ];
    for operand in operand_words(call) {
        let text = operand.text.as_str();
        let known = operand.is_known()
            && SYSTEM_FOLDERS.iter().any(|folder| text.starts_with(folder))
            && !text.split('/').any(|part| part == "..");
        if !known && !call.has_option(&["--help", "--version"]) {
            analysis.add_finding(
                Effect::Code,
                operand.span,
                "`ldd` may run the program that it looks at",
            );
        }
    }
    analysis
}

/// Analyzes `nft`, of which the first word of each command decides the effect.
pub(super) fn nft(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let text = operand_words(call)
        .iter()
        .map(|arg| arg.text.clone())
        .collect::<Vec<_>>()
        .join(" ");
    let effect = text
        .split([';', '\n'])
        .filter_map(|part| part.split_whitespace().next())
        .map(|word| match word {
            "list" | "describe" | "monitor" => Effect::Read,
            "delete" | "destroy" | "flush" | "reset" => Effect::Delete,
            _ => Effect::Update,
        })
        .max();
    let Some(effect) = effect else {
        return analysis;
    };
    let changes = |opt: &ParsedOption| matches!(opt.spec.effect, Some(OptionEffect::AtLeast(_)));
    analysis.with_effect(match call.options.iter().any(changes) {
        true => effect.max(Effect::Update),
        false => effect,
    })
}

/// Analyzes a program that controls services, which only reads with `status`.
pub(super) fn service(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let words = operand_words(call);
    let at = usize::from(call.path != "sv");
    let status = words.get(at).is_some_and(|arg| arg.text == "status");
    if status {
        analysis.with_effect(Effect::Read)
    } else {
        analysis
    }
}

/// Analyzes `debugfs`, of which some requests only print.
pub(super) fn debugfs(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    const PRINTS: &[&str] = &[
        "stat",
        "ls",
        "cat",
        "stats",
        "show_super_stats",
        "blocks",
        "bmap",
        "ncheck",
        "icheck",
        "testi",
        "testb",
        "imap",
        "extents",
        "ex",
        "lsdel",
        "ea_list",
        "ea_get",
        "features",
        "htree",
        "pwd",
        "dump_extents",
        "show_inode_info",
        "supported_features",
        "filefrag",
    ];
    let requests: Vec<_> = call.options.iter().filter(|g| g.name == "-R").collect();
    if requests.is_empty() {
        return analysis.with_effect(Effect::Code);
    }
    for opt in requests {
        if let Some(value) = &opt.value {
            let first = value.text.split_whitespace().next().unwrap_or("");
            if !PRINTS.contains(&first) || value.text.contains(UNKNOWN) {
                analysis.add_finding(
                    Effect::Code,
                    value.span,
                    format!("`debugfs` runs its command `{first}`"),
                );
            }
        }
    }
    analysis
}
