//! Here-documents and `>&`: the text of a parser in, the word or operator that both parsers share
//! out.

use super::lex::{Mode, lex};
use crate::model::script::{Change, Operator, Piece, ShellWord};
use crate::model::span::Span;

/// Returns the word of a here-document, without blanks at the ends of lines, which the parsers
/// place differently.
pub(super) fn here_document(text: &str, expands: bool, span: Span) -> ShellWord {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    let mut word = if expands {
        lex(text, 0, text.len(), Mode::Document, &|_| None)
    } else {
        ShellWord {
            pieces: vec![Piece::Text {
                text: text.to_owned(),
                quoted: true,
            }],
            span,
        }
    };
    detach(&mut word);
    word.span = span;
    word
}

/// Removes the positions in a word, which are positions in another text.
pub(super) fn detach(word: &mut ShellWord) {
    for piece in &mut word.pieces {
        match piece {
            Piece::Substitution { text, .. } | Piece::Process { text } => text.at = None,
            Piece::Variable {
                change:
                    Change::Default(inner)
                    | Change::Assign(inner)
                    | Change::Length(inner)
                    | Change::Indirect(inner)
                    | Change::Other(inner),
                ..
            }
            | Piece::Arithmetic { inner } => detach(inner),
            Piece::Text { .. } | Piece::Variable { .. } => {}
        }
    }
}

/// Returns the operator of `>&` with this word: it duplicates a descriptor or writes a file.
pub(super) fn duplicate(word: &ShellWord) -> Operator {
    match word.literal() {
        Some(text)
            if text
                .trim_end_matches('-')
                .chars()
                .all(|c| c.is_ascii_digit()) =>
        {
            Operator::Duplicate
        }
        _ => Operator::Write,
    }
}
