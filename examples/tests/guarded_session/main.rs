//! Tests of the built `guarded_session` program: its exit status, its report, and its confinement.
#![cfg(target_os = "linux")]

mod approval;
mod audit_trail;
mod confinement;
mod engine;
mod input;
mod limits;
mod overview;
#[path = "../program.rs"]
mod program;
mod registries;
mod report;
mod scripts;
mod support;
