//! Shell text: a text in, its script out.
//!
//! [`parse`] reads every text with two parsers and lowers both results to a script; [`Reading`]
//! returns if the scripts are equal. A substitution stays text: the interpreter parses it in its
//! turn.

mod agree;
mod brush;
mod here_document;
mod lex;
mod nesting;
mod tree;
mod zsh;

pub(crate) use agree::{Reading, parse};
#[cfg(any(feature = "javascript", feature = "python"))]
pub(crate) use tree::plain;
pub(crate) use zsh::translate;

/// Returns `true` if a text is nested so deeply that it needs a large stack.
pub(crate) fn deep(text: &str) -> bool {
    nesting::depth(text) > nesting::SHALLOW
}
