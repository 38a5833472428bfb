//! Here-documents and `>&`: the text of a parser in, the word or operator that both parsers share
//! out.

use super::lex::{QuoteMode, lex_word};
use crate::model::script::{ParameterOperator, RedirectOperator, ShellWord, WordPiece};
use crate::model::span::Span;

/// Returns the word of a here-document, without blanks at the ends of lines, which the parsers
/// place differently.
pub(super) fn here_document_word(text: &str, expands: bool, span: Span) -> ShellWord {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let text = text.trim();
    let mut word = if expands {
        lex_word(text, 0, text.len(), QuoteMode::Document, &|_| None)
    } else {
        ShellWord {
            pieces: vec![WordPiece::Text {
                text: text.to_owned(),
                quoted: true,
            }],
            span,
        }
    };
    clear_positions(&mut word);
    word.span = span;
    word
}

/// Removes the positions in a word, which are positions in another text.
pub(super) fn clear_positions(word: &mut ShellWord) {
    for piece in &mut word.pieces {
        match piece {
            WordPiece::CommandSubstitution { text, .. }
            | WordPiece::ProcessSubstitution { text } => text.start = None,
            WordPiece::Variable {
                operator,
                subscript,
                ..
            } => {
                match operator {
                    ParameterOperator::None => {}
                    ParameterOperator::Default(default) | ParameterOperator::Assign(default) => {
                        clear_positions(&mut default.word);
                    }
                    ParameterOperator::Length(inner)
                    | ParameterOperator::Indirect(inner)
                    | ParameterOperator::Disputed(inner)
                    | ParameterOperator::Other(inner) => clear_positions(inner),
                }
                if let Some(subscript) = subscript {
                    clear_positions(subscript);
                }
            }
            WordPiece::Arithmetic { inner, .. } => clear_positions(inner),
            WordPiece::Text { .. } => {}
        }
    }
}

/// Returns the operator of `>&` with this word: it duplicates a descriptor or writes a file.
pub(super) fn duplicate_operator(word: &ShellWord) -> RedirectOperator {
    match word.literal() {
        // Some shells move the descriptor with `>&1-`, others write a file of this name.
        Some(text) if text == "-" || text.chars().all(|c| c.is_ascii_digit()) => {
            RedirectOperator::Duplicate
        }
        _ => RedirectOperator::Write,
    }
}
