//! The engine of `hooks-script`: QuickJS as WebAssembly, compiled to machine code by `build.rs`. Use
//! `hooks-script`: this crate changes with it, without notice.

#![forbid(unsafe_code)]

mod config;

pub use config::{NATIVE_STACK, config};

/// The compiled engine, made by `wasmtime::Engine::precompile_module` with the settings of
/// [`config()`].
pub static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.image"));
