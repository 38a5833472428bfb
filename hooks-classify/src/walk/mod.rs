//! Interpreter of scripts: a script in, findings and parts out. It walks the script as a shell would.
//!
//! `programs/` and `languages/` return an analysis of a call or a text. Only the interpreter runs the
//! commands and texts that an analysis names, so all recursion is in this layer.

pub(crate) mod assign;
pub(crate) mod builtin;
pub(crate) mod call;
pub(crate) mod cells;
pub(crate) mod compound;
pub(crate) mod cursor;
pub(crate) mod declare;
pub(crate) mod evaluate;
pub(crate) mod functions;
pub(crate) mod interpreter;
pub(crate) mod names;
pub(crate) mod parameter;
pub(crate) mod perform;
pub(crate) mod read;
pub(crate) mod recorder;
pub(crate) mod redirect;
pub(crate) mod run;
pub(crate) mod salvage;
pub(crate) mod script;
pub(crate) mod simple;
pub(crate) mod sink;
pub(crate) mod state;
pub(crate) mod terminal;
pub(crate) mod words;
