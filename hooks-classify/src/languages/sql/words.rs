//! Words of SQL: a text that no parser reads in, the effect that its words name out.

use super::dialect::parse_any;
use super::finder::statement_effect;
use super::statement::{READING_PRAGMAS, pragma_writes};
use crate::model::effect::Effect;

/// Returns the effect of a text, and the reason.
pub(super) fn effect_by_keywords(text: &str) -> (Effect, &'static str) {
    let is_single = !text.trim_end_matches([';', '\n', ' ']).contains(';');
    let mut strongest = Effect::Unknown;
    let mut effects = Vec::new();
    for part in text.split(';') {
        let words: Vec<String> = part
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_uppercase)
            .collect();
        let first = words.first().map_or("", String::as_str);
        let shows = matches!(first, "SHOW" | "DESCRIBE" | "DESC" | "STATUS" | "HELP");
        if shows && words.len() < 8 && is_single {
            return (Effect::Read, "shows facts about the database");
        }
        if first == "PRAGMA" {
            let reads = !part.contains('=')
                && words.get(1).is_some_and(|name| {
                    READING_PRAGMAS.contains(&name.as_str())
                        || words.len() == 2 && !pragma_writes(name)
                });
            effects.push(if reads { Effect::Read } else { Effect::Update });
            continue;
        }
        if first == "VACUUM" && words.get(1).is_some_and(|word| word == "INTO") {
            effects.push(Effect::Create);
            continue;
        }
        if words.is_empty() {
            continue;
        }
        match parse_any(part) {
            Some(statements) => {
                effects.extend(statements.iter().map(|one| statement_effect(one).0));
            }
            None => effects.push(Effect::Unknown),
        }
        let has = |effects: &[&str]| words.iter().any(|word| effects.contains(&word.as_str()));
        if has(&["DELETE", "DROP", "TRUNCATE"]) {
            strongest = strongest.max(Effect::Delete);
        } else if has(&[
            "UPDATE", "ALTER", "GRANT", "REVOKE", "VACUUM", "REINDEX", "REFRESH",
        ]) {
            strongest = strongest.max(Effect::Update);
        }
    }
    if strongest == Effect::Unknown {
        strongest = effects.into_iter().max().unwrap_or(Effect::Unknown);
    }
    (strongest, "this SQL was judged by its words")
}
