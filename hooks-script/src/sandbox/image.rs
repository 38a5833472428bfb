//! The compiled engine, as `build.rs` embedded it: loaded once a process.

use std::sync::OnceLock;

use wasmtime::{Engine, Module};

use crate::error::BuildError;
use crate::sandbox::config::config;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.image"));

/// The engine of this process, and QuickJS in it.
pub(crate) fn module() -> Result<&'static (Engine, Module), BuildError> {
    static LOADED: OnceLock<Result<(Engine, Module), String>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let load = || {
            let engine = Engine::new(&config())?;
            let module = deserialize(&engine)?;
            Ok((engine, module))
        };
        load().map_err(|error: wasmtime::Error| format!("{error:#}"))
    });
    loaded
        .as_ref()
        .map_err(|text| BuildError::Engine(text.clone()))
}

/// The one place of this crate with `unsafe` code: machine code is believed to be what
/// it says it is.
#[allow(
    unsafe_code,
    reason = "the machine code comes from this crate's own build, not from a file or a cache"
)]
fn deserialize(engine: &Engine) -> wasmtime::Result<Module> {
    // SAFETY: `Module::deserialize` asks for bytes that `precompile_module` made, unchanged.
    // `IMAGE` is part of this program's binary; `build.rs` made it in this very build, with
    // the same version of wasmtime (one requirement, one lock file) and the same settings
    // (`config.rs`, shared). Version, settings and processor are checked once more here.
    unsafe { Module::deserialize(engine, IMAGE) }
}
