//! Secrets in text: a text or a name in, the parts of it that are secrets out. Nothing in this layer
//! knows what a command is.

mod code;
pub(crate) mod names;
mod random;
pub(crate) mod redis;
mod rule;
pub(crate) mod source;
mod sql;
pub(crate) mod text;
pub(crate) mod tokens;
mod variables;

use std::ops::Range;

use crate::model::secret_span::{SecretKind, SecretSpan};

/// Returns the secrets of a text that is not a command, such as a note, in order and without
/// overlaps.
#[must_use]
pub fn secrets_in_text(text: &str) -> Vec<SecretSpan> {
    let mut certain = text::secrets_by_context(text);
    certain.extend(text::secrets_after_options(text));
    with_formats(text, certain, &[])
}

/// Adds the secrets that their format shows to others, and merges all of them. A text of `plain`
/// looks random, and is no secret.
pub(crate) fn with_formats(
    text: &str,
    mut certain: Vec<Range<usize>>,
    plain: &[Range<usize>],
) -> Vec<SecretSpan> {
    certain.extend(tokens::tokens(text));
    certain.extend(text::one_time_seeds(text));
    certain.extend(text::private_keys(text));
    let mut found: Vec<SecretSpan> = Vec::new();
    for random in random::random_texts(text, &certain) {
        let kind = match random.is_likely_secret {
            _ if plain
                .iter()
                .any(|plain| random::overlap(plain, &random.range)) =>
            {
                continue;
            }
            true => SecretKind::Random,
            false => SecretKind::Possible,
        };
        found.push(SecretSpan::new(random.range, kind));
    }
    let mails = random::mail_addresses(text).into_iter();
    // A host after `name:password@` is not an e-mail address.
    let is_mail = |mail: &Range<usize>| {
        let is_host = |range: &Range<usize>| {
            random::overlap(range, mail) && text[range.end..].starts_with('@')
        };
        !certain.iter().any(is_host)
    };
    found.extend(
        mails
            .filter(is_mail)
            .map(|range| SecretSpan::new(range, SecretKind::Mail)),
    );
    let certain = certain.into_iter().filter(|range| !range.is_empty());
    found.extend(certain.map(|range| SecretSpan::new(range, SecretKind::Certain)));
    merge(found)
}

/// Sorts spans and merges overlapping spans; a merged span has the highest certainty.
fn merge(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<SecretSpan> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.kind = last.kind.max(span.kind);
            }
            _ => merged.push(span),
        }
    }
    merged
}
