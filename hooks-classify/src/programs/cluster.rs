//! `kubectl` and `ansible`: a call in, the secrets that it shows and the commands that it runs out.

use super::effect::prints_help_or_version;
use crate::analysis::{Analysis, Context};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `kubectl get`, which may show the values of secrets.
pub(super) fn kubectl_get(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let kind = |text: &str| {
        text.split(',').any(|part| {
            let name = part.split(['/', '.']).next().unwrap_or(part);
            ["secret", "secrets"].contains(&name.to_ascii_lowercase().as_str())
        })
    };
    let named = call.operands.iter().any(|operand| kind(&operand.arg.text));
    let full = call.options.iter().any(|opt| {
        let value = opt.value.as_ref().map_or("", |v| v.text.as_str());
        match opt.name.as_str() {
            "-o" | "--output" => !matches!(value, "name" | "wide"),
            "--template" => true,
            _ => false,
        }
    });
    let raw = call.options.iter().any(|opt| {
        opt.name == "--raw"
            && opt
                .value
                .as_ref()
                .is_some_and(|v| v.text.contains("/secrets"))
    });
    if (named && full) || raw {
        analysis.require_confirmation(
            whole,
            format!("`{}` shows the values of secrets", call.path),
        );
    }
    analysis
}

/// Analyzes `etcdctl get`, which may print the secrets of Kubernetes.
pub(super) fn etcd_get(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["--keys-only", "--count-only"]) {
        return analysis;
    }
    let is_range = call.operands.len() > 1 || call.has_option(&["--prefix", "--from-key"]);
    let holds_secrets = |key: &str| {
        key.to_ascii_lowercase().contains("secret")
            || is_range && "/registry/secrets/".starts_with(key)
            || call.has_option(&["--from-key"])
    };
    let mut keys = call.operands.iter().map(|operand| &operand.arg);
    if keys.any(|key| holds_secrets(&key.text) || is_range && !key.is_known()) {
        analysis.require_confirmation(whole, format!("`{}` prints secrets", call.path));
    }
    analysis
}

/// Notes templates, and variables that name programs.
fn note_templates(analysis: &mut Analysis, call: &Call) {
    for opt in &call.options {
        let Some(value) = &opt.value else { continue };
        let text = value.text.as_str();
        let template = text.contains("{{") || text.contains("{%");
        let code = match opt.name.as_str() {
            "-a" | "--args" => template,
            "-e" | "--extra-vars" => {
                template
                    || text.contains("ansible_")
                    || text.contains('\\')
                    || text.starts_with('@')
                    || !value.is_known()
            }
            _ => false,
        };
        if code {
            analysis.add_finding(
                Effect::Code,
                value.span,
                format!(
                    "the value of `{}` may make `{}` run code",
                    call.path, opt.name
                ),
            );
        }
    }
}

/// Analyzes a command of `ansible` whose variables count even where a playbook is only listed.
pub(super) fn ansible_vars(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_templates(&mut analysis, call);
    analysis
}

/// Analyzes `ansible`, of which the module decides the effect.
pub(super) fn ansible(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["--tree", "-t"]) {
        analysis.add_finding(
            Effect::Create,
            call.args.first().map_or_else(Span::default, |arg| arg.span),
            "`ansible` writes what it found",
        );
    }
    note_templates(&mut analysis, call);
    if !prints_help_or_version(call) {
        analysis.add_finding(
            Effect::Code,
            call.args.first().map_or_else(Span::default, |arg| arg.span),
            "`ansible.cfg` of the folder may name programs that `ansible` runs",
        );
    }
    let value = |names: [&str; 2]| {
        call.options
            .iter()
            .rev()
            .find(|g| names.contains(&g.name.as_str()))
            .and_then(|g| g.value.clone())
    };
    let module = value(["-m", "--module-name"]);
    let name = module.as_ref().map_or("command", |m| m.text.as_str());
    let name = name.rsplit('.').next().unwrap_or(name);
    let arguments = value(["-a", "--args"]);
    let text = arguments.as_ref().map_or("", |a| a.text.as_str());
    // They print or check an expression, which may look up anything.
    if matches!(name, "debug" | "assert") && text.contains(['(', '[', '{', '|', '\\']) {
        return analysis.with_effect(Effect::Code);
    }
    if name == "slurp"
        && let Some(arguments) = &arguments
    {
        for word in arguments.text.split_whitespace() {
            let file = word.split_once('=').map_or(word, |(_, file)| file);
            analysis.read_file(&arguments.with_text(file.trim_matches(['"', '\''])));
        }
    }
    match name {
        "ping" | "setup" | "debug" | "stat" | "gather_facts" | "service_facts"
        | "package_facts" | "find" | "slurp" | "getent" | "assert" => {
            analysis.with_effect(Effect::Read)
        }
        "command" | "shell" | "raw" | "win_shell" | "win_command" => match arguments {
            Some(arguments) => {
                let words: Vec<&str> = arguments
                    .text
                    .split(' ')
                    .skip_while(|w| {
                        ["chdir=", "creates=", "removes=", "executable="]
                            .iter()
                            .any(|p| w.starts_with(p))
                    })
                    .collect();
                analysis.run_shell_text(&arguments.with_text(&words.join(" ")), &Input::Unknown);
                analysis.with_effect(Effect::Read)
            }
            None => analysis.with_effect(Effect::Unknown),
        },
        "file" if arguments.is_some_and(|a| a.text.contains("state=absent")) => {
            analysis.with_effect(Effect::Delete)
        }
        _ => analysis.with_effect(Effect::Create),
    }
}
