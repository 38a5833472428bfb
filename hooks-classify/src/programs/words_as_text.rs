//! Joined words: several words in, the one text out that a program makes of them.

use crate::model::arg::Arg;
use crate::model::span::Span;

/// Returns words with blanks between them as one word, or `None` without words.
pub(super) fn join_words(words: &[Arg]) -> Option<Arg> {
    let (first, last) = (words.first()?, words.last()?);
    Some(join_words_at(
        words,
        Span::new(first.span.start, last.span.end),
    ))
}

/// Returns words with blanks between them as one word at a place of the command.
pub(super) fn join_words_at(words: &[Arg], span: Span) -> Arg {
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    Arg::new(words.join(" "), span)
}
