//! What rules allow.

use super::paths::Holds;
use super::rule::Rule;
use super::scene::{Scene, base_name};
use crate::classify::{Method, Part, UNKNOWN};
use crate::request::{FileAccess, NetworkAccess};

/// The rules that allow a file tool all that it wants; an error says what none allows.
pub(super) fn files<'r>(
    scene: &Scene<'_>,
    file: &FileAccess,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let mut used: Vec<&Rule> = Vec::new();
    if file.paths.is_empty() {
        return Err("it names no file".to_owned());
    }
    for path in &file.paths {
        let text = path.to_string_lossy();
        let rule = rules
            .iter()
            .find(|rule| rule.of_file(scene, file, &text) == Holds::Yes)
            .ok_or_else(|| format!("no rule allows `{}` of `{text}`", file.tool))?;
        if !used.iter().any(|other| other.place == rule.place) {
            used.push(rule);
        }
    }
    Ok(used)
}

/// The rule that allows access to the network; an error says that there is none.
pub(super) fn network<'r>(
    scene: &Scene<'_>,
    access: &NetworkAccess,
    rules: &[&'r Rule],
) -> Result<Vec<&'r Rule>, String> {
    let allows = |rule: &&&Rule| rule.of_network(scene, access) == Holds::Yes;
    let rule = rules.iter().find(allows);
    rule.map(|rule| vec![*rule])
        .ok_or_else(|| format!("no rule allows the host `{}`", access.host))
}

/// The rules that allow every part of a command; an error says what none allows, or what makes
/// every allow void.
pub(super) fn parts<'r>(scene: &Scene<'_>, rules: &[&'r Rule]) -> Result<Vec<&'r Rule>, String> {
    let parts = scene.parts();
    let verdict = &scene.found.classification;
    let strongest = parts.all.iter().map(|part| part.effect).max();
    let void = if !parts.agreed {
        Some("it is not certain what would run")
    } else if !parts.complete || verdict.method == Method::Fallback {
        Some("there is too much in it to follow")
    } else if parts.functions || parts.all.iter().any(|part| name_of(part) == "alias") {
        Some("it defines functions or aliases")
    } else if parts.effect_outside_parts.is_some()
        || strongest.is_none_or(|most| verdict.crud > most)
    {
        Some("it does something that is no part of a command")
    } else if parts.all.iter().any(changes_shell) {
        Some("it changes how the shell reads what follows")
    } else {
        None
    };
    if let Some(why) = void {
        return Err(why.to_owned());
    }
    let needs = needed(scene)?;
    let mut used: Vec<&Rule> = Vec::new();
    for part in needs {
        let mut why = None;
        let mut found = None;
        for rule in rules {
            match rule.covers(scene, part) {
                Ok(()) => {
                    found = Some(rule);
                    break;
                }
                // A rule for another program explains nothing.
                Err(_) if !rule.concerns_program_of(part) => {}
                Err(reason) => why = why.or(Some((&rule.place, reason))),
            }
        }
        let Some(rule) = found else {
            let shown: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
            let shown = shown.join(" ").replace(UNKNOWN, "…");
            return Err(match why {
                Some((place, reason)) => format!("{place} does not allow `{shown}`: {reason}"),
                None => format!("no rule allows `{shown}`"),
            });
        };
        if !used.iter().any(|other| other.place == rule.place) {
            used.push(rule);
        }
    }
    match used.is_empty() {
        true => Err("there is no command in it that a rule could allow".to_owned()),
        false => Ok(used),
    }
}

/// The parts that a rule has to allow: those that are asked about, and whatever runs them. If the
/// agent can type commands into one of the programs, all parts.
fn needed<'s>(scene: &'s Scene<'_>) -> Result<Vec<&'s Part>, String> {
    let all = &scene.parts().all;
    let redirected_group = |part: &Part| part.words.is_empty() && !part.redirections.is_empty();
    let mut needs = vec![false; all.len()];
    for (at, part) in all.iter().enumerate() {
        if part.words.is_empty() {
            let inside = || all.iter().any(|inner| inner.within == Some(at));
            let only_sets = !part.assignments.is_empty() && part.redirections.is_empty();
            if part.ask && !only_sets && !(redirected_group(part) && inside()) {
                return Err("it does something that is no part of a command".to_owned());
            }
            continue;
        }
        needs[at] |= scene.is_typed_into()
            || part.ask
            || !part.redirections.is_empty()
            || scene.around(part).any(redirected_group);
    }
    for at in (0..all.len()).rev() {
        let mut next = all[at].within.filter(|_| needs[at]);
        while let Some(around) = next {
            needs[around] |= !all[around].words.is_empty();
            next = all[around].within;
        }
    }
    let parts = all.iter().zip(&needs).filter(|(_, needs)| **needs);
    Ok(parts.map(|(part, _)| part).collect())
}

fn name_of(part: &Part) -> &str {
    part.words.first().map_or("", |word| base_name(&word.text))
}

/// Commands that change what later words mean, but for options that stop at errors.
fn changes_shell(part: &Part) -> bool {
    let mut words = part.words.iter().skip(1);
    match name_of(part) {
        "set" => !words.all(|word| {
            let text = word.text.as_str();
            let flags = text.strip_prefix(['-', '+']);
            matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
                || flags.is_some_and(|f| !f.is_empty() && f.chars().all(|c| "euxo".contains(c)))
        }),
        "shopt" | "enable" | "hash" | "bind" | "complete" | "setopt" | "unsetopt" => true,
        // Redirects all that follows.
        "exec" => part.words.len() == 1,
        _ => false,
    }
}
