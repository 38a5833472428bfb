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
//! memory comes through [`Space::changing`], to call, or [`Space::put`], which forget it.
//! Nobody else writes to the memory, of which a part may be fenced.

use std::sync::Arc;

use wasmtime::{Global, Memory, Store, Trap, Val};

use crate::sandbox::fence::Fence;
use crate::sandbox::host::Host;
use crate::sandbox::snapshot::Snapshot;

/// A page of WebAssembly.
const PAGE: usize = 65_536;

pub(super) struct Space {
    store: Store<Host>,
    memory: Memory,
    stack_pointer: Global,
    /// Where the stack begins, which grows to zero.
    stack: usize,
    /// How many pages it had at first.
    pages: u64,
    /// What memory is, byte for byte, as long as nothing has run since.
    holds: Option<Arc<Snapshot>>,
    /// What it became at the last reset: where it is fenced, it still is.
    became: Option<Arc<Snapshot>>,
    fence: Fence,
}

/// An address in the memory; zero for what is none.
fn address(value: Val) -> usize {
    value.i32().unwrap_or(0).cast_unsigned() as usize
}

impl Space {
    /// Of an instance in which nothing has run.
    pub(super) fn new(mut store: Store<Host>, memory: Memory, stack_pointer: Global) -> Self {
        Space {
            stack: address(stack_pointer.get(&mut store)),
            fence: Fence::new(memory.data_size(&store)),
            memory,
            stack_pointer,
            pages: memory.size(&store),
            holds: None,
            became: None,
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
    pub(super) fn changing(&mut self) -> &mut Store<Host> {
        self.holds = None;
        &mut self.store
    }

    /// Writes where the engine has made room, with a zero behind it.
    pub(super) fn put(&mut self, address: usize, text: &[u8]) -> wasmtime::Result<()> {
        self.holds = None;
        let memory = self.memory.data_mut(&mut self.store);
        let end = address + text.len();
        if end >= memory.len() {
            return Err(Trap::MemoryOutOfBounds.into());
        }
        self.fence.admit(address..end + 1, memory)?;
        memory[address..end].copy_from_slice(text);
        memory[end] = 0;
        Ok(())
    }

    /// Whether a call failed because it met the fence; it would not again. `before` is whether it
    /// already has.
    pub(super) fn met_fence(&mut self, error: &wasmtime::Error, before: bool) -> bool {
        if !self.fence.stands() || error.downcast_ref() != Some(&Trap::MemoryOutOfBounds) {
            return false;
        }
        let memory = self.memory.data_mut(&mut self.store);
        let opened = match fault(error) {
            Some(address) if address >= memory.len() => return false,
            Some(address) if self.fence.is_fenced(address) => {
                let admitted = self.fence.admit(address..address + 1, memory);
                // No run is made more than three times.
                if before {
                    admitted.and_then(|()| self.fence.lower(memory))
                } else {
                    admitted
                }
            }
            // Some machines may tell the place less exactly than the page.
            _ => self.fence.learn_longer(memory),
        };
        opened.is_ok()
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
    pub(super) fn prepare(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        if state.reach() <= self.bytes().len() {
            self.write(state)?;
        }
        Ok(())
    }

    /// The memory and the stack pointer as they are, but for what calls that have returned left on
    /// the stack. `base` is the engine before a hook is loaded, and has pages to share.
    pub(super) fn take(&mut self, base: Option<&Arc<Snapshot>>) -> wasmtime::Result<Arc<Snapshot>> {
        self.holds = None;
        let stack_pointer = self.stack_pointer.get(&mut self.store);
        let unused = address(stack_pointer).min(self.stack);
        let memory = self.memory.data_mut(&mut self.store);
        self.fence.lower(memory)?;
        memory[..unused].fill(0);
        let stack_pointer = stack_pointer.i32().unwrap_or(0);
        let taken = Arc::new(Snapshot::take(memory, stack_pointer, base));
        self.holds = Some(Arc::clone(&taken));
        Ok(taken)
    }

    /// How much of the stack was used since the last reset, in bytes: what is unused is zeros.
    pub(super) fn depth(&self) -> usize {
        let stack = &self.bytes()[..self.stack];
        let unused = stack.iter().position(|&byte| byte != 0);
        stack.len() - unused.unwrap_or(stack.len())
    }

    /// Whether the stack has gone below the memory, where it lies first: what is counted down from
    /// there is a large number.
    pub(super) fn has_left_stack(&mut self) -> bool {
        address(self.stack_pointer.get(&mut self.store)) > self.stack
    }

    fn hold(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        let missing = state.reach().saturating_sub(self.bytes().len());
        if missing > 0 {
            // Its hook needs more than an instance has at first.
            self.holds = None;
            let pages = missing.div_ceil(PAGE) as u64;
            self.memory.grow(&mut self.store, pages)?;
        }
        self.write(state)
    }

    fn write(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        // Taken, so that what fails in here leaves nothing that is believed.
        let (held, has_grown) = (self.holds.take(), self.has_grown());
        let memory = self.memory.data_mut(&mut self.store);
        if has_grown {
            // It may lie elsewhere now.
            self.fence.lower(memory)?;
        }
        if let Some(became) = &self.became
            && self.fence.stands()
            && !Arc::ptr_eq(became, state)
        {
            for bytes in became.changed().chain(state.changed()) {
                self.fence.admit(bytes, memory)?;
            }
        }
        match held {
            Some(held) if Arc::ptr_eq(&held, state) => {
                self.holds = Some(held);
                return Ok(());
            }
            Some(held) => state.replace(&held, memory),
            None => self.fence.restore(state, memory),
        }
        self.became = Some(Arc::clone(state));
        if !has_grown {
            self.fence.settle(memory)?;
        }
        self.holds = Some(Arc::clone(state));
        Ok(())
    }

    /// Writes into the memory, and moves the stack pointer, as a script should not be able to.
    #[cfg(test)]
    pub(super) fn spoil(&mut self, write: impl FnOnce(&mut [u8])) {
        self.holds = None;
        let memory = self.memory.data_mut(&mut self.store);
        self.fence.lower(memory).expect("the machine can");
        write(memory);
        self.move_stack(4096);
    }

    #[cfg(test)]
    pub(super) fn move_stack(&mut self, to: i32) {
        let moved = self.stack_pointer.set(&mut self.store, Val::I32(to));
        moved.expect("of its type");
    }

    #[cfg(test)]
    pub(super) fn is_fenced(&self) -> bool {
        self.fence.stands()
    }

    #[cfg(test)]
    pub(super) fn grow(&mut self, pages: u64) -> wasmtime::Result<u64> {
        self.memory.grow(&mut self.store, pages)
    }

    #[cfg(test)]
    pub(super) fn stack_pointer(&mut self) -> i32 {
        self.stack_pointer.get(&mut self.store).unwrap_i32()
    }
}

/// Where a trap was in memory, which wasmtime says in words only.
fn fault(error: &wasmtime::Error) -> Option<usize> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let (_, address) = text.split_once("memory fault at wasm address 0x")?;
        let digits = address.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        usize::from_str_radix(digits, 16).ok()
    })
}
