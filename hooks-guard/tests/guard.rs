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
#[cfg(unix)]
mod replay;
#[path = "support/repository.rs"]
mod repository;
mod rules;
mod semantic;
#[cfg(unix)]
mod workspace;
