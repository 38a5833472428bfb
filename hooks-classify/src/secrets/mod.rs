//! Secrets in text: a text or a name in, the parts of it that are secrets out. Nothing in this layer
//! knows what a command is.

pub(crate) mod names;
pub(crate) mod tokens;
