//! The interpreter: goes through a script as a shell would, and collects what its commands do.
//!
//! A script goes in, findings, parts and lines of the explanation come out. Programs and languages
//! say what a call or a text does; only the interpreter runs what they name, so all recursion is in
//! here.

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
