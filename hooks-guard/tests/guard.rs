//! Tests of the guard without a running service. They are one program, because each program links
//! the whole guard.

mod check;
mod day;
#[cfg(unix)]
mod doctor;
mod gate;
mod hook;
mod install;
mod openapi;
mod protocol;
#[path = "support/repository.rs"]
mod repository;
mod rules;
mod semantic;
#[cfg(unix)]
mod workspace;
