//! What programs do: from a call and its context to an analysis; nothing in here runs anything.
//!
//! [`call`] says what every call does by its table. A table may name a [`function`] for what no table
//! can say; the functions stand in a file for each family of programs.

pub(crate) mod addresses;
pub(crate) mod builds;
pub(crate) mod builtins;
pub(crate) mod call;
mod cluster;
mod code_roles;
mod config;
mod databases;
mod documents;
mod effect;
pub(crate) mod file_roles;
mod files;
mod filters;
mod find;
pub(crate) mod function;
mod git;
mod github;
mod http;
mod interpreters;
mod machine;
mod monitors;
pub(crate) mod output_kind;
mod packages;
mod printed;
mod python;
mod remote;
mod request_roles;
mod requests;
mod roles;
mod rust;
pub(crate) mod secret_names;
mod secrets;
mod shell;
mod shell_builtins;
mod windows;
mod words;
mod words_as_text;
mod wrappers;
mod xargs;
