//! Tests of the classifier from outside. One program, because each program links the parsers of all
//! languages.

mod cases;
mod explained;
mod features;
mod hostile;
#[cfg(unix)]
mod newer_program;
#[cfg(unix)]
mod options;
mod random;
mod scripts;
mod selected_calls;
#[cfg(unix)]
mod shells;
#[path = "../support/mod.rs"]
mod support;
mod terminal_input;
mod workspace;
