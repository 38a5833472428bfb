//! Compiles `quickjs.wasm` to machine code for the target of this build.

use std::path::PathBuf;
use std::{env, fs};

use sha2::{Digest, Sha256};

#[allow(unreachable_pub, reason = "they are public in the library")]
#[path = "src/config.rs"]
mod config;

fn main() {
    for file in ["quickjs.wasm", "quickjs.wasm.sha256", "src/config.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let blob = fs::read("quickjs.wasm").expect("`quickjs.wasm` is part of this crate");
    let expected =
        fs::read_to_string("quickjs.wasm.sha256").expect("the hash is part of this crate");
    let found: String = Sha256::digest(&blob)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        expected.split_whitespace().next(),
        Some(found.as_str()),
        "`quickjs.wasm` does not match its hash; run `build`"
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
