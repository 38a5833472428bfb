//! Settings of a call: `KEY=VALUE` in, `true` out if the setting changes the programs that run.

use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::value::Value;
use crate::options::call::Call;
use crate::tables::matches;

/// Notes a variable that a call sets for the program that it runs.
pub(super) fn note_variable(analysis: &mut Analysis, name: &str, value: &Arg) {
    if name.contains(UNKNOWN) {
        let reason = "which variable is set is only known when it runs";
        analysis.add_finding(Effect::Code, value.span, reason);
    }
    analysis.check_variable(name, value);
}

/// Notes a setting `KEY=VALUE`.
pub(super) fn note_setting(analysis: &mut Analysis, call: &Call, arg: &Arg) {
    let (key, value) = arg.text.split_once('=').unwrap_or((&arg.text, "true"));
    let key = key.to_ascii_lowercase();
    let pair = format!("{key}={value}");
    let harmless = |pattern: &&str| {
        let pattern = pattern.to_ascii_lowercase();
        if pattern.contains('=') {
            matches(&pattern, &pair) && !value.contains(['!', ';', '|', '&', '`', '$', UNKNOWN])
        } else {
            matches(&pattern, &key)
        }
    };
    if !key.contains(UNKNOWN) && call.program.details.harmless_config.iter().any(harmless) {
        return;
    }
    let path = &call.path;
    // Without a list in its table, the program sets environment variables.
    let name = arg.text.split('=').next().unwrap_or("");
    let plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == UNKNOWN);
    let contained = ["docker", "podman", "nerdctl", "kubectl"]
        .iter()
        .any(|name| call.path.starts_with(name));
    if (call.program.details.harmless_config.is_empty() || contained) && plain {
        note_variable(analysis, name, &arg.with_text(value));
        // A shell that it starts may compute the value.
        analysis.add_inherited_value(value);
        analysis.set_variable(name, Value::Unknown);
        return;
    }
    analysis.add_finding(
        Effect::Code,
        arg.span,
        format!("`{path}` sets `{key}`, which may run other code"),
    );
    analysis.record_config_override();
    let command = value.trim_start_matches('!');
    let runs = value.starts_with('!')
        || [
            "pager",
            "editor",
            "command",
            "alias",
            "exec",
            "helper",
            "textconv",
            "external",
            "fsmonitor",
            "askpass",
            "program",
            "driver",
            "smudge",
            "clean",
            "process",
            "invoke",
        ]
        .iter()
        .any(|w| key.contains(w));
    if runs && !command.is_empty() {
        analysis.run_shell_text(&arg.with_text(command), &Input::Unknown);
    }
}
