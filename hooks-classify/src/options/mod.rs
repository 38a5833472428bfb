//! Reads a command line by the table of its program: words in, a [`call::Call`] out, which lists
//! options with their values, operands and what the table does not know, each with its place.

pub(crate) mod call;
mod reader;
pub(crate) mod request;
mod roles;
mod rules;
mod scope;
