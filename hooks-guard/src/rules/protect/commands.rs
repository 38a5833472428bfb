//! Commands that are protected by name. In: a part of a command. Out: the protection that it
//! touches.

use super::super::context::base_name;
use super::protection::{Protection, active};
use crate::classify::Part;

/// Commands of the guard that change nothing.
const HARMLESS: &[&str] = &["check", "explain", "help"];

pub(super) fn protection(part: &Part) -> Option<Protection> {
    let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
    let (first, rest) = words.split_first()?;
    let plain = base_name(first).to_ascii_lowercase();
    let name = plain.strip_suffix(".exe").unwrap_or(&plain);
    if is_own_command(name) {
        return (!harmless(rest)).then_some(Protection::Commands);
    }
    if !active(part) {
        return None;
    }
    if let Some(at) = rest.iter().position(|word| binary(word)) {
        // Building or testing the package of this name does not run the guard.
        let package = at > 0 && matches!(rest[at - 1], "-p" | "--package");
        let builds = [
            "build", "test", "check", "clippy", "doc", "bench", "fmt", "nextest", "t", "b", "c",
        ];
        if !(package && name == "cargo" && rest.iter().any(|word| builds.contains(word))) {
            return Some(Protection::Commands);
        }
    }
    let first = rest
        .iter()
        .find(|word| !word.starts_with('-'))
        .copied()
        .unwrap_or("");
    let git = part
        .calls
        .iter()
        .any(|call| call.path.starts_with(&["git".into(), "config".into()]));
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    let installs = has(&["install", "init", "add", "set", "update"]);
    match name {
        "git" if git || first == "config" || part.has_config_override => Some(Protection::Git),
        "git" if first == "lfs" && has(&["install", "update"]) => Some(Protection::Git),
        "git"
            if rest.iter().any(|word| {
                word.starts_with("--exec-path=")
                    || word.starts_with("--config-env")
                    || word.starts_with("--template")
            }) =>
        {
            Some(Protection::Git)
        }
        "pre-commit" | "lefthook" | "husky" | "git-lfs" | "simple-git-hooks"
            if installs || first.is_empty() =>
        {
            Some(Protection::Git)
        }
        "npx" | "bunx" | "pnpx" if matches!(first, "husky" | "lefthook" | "simple-git-hooks") => {
            Some(Protection::Git)
        }
        "crontab" | "at" | "batch" | "systemd-run" | "schtasks" | "anacron" | "fcrontab" => {
            Some(Protection::Later)
        }
        "systemctl" if has(LATER_UNITS) => Some(Protection::Later),
        "launchctl"
            if has(&[
                "load",
                "bootstrap",
                "submit",
                "enable",
                "kickstart",
                "setenv",
            ]) =>
        {
            Some(Protection::Later)
        }
        "loginctl" if has(&["enable-linger"]) => Some(Protection::Later),
        "chsh" => Some(Protection::ShellStart),
        "usermod" if has(&["-s", "--shell"]) => Some(Protection::ShellStart),
        "ssh-copy-id" | "ssh-add" | "ssh-keygen" => Some(Protection::Ssh),
        "update-alternatives" | "visudo" => Some(Protection::Programs),
        _ => None,
    }
}

const LATER_UNITS: &[&str] = &[
    "enable",
    "reenable",
    "link",
    "edit",
    "revert",
    "preset",
    "preset-all",
    "add-wants",
    "add-requires",
    "set-property",
    "import-environment",
    "set-environment",
    "daemon-reload",
    "set-default",
];

/// Returns `true` if a word names the guard's program. A directory may have this name, too.
fn binary(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let above = word.rsplit(['/', '\\']).nth(1);
    let folders = ["bin", "sbin", "debug", "release", "shims"];
    is_own_command(base_name(&word)) && above.is_none_or(|above| folders.contains(&above))
}

fn is_own_command(name: &str) -> bool {
    matches!(name, "hooks-guard" | "hooks-guard.exe")
}

/// Returns `true` if the words after the guard's name only display something.
fn harmless(words: &[&str]) -> bool {
    let facts = ["--help", "-h", "--version", "-V"];
    match words {
        [] => true,
        [first, ..] if HARMLESS.contains(first) => true,
        all => all.len() == 1 && facts.contains(&all[0]),
    }
}
