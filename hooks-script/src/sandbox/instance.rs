//! One instance of the engine: what it can be asked to do, and what it can ask of the host.
//!
//! An instance whose memory has grown, or in which a call did not return, is not used again,
//! unless the call met the [`fence`](super::fence).

use std::sync::Arc;

use wasmtime::{Instance as Wasm, Linker, TypedFunc};

use crate::limits::Limits;
use crate::sandbox::host::Host;
use crate::sandbox::machine::module;
use crate::sandbox::result::Fields;
use crate::sandbox::snapshot::Snapshot;
use crate::sandbox::space::Space;

/// Fuel for the engine's own start.
const BOOT_FUEL: u64 = 1_000_000_000;

/// Address and length of a text in memory.
pub(super) type Place = (u32, u32);

pub(crate) struct Instance {
    pub(super) space: Space,
    room: TypedFunc<u32, u32>,
    load: TypedFunc<(u32, u32, f64, u64, u32), u32>,
    read: TypedFunc<(u32, u32), u32>,
    run: TypedFunc<(f64, u64, u32, u32), u32>,
    heap: TypedFunc<(), u64>,
    result: u32,
    pub(super) spoiled: bool,
}

/// What both calls of the engine are given besides their text.
#[derive(Clone, Copy)]
pub(super) struct Circumstances {
    pub(super) now_ms: f64,
    pub(super) seed: u64,
    pub(super) jobs: u32,
}

impl Instance {
    /// One as the module declares it, in which nothing has run.
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
            spoiled: false,
            space: Space::new(store, memory, stack_pointer),
        };
        Ok((instance, wasm))
    }

    /// An engine into which no hook is loaded yet: what every hook is loaded into.
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
            let said = instance.fields().and_then(|fields| fields.said(memory));
            let message = said.map(|said| said.message).unwrap_or_default();
            wasmtime::bail!("its prelude fails with status {status}: {message}");
        }
        // Once more, now that there is a stack to limit.
        limit.call(instance.space.changing(), (heap, stack))?;
        instance.space.take(None)
    }

    /// Whether it can be reset by writing over its memory.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.spoiled && !self.space.has_grown()
    }

    /// Does ahead of time what the next run of this hook would have to wait for. Nothing of
    /// the last run is left then, either.
    pub(crate) fn prepare(&mut self, state: &Arc<Snapshot>) {
        if self.is_reusable() {
            self.spoiled = self.space.prepare(state).is_err();
        }
    }

    /// Compiles a hook, and evaluates its top level.
    pub(super) fn load(
        &mut self,
        (address, length): Place,
        with: Circumstances,
    ) -> wasmtime::Result<u32> {
        let given = (address, length, with.now_ms, with.seed, with.jobs);
        self.load.call(self.space.changing(), given)
    }

    /// Reads the context that [`run`](Self::run) gives to the hook.
    pub(super) fn read(&mut self, place: Place) -> wasmtime::Result<u32> {
        self.read.call(self.space.changing(), place)
    }

    /// Calls the hook, with this much fuel. `mode` is of the shim's `enum mode`.
    pub(super) fn run(
        &mut self,
        fuel: u64,
        with: Circumstances,
        mode: u32,
    ) -> wasmtime::Result<u32> {
        let store = self.space.changing();
        store.set_fuel(fuel)?;
        let given = (with.now_ms, with.seed, with.jobs, mode);
        self.run.call(store, given)
    }

    /// Puts a text into the heap, with a zero behind it; `None` if there is no room.
    pub(super) fn put(&mut self, text: &[u8]) -> wasmtime::Result<Option<Place>> {
        let length = u32::try_from(text.len())?;
        let address = self.room.call(self.space.changing(), length)?;
        if address == 0 {
            return Ok(None);
        }
        self.space.put(address as usize, text)?;
        Ok(Some((address, length)))
    }

    /// What the last call says, unless that lies outside of memory.
    pub(super) fn fields(&self) -> Option<Fields> {
        Fields::read(self.space.bytes(), self.result)
    }

    pub(super) fn heap_state(&mut self) -> Heap {
        // A call that did not return may have used up its fuel, or its time.
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

/// What a call did with the heap.
#[derive(Clone, Copy)]
pub(super) struct Heap {
    pub(super) peak: usize,
    pub(super) refused: bool,
}
