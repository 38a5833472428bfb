//! Programs: a call and its context in, an analysis of its effects out. This layer runs nothing.
//!
//! [`call`] applies the table of a program to a call. A table may name a [`function`] for effects that
//! no table can state; each family of programs has a file with its functions.

pub(crate) mod addresses;
pub(crate) mod builds;
pub(crate) mod builtins;
pub(crate) mod call;
mod cluster;
mod code_roles;
mod config;
mod databases;
pub(crate) mod deletion;
mod documents;
mod effect;
pub(crate) mod file_roles;
mod files;
mod filters;
mod find;
pub(crate) mod function;
mod git;
mod github;
mod graphql;
mod http;
mod interpreters;
mod known_output;
pub(crate) mod line_filters;
mod machine;
mod monitors;
pub(crate) mod output_kind;
pub(crate) mod package_scripts;
pub(crate) mod packages;
pub(crate) mod project_files;
mod python;
mod remote;
mod request_roles;
mod requests;
mod roles;
mod rust;
mod secrets;
pub(crate) mod shell;
mod shell_builtins;
mod windows;
mod words;
mod words_as_text;
mod wrappers;
mod xargs;
