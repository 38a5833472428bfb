//! The host's side of an instance: its imports, its limits, and its interruption.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use wasmtime::{
    AsContextMut, Caller, Engine, Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline,
};

use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::run::{ConsoleLevel, ConsoleLine};
use crate::sandbox::result::{cut, slice};

/// State of the instance's imports and of its interruption.
pub(super) struct Host {
    memory: StoreLimits,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) console_dropped: usize,
    console_lines: usize,
    console_line: usize,
    /// Requests of the run; `None` if it may make none.
    pub(super) outbox: Option<Outbox>,
    pub(super) wall: Duration,
    pub(super) deadline: Instant,
    pub(super) cancelled: Arc<AtomicBool>,
}

impl Host {
    /// Creates a store that enforces the limits on its instance.
    pub(super) fn store(engine: &Engine, limits: &Limits) -> Store<Host> {
        let host = Host {
            // The heap plus room for fragmentation.
            memory: StoreLimitsBuilder::new()
                .memory_size((1 << 20) + limits.heap + limits.heap / 4)
                .memories(1)
                .tables(1)
                .instances(1)
                .build(),
            console: Vec::new(),
            console_dropped: 0,
            console_lines: limits.console_lines,
            console_line: limits.console_line,
            outbox: None,
            wall: limits.wall,
            deadline: Instant::now() + limits.wall + Duration::from_secs(10),
            cancelled: Arc::default(),
        };
        let mut store = Store::new(engine, host);
        store.limiter(|host| &mut host.memory);
        store.epoch_deadline_callback(|store| {
            let host = store.data();
            let over = host.cancelled.load(Relaxed) || Instant::now() >= host.deadline;
            Ok(if over {
                UpdateDeadline::Interrupt
            } else {
                UpdateDeadline::Continue(1)
            })
        });
        store
    }

    /// Implements the import `console`.
    pub(super) fn write(mut caller: Caller<'_, Host>, level: u32, address: u32, length: u32) {
        let Some((memory, host)) = parts(&mut caller) else {
            return;
        };
        if host.console.len() >= host.console_lines {
            host.console_dropped += 1;
            return;
        }
        let level = match level {
            1 => ConsoleLevel::Info,
            2 => ConsoleLevel::Warn,
            3 => ConsoleLevel::Error,
            4 => ConsoleLevel::Debug,
            _ => ConsoleLevel::Log,
        };
        let text = cut(
            slice(memory, address, length).unwrap_or_default(),
            host.console_line,
        );
        host.console.push(ConsoleLine { level, text });
    }

    /// Implements the import `post`. Returns a value of the shim's `enum posted`.
    pub(super) fn post(
        mut caller: Caller<'_, Host>,
        url: u32,
        url_length: u32,
        body: u32,
        body_length: u32,
    ) -> u32 {
        const REFUSED: u32 = 2;
        let Some((memory, host)) = parts(&mut caller) else {
            return REFUSED;
        };
        let (url, body) = (
            slice(memory, url, url_length),
            slice(memory, body, body_length),
        );
        match (&mut host.outbox, url, body) {
            (Some(outbox), Some(url), Some(body)) => u32::from(!outbox.add(url, body)),
            _ => REFUSED,
        }
    }
}

/// Returns the memory and the host state for an import. The memory is read-only, because a part of
/// it may be fenced.
fn parts<'c>(caller: &'c mut Caller<'_, Host>) -> Option<(&'c [u8], &'c mut Host)> {
    let memory = caller.get_export("memory")?.into_memory()?;
    let (memory, host) = memory.data_and_store_mut(caller.as_context_mut());
    Some((memory, host))
}
