//! Programs and their tables.

pub(crate) mod special;
pub(crate) mod table;

pub(crate) use crate::walk::interpreter::Interpreter as Judge;
