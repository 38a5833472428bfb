//! Files of `languages/`: TOML in, names of calls and words by list out.

use std::collections::BTreeMap;

use toml::Spanned;

use crate::model::{LanguageDef, WordList};
use crate::read::{Source, TableError, line, read};

/// A file of `languages/`, and the static item that is made of it.
pub(crate) struct LanguageFile {
    pub(crate) file: &'static str,
    /// The static item and its type.
    item: (&'static str, &'static str),
    /// Lists whose order is kept.
    ordered: &'static [&'static str],
    /// Lists in which words are looked up.
    sets: &'static [&'static str],
}

pub(crate) const FILES: &[LanguageFile] = &[
    LanguageFile {
        file: "languages/any.toml",
        item: ("ANY", "EffectWords"),
        ordered: &[
            "deletes",
            "updates",
            "shells",
            "metadata_calls",
            "metadata_suffixes",
        ],
        sets: &["environments"],
    },
    LanguageFile {
        file: "languages/awk.toml",
        item: ("AWK", "AwkWords"),
        ordered: &[],
        sets: &["prints", "before_an_operand", "before_either", "shells"],
    },
    LanguageFile {
        file: "languages/cmd.toml",
        item: ("CMD", "CmdCommands"),
        ordered: &[],
        sets: &[
            "deletes",
            "reads",
            "creates",
            "updates",
            "runs",
            "dotted",
            "reads_alone",
            "sorts",
            "assigns",
        ],
    },
    LanguageFile {
        file: "languages/javascript.toml",
        item: ("JAVASCRIPT", "CodeNames"),
        ordered: &[],
        sets: &["modules", "calls", "values", "methods", "attributes"],
    },
    LanguageFile {
        file: "languages/mongo.toml",
        item: ("MONGO", "MongoMethods"),
        ordered: &["deletes", "updates", "creates", "reaches"],
        sets: &["reads"],
    },
    LanguageFile {
        file: "languages/powershell.toml",
        item: ("POWERSHELL", "PowerShellNames"),
        ordered: &[],
        sets: &[
            "reads",
            "requests",
            "deletes",
            "updates",
            "creates",
            "runs",
            "evaluates",
            "lists",
            "secrets",
            "each",
            "properties",
            "parameters",
            "programs",
            "aliases",
            "verbs",
            "request_commands",
            "read_commands",
            "create_commands",
            "update_commands",
            "read_verbs",
            "delete_verbs",
            "update_verbs",
            "run_verbs",
            "create_verbs",
        ],
    },
    LanguageFile {
        file: "languages/python.toml",
        item: ("PYTHON", "CodeNames"),
        ordered: &[],
        sets: &["modules", "calls", "values", "methods", "attributes"],
    },
    LanguageFile {
        file: "languages/sql.toml",
        item: ("SQL", "SqlFunctions"),
        ordered: &["pure_kinds"],
        sets: &["pure", "secrets", "secret_tables"],
    },
    LanguageFile {
        file: "languages/syntax.toml",
        item: ("SYNTAX", "SyntaxKinds"),
        ordered: &[],
        sets: &[
            "python_kinds",
            "python_builtins",
            "javascript_expressions",
            "javascript_statements",
            "javascript_accessors",
        ],
    },
    LanguageFile {
        file: "languages/words.toml",
        item: ("WORDS", "LineWords"),
        ordered: &[],
        sets: &["perl", "perl_before_an_operand", "ruby", "php", "lua"],
    },
];

/// Loads a file of `languages/`.
pub(crate) fn language(source: &Source) -> Result<LanguageDef, TableError> {
    let error_at = |line: Option<usize>, message: String| TableError {
        file: source.file.clone(),
        line,
        message,
    };
    let Some(known) = FILES.iter().find(|known| known.file == source.file) else {
        return Err(error_at(
            None,
            "no part of the crate reads this file".to_owned(),
        ));
    };
    let mut raw: BTreeMap<String, Spanned<Vec<String>>> = read(source)?;
    let mut lists = Vec::new();
    for (keys, is_set) in [(known.ordered, false), (known.sets, true)] {
        for key in keys {
            let Some(words) = raw.remove(*key) else {
                return Err(error_at(None, format!("the list `{key}` is missing")));
            };
            lists.push(WordList {
                key,
                is_set,
                words: words.into_inner(),
            });
        }
    }
    if let Some((key, list)) = raw.into_iter().next() {
        let line = line(&source.text, list.span().start);
        return Err(error_at(Some(line), format!("unknown list `{key}`")));
    }
    let (item, type_name) = known.item;
    Ok(LanguageDef {
        item,
        type_name,
        lists,
    })
}
