//! What programs do: from a call and its context to an analysis; nothing in here runs anything.
//!
//! [`call`] says what every call does by its table. A table may name a [`function`] for what no table
//! can say; the functions stand in a file for each family of programs.

pub(crate) mod addresses;
mod builds;
mod builtins;
pub(crate) mod call;
mod carried;
mod config;
mod documents;
mod effect;
mod files;
mod find;
mod forge;
pub(crate) mod function;
mod given;
pub(crate) mod printed;
mod python;
mod repository;
mod requests;
pub(crate) mod roles;
mod runs;
mod rust;
pub(crate) mod secret_names;
mod services;
mod shell;
mod system;
mod words;
mod wrappers;
