//! The memory of an instance, and what is known of it.
//!
//! Everything that a script can change is the linear memory and one global, the stack
//! pointer: the module has no other mutable global, and no instruction that changes a table
//! or drops a segment (held by a test). Between two runs every byte of the memory becomes what
//! it was when the hook was loaded, whatever the run before touched: what a flaw in QuickJS
//! would let a script write where it should not is gone as well.
//!
//! A memory that is known byte for byte, because it was reset and nothing has run since, need
//! not be looked at again. What is known is this module's secret: whoever is to change the
//! memory, by a call or by writing, comes through [`Space::changing`], which forgets it.

use std::sync::Arc;

use wasmtime::{Global, Memory, Store, Val};

use crate::sandbox::host::Host;
use crate::sandbox::snapshot::Snapshot;

/// A page of WebAssembly.
const PAGE: usize = 65_536;

pub(super) struct Space {
    store: Store<Host>,
    memory: Memory,
    stack_pointer: Global,
    /// How many pages it had at first.
    pages: u64,
    /// What memory is, byte for byte, as long as nothing has run since.
    holds: Option<Arc<Snapshot>>,
}

impl Space {
    pub(super) fn new(store: Store<Host>, memory: Memory, stack_pointer: Global) -> Self {
        Space {
            memory,
            stack_pointer,
            pages: memory.size(&store),
            holds: None,
            store,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// Nothing of it leads to the memory.
    pub(super) fn host(&self) -> &Host {
        self.store.data()
    }

    pub(super) fn host_mut(&mut self) -> &mut Host {
        self.store.data_mut()
    }

    pub(super) fn fuel(&self) -> u64 {
        self.store.get_fuel().unwrap_or(0)
    }

    /// The way to everything that can change: from here on, nothing is known of the memory.
    pub(super) fn changing(&mut self) -> (&mut Store<Host>, Memory) {
        self.holds = None;
        (&mut self.store, self.memory)
    }

    pub(super) fn has_grown(&self) -> bool {
        self.memory.size(&self.store) != self.pages
    }

    /// Everything becomes what `state` says, for a call.
    pub(super) fn reset(&mut self, state: &Arc<Snapshot>, fuel: u64) -> wasmtime::Result<()> {
        self.hold(state)?;
        self.stack_pointer
            .set(&mut self.store, Val::I32(state.stack_pointer()))?;
        self.store.set_fuel(fuel)?;
        self.store.set_epoch_deadline(1);
        Ok(())
    }

    /// The memory becomes what `state` says, ahead of a call, unless it would have to grow.
    pub(super) fn prepare(&mut self, state: &Arc<Snapshot>) {
        if state.reach() <= self.bytes().len() {
            self.write(state);
        }
    }

    /// The memory and the stack pointer as they are. `base` has pages to share.
    pub(super) fn take(&mut self, base: Option<&Snapshot>) -> Arc<Snapshot> {
        let stack_pointer = self.stack_pointer.get(&mut self.store).i32().unwrap_or(0);
        let taken = Arc::new(Snapshot::take(self.bytes(), stack_pointer, base));
        self.holds = Some(Arc::clone(&taken));
        taken
    }

    fn hold(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        let missing = state.reach().saturating_sub(self.bytes().len());
        if missing > 0 {
            // Its hook needs more than an instance has at first.
            let (store, memory) = self.changing();
            memory.grow(store, missing.div_ceil(PAGE) as u64)?;
        }
        self.write(state);
        Ok(())
    }

    fn write(&mut self, state: &Arc<Snapshot>) {
        // Taken, so that a panic in here leaves nothing that is believed.
        let held = self.holds.take();
        let memory = self.memory.data_mut(&mut self.store);
        match held {
            Some(held) if Arc::ptr_eq(&held, state) => {}
            Some(held) => state.replace(&held, memory),
            None => state.restore(memory),
        }
        self.holds = Some(Arc::clone(state));
    }

    /// Writes into the memory, and moves the stack pointer, as a script should not be able to.
    #[cfg(test)]
    pub(super) fn spoil(&mut self, write: impl FnOnce(&mut [u8])) {
        let (store, memory) = self.changing();
        write(memory.data_mut(store));
        let moved = self.stack_pointer.set(&mut self.store, Val::I32(4096));
        moved.expect("of its type");
    }

    #[cfg(test)]
    pub(super) fn stack_pointer(&mut self) -> i32 {
        self.stack_pointer.get(&mut self.store).unwrap_i32()
    }
}
