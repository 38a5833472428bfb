//! Languages that this build reads.

use hooks_classify::{Language, Parts};

/// Returns `true` if the feature that reads the language is off.
pub(crate) fn is_unread(language: Language) -> bool {
    match language {
        Language::Python => !cfg!(feature = "python"),
        Language::Node | Language::Mongo => !cfg!(feature = "javascript"),
        Language::Sql => !cfg!(feature = "sql"),
        Language::PowerShell => !cfg!(feature = "powershell"),
        _ => false,
    }
}

/// Returns the first language of a command that this build does not read.
pub(crate) fn unread_in(parts: &Parts) -> Option<Language> {
    let mut languages = parts.scripts.iter().map(|script| script.language);
    languages.find(|language| is_unread(*language))
}
