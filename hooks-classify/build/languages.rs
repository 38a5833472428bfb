//! Files of `languages/`: TOML in, names of calls and words by list out.

use std::collections::BTreeMap;

use toml::Spanned;

use crate::model::{Language, List};
use crate::read::{Mistake, Source, line, read};

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
        ordered: &["deletes", "updates", "shells", "facts", "facts_behind"],
        sets: &[],
    },
    LanguageFile {
        file: "languages/javascript.toml",
        item: ("JAVASCRIPT", "CodeNames"),
        ordered: &[],
        sets: &["modules", "calls", "values", "methods", "attributes"],
    },
    LanguageFile {
        file: "languages/mongo.toml",
        item: ("MONGO", "Mongo"),
        ordered: &["deletes", "updates", "creates", "reaches"],
        sets: &["reads"],
    },
    LanguageFile {
        file: "languages/python.toml",
        item: ("PYTHON", "CodeNames"),
        ordered: &[],
        sets: &["modules", "calls", "values", "methods", "attributes"],
    },
    LanguageFile {
        file: "languages/words.toml",
        item: ("WORDS", "Words"),
        ordered: &[],
        sets: &["perl", "ruby", "php", "lua"],
    },
];

/// Loads a file of `languages/`.
pub(crate) fn language(source: &Source) -> Result<Language, Mistake> {
    let mistake = |line: Option<usize>, what: String| Mistake {
        file: source.file.clone(),
        line,
        what,
    };
    let Some(known) = FILES.iter().find(|known| known.file == source.file) else {
        return Err(mistake(
            None,
            "no part of the crate reads this file".to_owned(),
        ));
    };
    let mut raw: BTreeMap<String, Spanned<Vec<String>>> = read(source)?;
    let mut lists = Vec::new();
    for (keys, is_set) in [(known.ordered, false), (known.sets, true)] {
        for key in keys {
            let Some(words) = raw.remove(*key) else {
                return Err(mistake(None, format!("the list `{key}` is missing")));
            };
            lists.push(List {
                key,
                is_set,
                words: words.into_inner(),
            });
        }
    }
    if let Some((key, list)) = raw.into_iter().next() {
        let line = line(&source.text, list.span().start);
        return Err(mistake(Some(line), format!("unknown list `{key}`")));
    }
    let (item, type_name) = known.item;
    Ok(Language {
        item,
        type_name,
        lists,
    })
}
