//! Data types that all layers share: plain values in, simple facts about them out. Nothing in this
//! layer decides about a command.

pub(crate) mod arg;
pub(crate) mod assigned_values;
pub(crate) mod code_span;
pub(crate) mod device;
pub(crate) mod effect;
pub(crate) mod environment;
pub(crate) mod finding;
pub(crate) mod io;
pub(crate) mod language;
pub(crate) mod lazy_regex;
pub(crate) mod notation;
pub(crate) mod parts;
pub(crate) mod possible_options;
pub(crate) mod possible_path;
pub(crate) mod program_facts;
pub(crate) mod program_name;
pub(crate) mod role;
pub(crate) mod script;
pub(crate) mod secret_shape;
pub(crate) mod secret_span;
pub(crate) mod shells;
pub(crate) mod span;
pub(crate) mod sql_dialect;
pub(crate) mod terminal_input;
pub(crate) mod trace;
pub(crate) mod unseen_code;
pub(crate) mod value;
pub(crate) mod variable_name;
pub(crate) mod wildcard;
pub(crate) mod workspace_view;
