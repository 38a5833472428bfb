//! Interpreter of scripts: a script in, findings and parts out. It walks the script as a shell would.
//!
//! `programs/` and `languages/` return an analysis of a call or a text. Only the interpreter runs the
//! commands and texts that an analysis names, so all recursion is in this layer.

mod assign;
mod builtin;
mod call;
mod cells;
mod compound;
mod cursor;
mod declare;
mod evaluate;
mod functions;
pub(crate) mod interpreter;
mod names;
mod parameter;
mod perform;
mod read;
pub(crate) mod recorder;
mod redirect;
mod run;
mod salvage;
mod script;
mod simple;
mod sink;
mod state;
mod terminal;
mod words;
