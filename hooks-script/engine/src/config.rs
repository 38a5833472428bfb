//! Settings with which the engine is compiled and run. `build.rs` includes this file by path,
//! because an image loads only under the settings it was compiled with.

use wasmtime::{Config, OperatorCost};

/// Bytes of the native stack of a thread that scripts may use.
pub const NATIVE_STACK: usize = 2 << 20;

/// Returns the settings of both sides.
pub fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .operator_cost(cost())
        .epoch_interruption(true)
        .max_wasm_stack(NATIVE_STACK)
        .wasm_simd(false)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        // Writes to fenced pages must return as traps.
        .signals_based_traps(true)
        // The kind of trap is sufficient; frames of the engine carry no information.
        .wasm_backtrace_max_frames(None)
        // The owner resets a memory by copying, so nothing is mapped copy-on-write.
        .memory_init_cow(false);
    config
}

/// Cost table that keeps fuel proportional to time: one unit per instruction, more for instructions
/// that take processors longer.
#[expect(
    clippy::field_reassign_with_default,
    reason = "the table has one field per instruction, and no other constructor"
)]
fn cost() -> OperatorCost {
    let mut cost = OperatorCost::default();
    cost.I32DivS = 8;
    cost.I32DivU = 8;
    cost.I32RemS = 8;
    cost.I32RemU = 8;
    cost.I64DivS = 16;
    cost.I64DivU = 16;
    cost.I64RemS = 16;
    cost.I64RemU = 16;
    cost.F32Div = 6;
    cost.F64Div = 6;
    cost.F32Sqrt = 8;
    cost.F64Sqrt = 8;
    cost
}
