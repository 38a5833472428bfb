//! One instance of the engine, and how it is reset.
//!
//! Everything that a script can change is the linear memory and one global, the stack
//! pointer: the module has no other mutable global, and no instruction that changes a table
//! (held by a test). Between two runs every byte of the memory becomes what it was when the
//! hook was loaded, whatever the run before touched: what a flaw in QuickJS would let a script
//! write where it should not is gone as well. An instance whose memory has grown, or in which a call did not return, is
//! not used again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wasmtime::{AsContextMut, Caller, Global, Memory, Store, StoreLimits, TypedFunc, Val};

use crate::outbox::Outbox;
use crate::run::{ConsoleLevel, ConsoleLine};
use crate::sandbox::result::{cut, slice};
use crate::sandbox::snapshot::Snapshot;

pub(crate) struct Instance {
    pub(super) store: Store<Host>,
    pub(super) memory: Memory,
    pub(super) stack_pointer: Global,
    pub(super) room: TypedFunc<u32, u32>,
    pub(super) load: TypedFunc<(u32, u32, f64, u64, u32), u32>,
    pub(super) run: TypedFunc<(u32, u32, f64, u64, u32, u32), u32>,
    pub(super) heap: TypedFunc<(), u64>,
    pub(super) result: u32,
    pub(super) pages: u64,
    pub(super) spoiled: bool,
    /// What memory is, byte for byte, as long as nothing has run since.
    pub(super) holds: Option<Arc<Snapshot>>,
}

/// What the instance's only import, and its interruption, work on.
pub(super) struct Host {
    pub(super) memory: StoreLimits,
    pub(super) console: Vec<ConsoleLine>,
    pub(super) console_dropped: usize,
    pub(super) console_lines: usize,
    pub(super) console_line: usize,
    /// Requests that the run made; none where it may make none.
    pub(super) outbox: Option<Outbox>,
    pub(super) wall: Duration,
    pub(super) deadline: Instant,
    pub(super) cancelled: Arc<AtomicBool>,
}

impl Instance {
    /// Whether it can be reset by writing over its memory.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.spoiled && self.memory.size(&self.store) == self.pages
    }

    /// Everything becomes what `state` says. From here on, memory is the call's to change.
    pub(super) fn reset(&mut self, state: &Arc<Snapshot>, fuel: u64) -> wasmtime::Result<()> {
        self.hold(state)?;
        self.holds = None;
        self.stack_pointer
            .set(&mut self.store, Val::I32(state.stack_pointer))?;
        self.store.set_fuel(fuel)?;
        self.store.set_epoch_deadline(1);
        Ok(())
    }

    /// Does ahead of time what the next run of this hook would have to wait for. Nothing of
    /// the last run is left then, either.
    pub(crate) fn prepare(&mut self, state: &Arc<Snapshot>) {
        if self.is_reusable() && state.reach() <= self.memory.data_size(&self.store) {
            let held = self.hold(state);
            debug_assert!(held.is_ok(), "nothing has to grow");
        }
    }

    fn hold(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        let missing = state
            .reach()
            .saturating_sub(self.memory.data_size(&self.store));
        if missing > 0 {
            // Its hook needs more than an instance has at first.
            self.memory
                .grow(&mut self.store, missing.div_ceil(PAGE) as u64)?;
        }
        let memory = self.memory.data_mut(&mut self.store);
        match &self.holds {
            Some(held) if Arc::ptr_eq(held, state) => {}
            Some(held) => state.replace(held, memory),
            None => state.restore(memory),
        }
        self.holds = Some(Arc::clone(state));
        Ok(())
    }

    pub(super) fn snapshot(&mut self, base: Option<&Snapshot>) -> Arc<Snapshot> {
        let stack_pointer = self.stack_pointer.get(&mut self.store).i32().unwrap_or(0);
        let memory = self.memory.data(&self.store);
        let taken = Arc::new(Snapshot::take(memory, stack_pointer, base));
        self.holds = Some(Arc::clone(&taken));
        taken
    }

    /// Puts a text into the heap, with a zero behind it; `None` if there is no room.
    pub(super) fn put(&mut self, text: &[u8]) -> wasmtime::Result<Option<(u32, u32)>> {
        let length = u32::try_from(text.len())?;
        let address = self.room.clone().call(&mut self.store, length)?;
        if address == 0 {
            return Ok(None);
        }
        self.memory.write(&mut self.store, address as usize, text)?;
        self.memory
            .write(&mut self.store, address as usize + text.len(), &[0])?;
        Ok(Some((address, length)))
    }

    pub(super) fn heap_state(&mut self) -> Heap {
        // A call that did not return may have used up its fuel.
        let fuel = self.store.get_fuel().unwrap_or(0);
        let asked = self
            .store
            .set_fuel(1_000)
            .and_then(|()| self.heap.clone().call(&mut self.store, ()));
        let _ = self.store.set_fuel(fuel);
        let state = asked.unwrap_or(0);
        Heap {
            peak: (state & u64::from(u32::MAX)) as usize,
            refused: state >> 32 != 0,
        }
    }
}

/// What a call did with the heap.
#[derive(Clone, Copy)]
pub(super) struct Heap {
    pub(super) peak: usize,
    pub(super) refused: bool,
}

pub(super) const PAGE: usize = 65_536;

impl Host {
    /// The import `console`.
    pub(super) fn write(mut caller: Caller<'_, Host>, level: u32, address: u32, length: u32) {
        let Some(memory) = caller
            .get_export("memory")
            .and_then(wasmtime::Extern::into_memory)
        else {
            return;
        };
        let (memory, host) = memory.data_and_store_mut(caller.as_context_mut());
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

    /// The import `post`: what it answers is `enum posted` of the shim.
    pub(super) fn post(
        mut caller: Caller<'_, Host>,
        url: u32,
        url_length: u32,
        body: u32,
        body_length: u32,
    ) -> u32 {
        const REFUSED: u32 = 2;
        let Some(memory) = caller
            .get_export("memory")
            .and_then(wasmtime::Extern::into_memory)
        else {
            return REFUSED;
        };
        let (memory, host) = memory.data_and_store_mut(caller.as_context_mut());
        let (url, body) = (
            slice(memory, url, url_length),
            slice(memory, body, body_length),
        );
        match (&mut host.outbox, url, body) {
            (Some(outbox), Some(url), Some(body)) => u32::from(!outbox.put(url, body)),
            _ => REFUSED,
        }
    }
}
