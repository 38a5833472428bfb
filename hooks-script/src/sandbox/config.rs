//! How the engine is compiled and run. Shared with `build.rs`, by path: an image can only
//! be loaded under the settings it was compiled for.

use wasmtime::Config;

/// What scripts may use of the native stack of their thread, in bytes.
pub(crate) const NATIVE_STACK: usize = 2 << 20;

/// The settings of both sides.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(NATIVE_STACK)
        .wasm_simd(false)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        // A trap is told by its kind; frames of the engine tell nothing.
        .wasm_backtrace_max_frames(None)
        // A memory is reset by its owner, by copying: nothing is mapped twice.
        .memory_init_cow(false);
    config
}
