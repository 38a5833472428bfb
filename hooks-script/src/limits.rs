//! What a run may use.

use std::time::Duration;

/// Limits of a run. All limits are enforced. Exceeding a limit is the [`Failure`](crate::Failure)
/// of the same name, with these exceptions: `input_fuel` is `Reading`; `load_fuel` and `source` are
/// errors of the registration; lines of the console are dropped; a full outbox is a `RangeError` in
/// the script; a stop stands even if memory was refused.
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
    /// Instructions of the engine. The default is used up after some 20 ms of a tight loop,
    /// or 100 ms of work on much memory.
    pub fuel: u64,
    /// Fuel for reading the context, before the hook has any of its own: whoever writes a
    /// message decides how much of it that takes, and is not to leave the hook without any.
    pub input_fuel: u64,
    /// Fuel for loading a hook, which compiles it and runs its top level.
    pub load_fuel: u64,
    /// The time that a run takes at most. It backs fuel up, and is meant not to be reached:
    /// fuel is the same on every machine, time is not. At most a day; observed to a few
    /// milliseconds. A run that has to be made again, because it writes where none had written
    /// before, has no more for that: at most three attempts share it.
    pub wall: Duration,
    /// Bytes of objects, texts and code that are in use at the same time, the engine's own
    /// 150 KiB among them.
    pub heap: usize,
    /// Bytes of the stack: a call of a function takes some 300. At most [`Limits::MAX_STACK`].
    pub stack: usize,
    /// Bytes of the source of a hook.
    pub source: usize,
    /// Bytes of the context, as JSON, that a hook is given.
    pub input: usize,
    /// Bytes of what a hook returns, as JSON.
    pub output: usize,
    /// Lines of the console that are kept; further ones are counted.
    pub console_lines: usize,
    /// Bytes of a line of the console that are kept.
    pub console_line: usize,
    /// Continuations of promises that run.
    pub jobs: u32,
    /// Requests that a run may leave in its outbox, where it has one.
    pub outbox: usize,
    /// Bytes of their URLs and bodies together.
    pub outbox_bytes: usize,
}

impl Limits {
    /// The most that `stack` can be: the engine has 256 KiB, and needs some of it to report.
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
