//! One instance of the engine: its exports as methods, and its state between calls.
//!
//! An instance is not used again if its memory has grown or a call did not return, unless the call
//! met the [`fence`](super::fence).

use std::sync::Arc;

use wasmtime::{Instance as Wasm, Linker, TypedFunc};

use crate::limits::Limits;
use crate::sandbox::host::Host;
use crate::sandbox::machine::module;
use crate::sandbox::memory::InstanceMemory;
use crate::sandbox::result::ResultFields;
use crate::sandbox::snapshot::Snapshot;

/// Fuel for starting the engine.
const BOOT_FUEL: u64 = 1_000_000_000;

/// Address and length of a text in memory.
pub(super) type TextRange = (u32, u32);

pub(crate) struct Instance {
    pub(super) space: InstanceMemory,
    room: TypedFunc<u32, u32>,
    load: TypedFunc<(u32, u32, f64, u64, u32), u32>,
    read: TypedFunc<(u32, u32), u32>,
    run: TypedFunc<(f64, u64, u32, u32), u32>,
    heap: TypedFunc<(), u64>,
    result: u32,
    pub(super) is_spoiled: bool,
}

/// Arguments of the engine's `load` and `run` besides their text.
#[derive(Clone, Copy)]
pub(super) struct EngineArgs {
    pub(super) now_ms: f64,
    pub(super) seed: u64,
    pub(super) jobs: u32,
}

impl Instance {
    /// Creates an instance as the module declares it, before any code has run.
    pub(super) fn new(limits: &Limits) -> wasmtime::Result<(Self, Wasm)> {
        let (engine, module) = module().map_err(|error| wasmtime::format_err!("{error}"))?;
        let mut store = Host::store(engine, limits);
        store.set_fuel(BOOT_FUEL)?;
        store.set_epoch_deadline(1);
        let mut linker = Linker::new(engine);
        linker.func_wrap("host", "console", Host::write)?;
        linker.func_wrap("host", "post", Host::post)?;
        let wasm = linker.instantiate(&mut store, module)?;
        let missing = |name| wasmtime::format_err!("the engine does not export `{name}`");
        let memory = wasm
            .get_memory(&mut store, "memory")
            .ok_or_else(|| missing("memory"))?;
        let stack_pointer = wasm
            .get_global(&mut store, "__stack_pointer")
            .ok_or_else(|| missing("__stack_pointer"))?;
        let instance = Instance {
            room: wasm.get_typed_func(&mut store, "room")?,
            load: wasm.get_typed_func(&mut store, "load")?,
            read: wasm.get_typed_func(&mut store, "read")?,
            run: wasm.get_typed_func(&mut store, "run")?,
            heap: wasm.get_typed_func(&mut store, "heap")?,
            result: wasm
                .get_typed_func::<(), u32>(&mut store, "result")?
                .call(&mut store, ())?,
            is_spoiled: false,
            space: InstanceMemory::new(store, memory, stack_pointer),
        };
        Ok((instance, wasm))
    }

    /// Starts an engine without a hook. Every hook is loaded into a copy of this state.
    pub(super) fn boot(limits: &Limits, prelude: &str) -> wasmtime::Result<Arc<Snapshot>> {
        let (mut instance, wasm) = Instance::new(limits)?;
        let heap = u32::try_from(limits.heap)?;
        let stack = u32::try_from(limits.stack)?;
        let mut store = instance.space.changing();
        let limit = wasm.get_typed_func::<(u32, u32), ()>(&mut store, "limits")?;
        let boot = wasm.get_typed_func::<(u32, u32), u32>(&mut store, "boot")?;
        limit.call(&mut store, (heap, stack))?;
        let place = instance
            .put(prelude.as_bytes())?
            .ok_or_else(|| wasmtime::format_err!("the heap has no room for the engine"))?;
        let status = boot.call(instance.space.changing(), place)?;
        if status != 0 {
            let memory = instance.space.bytes();
            let texts = instance.fields().and_then(|fields| fields.texts(memory));
            let message = texts.map(|said| said.message).unwrap_or_default();
            wasmtime::bail!("its prelude fails with status {status}: {message}");
        }
        // Repeat the call, because now there is a stack to limit.
        limit.call(instance.space.changing(), (heap, stack))?;
        instance.space.take(None)
    }

    /// Returns `true` if the instance can be reset by overwriting its memory.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.is_spoiled && !self.space.has_grown()
    }

    /// Resets the memory for the next run of this hook ahead of time. This also erases all data of
    /// the last run.
    pub(crate) fn prepare(&mut self, state: &Arc<Snapshot>) {
        if self.is_reusable() {
            self.is_spoiled = self.space.prepare(state).is_err();
        }
    }

    /// Compiles a hook and evaluates its top level.
    pub(super) fn load(
        &mut self,
        (address, length): TextRange,
        with: EngineArgs,
    ) -> wasmtime::Result<u32> {
        let given = (address, length, with.now_ms, with.seed, with.jobs);
        self.load.call(self.space.changing(), given)
    }

    /// Reads the context that [`run`](Self::run) passes to the hook.
    pub(super) fn read(&mut self, place: TextRange) -> wasmtime::Result<u32> {
        self.read.call(self.space.changing(), place)
    }

    /// Calls the hook with this much fuel. `mode` is a value of the shim's `enum mode`.
    pub(super) fn run(&mut self, fuel: u64, with: EngineArgs, mode: u32) -> wasmtime::Result<u32> {
        let store = self.space.changing();
        store.set_fuel(fuel)?;
        let given = (with.now_ms, with.seed, with.jobs, mode);
        self.run.call(store, given)
    }

    /// Copies a text with a terminating zero into the heap; `None` if there is no room.
    pub(super) fn put(&mut self, text: &[u8]) -> wasmtime::Result<Option<TextRange>> {
        let length = u32::try_from(text.len())?;
        let address = self.room.call(self.space.changing(), length)?;
        if address == 0 {
            return Ok(None);
        }
        self.space.put(address as usize, text)?;
        Ok(Some((address, length)))
    }

    /// Returns the result of the last call, or `None` if it is outside of memory.
    pub(super) fn fields(&self) -> Option<ResultFields> {
        ResultFields::read(self.space.bytes(), self.result)
    }

    pub(super) fn heap_state(&mut self) -> Heap {
        // A call that did not return may have used up its fuel or its time.
        let fuel = self.space.fuel();
        let store = self.space.changing();
        store.set_epoch_deadline(u64::from(u32::MAX));
        let asked = store
            .set_fuel(1_000)
            .and_then(|()| self.heap.call(&mut *store, ()));
        let _ = store.set_fuel(fuel);
        let state = asked.unwrap_or(0);
        Heap {
            peak: (state & u64::from(u32::MAX)) as usize,
            refused: state >> 32 != 0,
        }
    }
}

/// Heap usage of a call.
#[derive(Clone, Copy)]
pub(super) struct Heap {
    pub(super) peak: usize,
    pub(super) refused: bool,
}
