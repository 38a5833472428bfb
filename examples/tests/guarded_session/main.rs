//! The flagship example from outside: the built program, its exit status, its
//! report, and what it keeps a call from doing.
#![cfg(target_os = "linux")]

mod approval;
mod audit_trail;
mod confinement;
mod engine;
mod input;
mod limits;
#[path = "../program.rs"]
mod program;
mod registries;
mod report;
mod scripts;
mod support;
