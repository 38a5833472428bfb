//! Shell text: a text in, its script out.
//!
//! [`parse`] reads every text with two parsers and lowers both results to a script; [`ParseResult`]
//! returns if the scripts are equal. A substitution stays text: the interpreter parses it in its
//! turn.

mod agree;
mod brush;
mod here_document;
mod lex;
mod nesting;
mod tree;
mod zsh;

pub(crate) use agree::{ParseResult, parse};
#[cfg(any(feature = "javascript", feature = "python"))]
pub(crate) use tree::mask_non_ascii;
pub(crate) use zsh::translate_zsh;

/// Returns `true` if a text is nested so deeply that it needs a large stack.
pub(crate) fn is_deeply_nested(text: &str) -> bool {
    nesting::nesting_bound(text) > nesting::MAX_SHALLOW_NESTING
}
