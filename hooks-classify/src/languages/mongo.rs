//! Shell of a document database: a script in, its effect out.

#[cfg(feature = "javascript")]
use super::javascript::calls_only;
use super::missing_feature::missing_feature;
use super::names::MONGO;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::language::Language;

/// Returns the effect of a script.
pub(super) fn analyze(arg: &Arg) -> Analysis {
    let lower: String = arg.text.split_whitespace().collect();
    let lower = lower.to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let effect = if any(MONGO.deletes) {
        Effect::Delete
    } else if any(MONGO.updates) {
        Effect::Update
    } else if any(MONGO.creates) {
        Effect::Create
    } else if arg.is_known() && !any(MONGO.reaches) && only_reads(&arg.text) {
        Effect::Read
    } else {
        Effect::Code
    };
    let mut analysis = Analysis::new();
    let unread = missing_feature(Language::Mongo).filter(|_| effect == Effect::Code);
    let reason = unread.unwrap_or_else(|| "a script of the database's shell".to_owned());
    analysis.add_finding(effect, arg.span, reason);
    analysis
}

/// Returns `true` if every call in the text is one that reads.
#[cfg(feature = "javascript")]
fn only_reads(text: &str) -> bool {
    let shown = text.trim().strip_prefix("show ").unwrap_or_default();
    let is_show_command = !shown.is_empty() && shown.chars().all(char::is_alphanumeric);
    is_show_command || calls_only(&MONGO.reads, text)
}

/// Without a parser of JavaScript no text is known to read only.
#[cfg(not(feature = "javascript"))]
fn only_reads(_: &str) -> bool {
    false
}
