//! The memory of an instance, and the record of its known contents.
//!
//! A script can change only the linear memory and one global, the stack pointer: the module has no
//! other mutable global, and no instruction that changes a table or drops a segment (checked by a
//! test). Between two runs, every byte of the memory is restored to its value after loading the
//! hook. This also undoes writes through a flaw in QuickJS.
//!
//! After a reset, and before the next call, the contents of the memory are known, so another reset
//! need not compare it. This module owns that knowledge: all changes go through [`InstanceMemory::changing`]
//! for calls, or [`InstanceMemory::put`], and both invalidate it. No other code writes to the memory, of
//! which a part may be fenced.

use std::sync::Arc;

use wasmtime::{Global, Memory, Store, Trap, Val};

use crate::sandbox::fence::Fence;
use crate::sandbox::host::Host;
use crate::sandbox::snapshot::Snapshot;

/// Size of a WebAssembly page.
const PAGE: usize = 65_536;

pub(super) struct InstanceMemory {
    store: Store<Host>,
    memory: Memory,
    stack_pointer: Global,
    /// Start of the stack, which grows towards zero.
    stack: usize,
    /// Initial number of pages.
    pages: u64,
    /// Snapshot that the memory equals, byte for byte; `None` after a call.
    contents: Option<Arc<Snapshot>>,
    /// Snapshot of the last reset: fenced pages still equal it.
    became: Option<Arc<Snapshot>>,
    fence: Fence,
}

/// Returns an address in the memory; zero if the value is not an address.
fn address(value: Val) -> usize {
    value.i32().unwrap_or(0).cast_unsigned() as usize
}

impl InstanceMemory {
    /// Wraps the memory of an instance before any code has run.
    pub(super) fn new(mut store: Store<Host>, memory: Memory, stack_pointer: Global) -> Self {
        InstanceMemory {
            stack: address(stack_pointer.get(&mut store)),
            fence: Fence::new(memory.data_size(&store)),
            memory,
            stack_pointer,
            pages: memory.size(&store),
            contents: None,
            became: None,
            store,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// Returns the host state, which gives no access to the memory.
    pub(super) fn host(&self) -> &Host {
        self.store.data()
    }

    pub(super) fn host_mut(&mut self) -> &mut Host {
        self.store.data_mut()
    }

    pub(super) fn fuel(&self) -> u64 {
        self.store.get_fuel().unwrap_or(0)
    }

    /// Returns access to all mutable state and invalidates the known contents.
    pub(super) fn changing(&mut self) -> &mut Store<Host> {
        self.contents = None;
        &mut self.store
    }

    /// Writes a text with a terminating zero to memory that the engine allocated.
    pub(super) fn put(&mut self, address: usize, text: &[u8]) -> wasmtime::Result<()> {
        self.contents = None;
        let memory = self.memory.data_mut(&mut self.store);
        let end = address + text.len();
        if end >= memory.len() {
            return Err(Trap::MemoryOutOfBounds.into());
        }
        self.fence.open_pages(address..end + 1, memory)?;
        memory[address..end].copy_from_slice(text);
        memory[end] = 0;
        Ok(())
    }

    /// Returns `true` if a call failed because it met the fence, and opens the fence there.
    /// `before` is `true` if an earlier attempt met it too.
    pub(super) fn met_fence(&mut self, error: &wasmtime::Error, before: bool) -> bool {
        if !self.fence.is_raised() || error.downcast_ref() != Some(&Trap::MemoryOutOfBounds) {
            return false;
        }
        let memory = self.memory.data_mut(&mut self.store);
        let opened = match fault_address(error) {
            Some(address) if address >= memory.len() => return false,
            Some(address) if self.fence.is_fenced(address) => {
                let admitted = self.fence.open_pages(address..address + 1, memory);
                // A run is attempted at most three times.
                if before {
                    admitted.and_then(|()| self.fence.lower(memory))
                } else {
                    admitted
                }
            }
            // Some machines may report the address less precisely than the page.
            _ => self.fence.extend_learning(memory),
        };
        opened.is_ok()
    }

    pub(super) fn has_grown(&self) -> bool {
        self.memory.size(&self.store) != self.pages
    }

    /// Restores memory, stack pointer and fuel to `state` for a call.
    pub(super) fn reset(&mut self, state: &Arc<Snapshot>, fuel: u64) -> wasmtime::Result<()> {
        self.hold(state)?;
        self.stack_pointer
            .set(&mut self.store, Val::I32(state.stack_pointer()))?;
        self.store.set_fuel(fuel)?;
        self.store.set_epoch_deadline(1);
        Ok(())
    }

    /// Restores the memory to `state` ahead of a call, unless it would have to grow.
    pub(super) fn prepare(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        if state.reach() <= self.bytes().len() {
            self.write(state)?;
        }
        Ok(())
    }

    /// Takes a snapshot of memory and stack pointer, without the data that finished calls left on
    /// the stack. `base` is the engine before a hook is loaded, whose pages are shared.
    pub(super) fn take(&mut self, base: Option<&Arc<Snapshot>>) -> wasmtime::Result<Arc<Snapshot>> {
        self.contents = None;
        let stack_pointer = self.stack_pointer.get(&mut self.store);
        let unused = address(stack_pointer).min(self.stack);
        let memory = self.memory.data_mut(&mut self.store);
        self.fence.lower(memory)?;
        memory[..unused].fill(0);
        let stack_pointer = stack_pointer.i32().unwrap_or(0);
        let taken = Arc::new(Snapshot::take(memory, stack_pointer, base));
        self.contents = Some(Arc::clone(&taken));
        Ok(taken)
    }

    /// Returns the bytes of stack used since the last reset: unused stack is zero.
    pub(super) fn depth(&self) -> usize {
        let stack = &self.bytes()[..self.stack];
        let unused = stack.iter().position(|&byte| byte != 0);
        stack.len() - unused.unwrap_or(stack.len())
    }

    /// Returns `true` if the stack overflowed below address 0: the stack is at the start of memory,
    /// so the pointer wraps to a large number.
    pub(super) fn has_left_stack(&mut self) -> bool {
        address(self.stack_pointer.get(&mut self.store)) > self.stack
    }

    fn hold(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        let missing = state.reach().saturating_sub(self.bytes().len());
        if missing > 0 {
            // The hook needs more memory than a new instance has.
            self.contents = None;
            let pages = missing.div_ceil(PAGE) as u64;
            self.memory.grow(&mut self.store, pages)?;
        }
        self.write(state)
    }

    fn write(&mut self, state: &Arc<Snapshot>) -> wasmtime::Result<()> {
        // Taken, so that an error below leaves no stale knowledge.
        let (held, has_grown) = (self.contents.take(), self.has_grown());
        let memory = self.memory.data_mut(&mut self.store);
        if has_grown {
            // Growing may have moved the memory.
            self.fence.lower(memory)?;
        }
        if let Some(became) = &self.became
            && self.fence.is_raised()
            && !Arc::ptr_eq(became, state)
        {
            for bytes in became.changed().chain(state.changed()) {
                self.fence.open_pages(bytes, memory)?;
            }
        }
        match held {
            Some(held) if Arc::ptr_eq(&held, state) => {
                self.contents = Some(held);
                return Ok(());
            }
            Some(held) => state.replace(&held, memory),
            None => self.fence.restore(state, memory),
        }
        self.became = Some(Arc::clone(state));
        if !has_grown {
            self.fence.after_reset(memory)?;
        }
        self.contents = Some(Arc::clone(state));
        Ok(())
    }

    /// Writes into the memory and moves the stack pointer, which a script must not be able to do.
    #[cfg(test)]
    pub(super) fn spoil(&mut self, write: impl FnOnce(&mut [u8])) {
        self.contents = None;
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
        self.fence.is_raised()
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

/// Returns the address of a trap in memory, which wasmtime reports only as text.
fn fault_address(error: &wasmtime::Error) -> Option<usize> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let (_, address) = text.split_once("memory fault at wasm address 0x")?;
        let digits = address.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        usize::from_str_radix(digits, 16).ok()
    })
}
