//! How the engine is compiled and run. Shared with `build.rs`, by path: an image can only
//! be loaded under the settings it was compiled for.

use wasmtime::{Config, OperatorCost};

/// What scripts may use of the native stack of their thread, in bytes.
pub(crate) const NATIVE_STACK: usize = 2 << 20;

/// The settings of both sides.
pub(crate) fn config() -> Config {
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
        // What meets the fence has to come back as a trap.
        .signals_based_traps(true)
        // A trap is told by its kind; frames of the engine tell nothing.
        .wasm_backtrace_max_frames(None)
        // A memory is reset by its owner, by copying: nothing is mapped twice.
        .memory_init_cow(false);
    config
}

/// Fuel is to keep step with time: one unit an instruction, and more for those that
/// processors take long for.
#[expect(
    clippy::field_reassign_with_default,
    reason = "the table has a field an instruction, and cannot be built otherwise"
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
