//! Interpreter of scripts: a script in, findings and parts out. It walks the script as a shell would.
//!
//! `programs/` and `languages/` return an analysis of a call or a text. Only the interpreter runs the
//! commands and texts that an analysis names, so all recursion is in this layer.

mod assign;
mod builtin;
mod call;
mod compound;
mod cursor;
mod declare;
mod evaluate;
mod expanded_word;
mod functions;
pub(crate) mod interpreter;
mod parameter;
mod paths;
mod perform;
mod read;
pub(crate) mod recorder;
mod recovery;
mod redirect;
mod run;
mod script;
mod simple;
mod sink;
mod state;
mod terminal;
mod words;
