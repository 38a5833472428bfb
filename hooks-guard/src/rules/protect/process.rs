//! Protects the guard's process. In: a part of a command. Out: whether the part may stop or inspect
//! the guard.

use regex::RegexBuilder;

use super::protection::{Protection, active};
use crate::classify::{ControlTarget, Part, UNKNOWN};

/// Names of the process.
const NAMES: &[&str] = &[
    "hooks-guard",
    "hooks-guard serve",
    "/usr/local/bin/hooks-guard serve --listen 127.0.0.1:3000",
];

/// `controls` has the targets that the part controls, by the tables.
pub(super) fn protection(
    part: &Part,
    controls: &[ControlTarget],
    pid: Option<u32>,
) -> Option<Protection> {
    let looks = controls.contains(&ControlTarget::InspectedProcesses);
    // Inspecting the process needs confirmation, too.
    if controls.is_empty() || !looks && !active(part) {
        return None;
    }
    let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
    let (_, rest) = words.split_first()?;
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    let unknown =
        part.has_substitutions || part.words.iter().any(|word| word.text.contains(UNKNOWN));
    let own = |word: &&str| pid.is_some_and(|pid| word.parse() == Ok(u64::from(pid)));
    let is_hit = |target: &ControlTarget| match target {
        ControlTarget::ProcessIds => {
            // A process group, or all processes.
            let group = rest.iter().skip(1).any(|word| {
                word.strip_prefix('-').is_some_and(|number| {
                    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            });
            unknown || group || operands().any(|word| own(word) || *word == "0")
        }
        ControlTarget::ProcessPatterns => {
            let mut patterns = operands().peekable();
            let inverse = rest.iter().any(|word| matches!(*word, "-v" | "--inverse"));
            unknown
                || inverse
                || patterns.peek().is_none()
                || patterns.any(|text| pattern_matches_guard(text))
        }
        ControlTarget::AllProcesses => true,
        ControlTarget::Services => unknown || rest.iter().any(|word| fits_unit(word)),
        ControlTarget::ProcessNames => {
            unknown || operands().any(|word| own(word) || word.to_lowercase().contains("guard"))
        }
        ControlTarget::InspectedProcesses => {
            let own = |word: &&str| own(word) || joined(word).is_some_and(|word| own(&word));
            unknown || rest.iter().any(own)
        }
        _ => false,
    };
    let hit = controls.iter().any(is_hit);
    hit.then_some(Protection::Process)
}

/// Returns the value attached to an option: `-p123`, `--pid=123`.
fn joined(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('-')?;
    Some(rest.trim_start_matches(|c: char| !c.is_ascii_digit()))
}

/// Returns `true` if a process pattern matches the guard's process.
fn pattern_matches_guard(pattern: &str) -> bool {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(1 << 18)
        .build();
    // An invalid pattern may match.
    built.map_or(true, |regex| NAMES.iter().any(|name| regex.is_match(name)))
}

/// Returns `true` if a systemd unit may be the guard's; patterns count.
fn fits_unit(word: &str) -> bool {
    let word = word.to_lowercase();
    word.contains("hooks-guard") || (word.contains(['*', '?', '[']) && !word.starts_with('-'))
}
