//! Reader of command lines: the words of a program and its table in, a [`call::Call`] out. The call
//! lists options with their values, operands and unrecognized words, each with its span.

pub(crate) mod call;
mod reader;
pub(crate) mod request;
mod roles;
mod rules;
mod scope;
pub(crate) mod secrets;
