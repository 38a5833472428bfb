//! Settings that a call gives a program, and the remote repositories that it names.

use crate::classify::judge::redirect::shown;
use crate::classify::judge::{Arg, Input, Judge, UNKNOWN};
use crate::classify::tables::{Call, Effect, matches};

impl Judge<'_> {
    /// Addresses that name programs: `ext::COMMAND` and other helpers of git,
    /// `:backend,key=value:` of rclone.
    pub(super) fn remotes(&mut self, call: &Call) {
        let helpers = [
            "git ls-remote",
            "git fetch",
            "git clone",
            "git pull",
            "git push",
            "git archive",
            "git remote",
            "git remote show",
            "git remote update",
            "git submodule",
        ]
        .contains(&call.path.as_str());
        let clouds = call.path.starts_with("rclone ");
        let formulae = call.path.starts_with("brew ");
        if !helpers && !clouds && !formulae {
            return;
        }
        let values = call.options.iter().filter_map(|given| given.value.as_ref());
        for arg in call
            .operands
            .iter()
            .map(|operand| &operand.arg)
            .chain(values)
        {
            let command = match arg.text.split_once("::") {
                Some(("ext", command)) if helpers => Some(command.to_owned()),
                Some((name, _)) if helpers && name.chars().all(char::is_alphanumeric) => {
                    Some(String::new())
                }
                _ if formulae => {
                    (arg.text.ends_with(".rb") || arg.text.contains("://")).then(String::new)
                }
                _ => (clouds && arg.text.contains(',') && arg.text.contains('=')).then(String::new),
            };
            let Some(command) = command else { continue };
            self.find(
                Effect::Code,
                arg.span,
                format!("`{}` may name a program", shown(arg)),
            );
            if !command.is_empty() {
                self.shell_text(&arg.with(&command), &Input::Unknown);
            }
        }
    }

    pub(super) fn config(&mut self, call: &Call, arg: &Arg) {
        let (key, value) = arg.text.split_once('=').unwrap_or((&arg.text, "true"));
        let key = key.to_ascii_lowercase();
        let pair = format!("{key}={value}");
        let harmless = |pattern: &String| {
            let pattern = pattern.to_ascii_lowercase();
            if pattern.contains('=') {
                matches(&pattern, &pair) && !value.contains(['!', ';', '|', '&', '`', '$', UNKNOWN])
            } else {
                matches(&pattern, &key)
            }
        };
        if !key.contains(UNKNOWN) && call.program.harmless_config.iter().any(harmless) {
            return;
        }
        let path = &call.path;
        // Without a list of its own the program sets variables of an environment.
        let name = arg.text.split('=').next().unwrap_or("");
        let plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == UNKNOWN);
        let contained = ["docker", "podman", "nerdctl", "kubectl"]
            .iter()
            .any(|name| call.path.starts_with(name));
        if (call.program.harmless_config.is_empty() || contained) && plain {
            if name.contains(UNKNOWN) {
                self.find(
                    Effect::Code,
                    arg.span,
                    "which variable is set is only known when it runs",
                );
            }
            self.sets(name, &arg.with(value));
            return;
        }
        self.find(
            Effect::Code,
            arg.span,
            format!("`{path}` is told `{key}`, which may change what runs"),
        );
        self.parts.told();
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
            self.shell_text(&arg.with(command), &Input::Unknown);
        }
    }
}
