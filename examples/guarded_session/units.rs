//! Unit tests of the example's modules, built without its `main`.
#![cfg(target_os = "linux")]
#![expect(dead_code, reason = "only `main` uses all of the modules")]

mod args;
mod confine;
mod display;
mod execute;
mod explain;
mod guarded;
mod hooks;
mod job;
mod overview;
mod paths;
mod progress;
mod registries;
mod report;
mod rewrites;
mod run;
mod scratch;
mod scripts;
mod secrets;
mod self_test;
mod session;
mod trail;
