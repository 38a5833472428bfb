//! Shell text as one small representation, whichever parser read it.
//!
//! [`parse`] has two parsers read every text and lowers both results into a
//! [`Script`]; [`Reading`] says whether the two mean the same. A substitution
//! stays text here: whoever judges it parses it in its turn, again with both.

mod agree;
mod brush;
mod here_document;
mod lex;
mod meaning;
mod nesting;
mod tree;
mod zsh;

pub(crate) use agree::{Reading, parse};
pub(crate) use tree::plain;
pub(crate) use zsh::translate;

/// Whether a text nests so deeply that it needs a large stack.
pub(crate) fn deep(text: &str) -> bool {
    nesting::depth(text) > nesting::SHALLOW
}
