//! Cmdlets: the name of a command in, `true` out if it is one of PowerShell's, `Verb-Noun`.

use super::super::names::POWERSHELL;

/// Returns `true` if a name is that of a command of PowerShell: a known verb and a noun.
pub(crate) fn is_cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        noun.chars().all(|c| c.is_ascii_alphanumeric())
            && noun.starts_with(|c: char| {
                c.is_ascii_uppercase() || verb.starts_with(|c: char| c.is_ascii_uppercase())
            })
            && POWERSHELL.verbs.contains(&verb.to_ascii_lowercase())
    })
}
