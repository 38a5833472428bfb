//! Commands of the guard, and commands that control what runs. In: a part of a command. Out: the
//! protection that it touches.

use super::super::context::base_name;
use super::protection::{Protection, active};
use crate::classify::{ControlTarget, Part};

/// Commands of the guard that change nothing.
const HARMLESS: &[&str] = &["check", "explain", "help"];

/// `controls` has the targets that the part controls, by the tables.
pub(super) fn protection(part: &Part, controls: &[ControlTarget]) -> Option<Protection> {
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
    controls.iter().find_map(|target| match target {
        ControlTarget::Git => Some(Protection::Git),
        ControlTarget::Schedule => Some(Protection::Later),
        ControlTarget::LoginShell => Some(Protection::ShellStart),
        ControlTarget::Ssh => Some(Protection::Ssh),
        ControlTarget::Programs => Some(Protection::Programs),
        _ => None,
    })
}

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
