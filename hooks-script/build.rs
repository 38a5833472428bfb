//! Compiles `engine/quickjs.wasm` to machine code for the target of this build.

use std::path::PathBuf;
use std::{env, fs};

use sha2::{Digest, Sha256};

#[path = "src/sandbox/config.rs"]
mod config;

fn main() {
    for file in [
        "engine/quickjs.wasm",
        "engine/quickjs.wasm.sha256",
        "src/sandbox/config.rs",
    ] {
        println!("cargo::rerun-if-changed={file}");
    }
    let blob =
        fs::read("engine/quickjs.wasm").expect("`engine/quickjs.wasm` is part of this crate");
    let expected =
        fs::read_to_string("engine/quickjs.wasm.sha256").expect("the hash is part of this crate");
    let found: String = Sha256::digest(&blob)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        expected.split_whitespace().next(),
        Some(found.as_str()),
        "`engine/quickjs.wasm` does not match its hash; run `engine/build`"
    );

    let mut config = config::config();
    // Name the target, so that the code uses no features that only the build machine's processor
    // has.
    config
        .target(&env::var("TARGET").expect("cargo sets it"))
        .expect("the compiler of the engine does not know this target");
    let image = wasmtime::Engine::new(&config)
        .and_then(|engine| engine.precompile_module(&blob))
        .expect("the engine compiles");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("engine.image");
    fs::write(&out, image).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}
