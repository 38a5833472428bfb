//! Languages without a reader: a language in, the reason out why its scripts are code, if this build
//! lacks the feature that reads them.

use crate::model::language::Language;

/// Returns the reason for a text in a language whose feature is off.
pub(super) fn missing_feature(language: Language) -> Option<String> {
    let (name, feature) = match language {
        Language::Python if cfg!(not(feature = "python")) => ("Python", "python"),
        Language::Node | Language::Mongo if cfg!(not(feature = "javascript")) => {
            ("JavaScript", "javascript")
        }
        Language::Sql if cfg!(not(feature = "sql")) => ("SQL", "sql"),
        Language::PowerShell if cfg!(not(feature = "powershell")) => ("PowerShell", "powershell"),
        _ => return None,
    };
    Some(format!(
        "runs {name}, which this build does not read without its feature `{feature}`"
    ))
}
