//! Resource limits of a run.

use std::time::Duration;

/// Limits of a run. All limits are enforced. Exceeding a limit is the [`Failure`](crate::Failure)
/// of that name, with these exceptions: `input_fuel` is `Reading`; `load_fuel` and `source` are
/// errors of the registration; extra console lines are dropped; a full outbox is a `RangeError` in
/// the script; a stop remains a stop even if an allocation was refused.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_script::Limits;
///
/// let limits = Limits { wall: Duration::from_millis(200), ..Limits::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Fuel of the script: instructions of the engine. A tight loop uses the default in about 20
    /// ms, work on much memory in about 100 ms.
    pub fuel: u64,
    /// Fuel for reading the context, before the hook uses its own. It is separate because the
    /// author of a message determines this cost and must not be able to starve the hook.
    pub input_fuel: u64,
    /// Fuel for loading a hook, which compiles it and runs its top level.
    pub load_fuel: u64,
    /// Timeout of a run. It backs up the fuel limit and should never be reached: fuel is
    /// deterministic on every machine, time is not. At most one day; enforced to a few
    /// milliseconds. If a run must be repeated because it wrote to protected memory, the attempts,
    /// at most three, share this time.
    pub wall: Duration,
    /// Bytes of objects, strings and code in use at any time, including 150 KiB for the engine.
    pub heap: usize,
    /// Bytes of the stack; a function call takes about 300. At most [`Limits::MAX_STACK`].
    pub stack: usize,
    /// Bytes of a hook's source.
    pub source: usize,
    /// Bytes of the context that a hook receives, as JSON.
    pub input: usize,
    /// Bytes of the value that a hook returns, as JSON.
    pub output: usize,
    /// Number of console lines that are kept; further ones are only counted.
    pub console_lines: usize,
    /// Bytes kept of each console line.
    pub console_line: usize,
    /// Number of promise continuations that may run.
    pub jobs: u32,
    /// Number of requests that a run may leave in its outbox.
    pub outbox: usize,
    /// Bytes of URLs and bodies in the outbox together.
    pub outbox_bytes: usize,
}

impl Limits {
    /// Maximum of `stack`: the engine has 256 KiB and needs a part of it to report errors.
    pub const MAX_STACK: usize = 224 << 10;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: 300_000_000,
            input_fuel: 1_000_000_000,
            load_fuel: 300_000_000,
            wall: Duration::from_secs(2),
            heap: 8 << 20,
            stack: 192 << 10,
            source: 256 << 10,
            input: 1 << 20,
            output: 256 << 10,
            console_lines: 100,
            console_line: 1000,
            jobs: 5_000,
            outbox: 16,
            outbox_bytes: 64 << 10,
        }
    }
}
