//! One instance of the engine, and how it is reset.
//!
//! Everything that a script can change is the linear memory and one global, the stack
//! pointer: the module has no other mutable global, and no instruction that changes a table
//! (held by a test). Before every run the whole memory is written over, whatever the run
//! before touched: what a flaw in QuickJS would let a script write where it should not is
//! gone as well. An instance whose memory has grown, or in which a call did not return, is
//! not used again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use wasmtime::{
    AsContextMut, Caller, Global, Instance as Wasm, Linker, Memory, Store, StoreLimits,
    StoreLimitsBuilder, Trap, TypedFunc, UpdateDeadline, Val,
};

use crate::error::BuildError;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::run::{ConsoleLevel, ConsoleLine, Failure, Stage};
use crate::sandbox::image::module;
use crate::sandbox::result::{Ended, Fields, Report, Status, cut, slice};
use crate::sandbox::watch::Watched;

const PRELUDE: &str = concat!(
    include_str!("../../js/hook-stop.js"),
    include_str!("../../engine/prelude.js")
);

/// Fuel for the engine's own start.
const BOOT_FUEL: u64 = 1_000_000_000;

/// The state of an instance between two calls. Only ever copied from.
pub(crate) struct Snapshot {
    /// Without the zeros before and behind it: the unused stack, and the unused heap.
    memory: Box<[u8]>,
    /// Where it begins.
    start: usize,
    stack_pointer: i32,
}

impl Snapshot {
    pub(crate) fn bytes(&self) -> usize {
        self.memory.len()
    }
}

/// What makes instances: the limits, and the state of the engine before any hook is loaded.
pub(crate) struct Sandbox {
    limits: Limits,
    base: Snapshot,
    hash_memory: bool,
}

/// What a call is given besides its input.
pub(crate) struct Given {
    pub(crate) now_ms: i64,
    pub(crate) seed: u64,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) allowance: Allowance,
}

/// What one run may use, where that is not what every run of the engine may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Fuel, at most that of the limits.
    pub(crate) fuel: Option<u64>,
    /// Time, at most that of the limits.
    pub(crate) wall: Option<Duration>,
    /// Whether it has `context.http`. The import refuses it to every other run.
    pub(crate) http: bool,
}

pub(crate) struct Instance {
    store: Store<Host>,
    memory: Memory,
    stack_pointer: Global,
    room: TypedFunc<u32, u32>,
    load: TypedFunc<(u32, u32, f64, u64, u32), u32>,
    run: TypedFunc<(u32, u32, f64, u64, u32, u32), u32>,
    heap: TypedFunc<(), u64>,
    result: u32,
    pages: u64,
    spoiled: bool,
}

/// What the instance's only import, and its interruption, work on.
struct Host {
    memory: StoreLimits,
    console: Vec<ConsoleLine>,
    console_dropped: usize,
    console_lines: usize,
    console_line: usize,
    /// Requests that the run made; none where it may make none.
    outbox: Option<Outbox>,
    wall: Duration,
    deadline: Instant,
    cancelled: Arc<AtomicBool>,
}

impl Sandbox {
    pub(crate) fn new(limits: Limits, hash_memory: bool) -> Result<Self, BuildError> {
        let mut sandbox = Sandbox {
            limits,
            hash_memory,
            base: Snapshot {
                memory: Box::default(),
                start: 0,
                stack_pointer: 0,
            },
        };
        sandbox.base = sandbox
            .boot()
            .map_err(|error| BuildError::Engine(format!("{error:#}")))?;
        Ok(sandbox)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn boot(&self) -> wasmtime::Result<Snapshot> {
        let (mut instance, wasm) = self.bare()?;
        let heap = u32::try_from(self.limits.heap)?;
        let stack = u32::try_from(self.limits.stack)?;
        let store = &mut instance.store;
        store.set_fuel(BOOT_FUEL)?;
        store.set_epoch_deadline(1);
        let limits = wasm.get_typed_func::<(u32, u32), ()>(&mut *store, "limits")?;
        let boot = wasm.get_typed_func::<(u32, u32), u32>(&mut *store, "boot")?;
        limits.call(&mut *store, (heap, stack))?;
        let (address, length) = instance
            .put(PRELUDE.as_bytes())?
            .ok_or_else(|| wasmtime::format_err!("the heap has no room for the engine"))?;
        let status = boot.call(&mut instance.store, (address, length))?;
        if status != 0 {
            let memory = instance.memory.data(&instance.store);
            let said = Fields::read(memory, instance.result).and_then(|fields| fields.said(memory));
            let message = said.map(|said| said.message).unwrap_or_default();
            wasmtime::bail!("its prelude fails with status {status}: {message}");
        }
        // Once more, now that there is a stack to limit.
        limits.call(&mut instance.store, (heap, stack))?;
        Ok(instance.snapshot())
    }

    /// An instance, as the module declares it.
    fn bare(&self) -> wasmtime::Result<(Instance, Wasm)> {
        let (engine, module) = module().map_err(|error| wasmtime::format_err!("{error}"))?;
        let limits = &self.limits;
        let host = Host {
            // What the heap may hold, and room for what lies between its objects.
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
        store.set_fuel(BOOT_FUEL)?;
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
        let result = wasm
            .get_typed_func::<(), u32>(&mut store, "result")?
            .call(&mut store, ())?;
        let instance = Instance {
            memory,
            stack_pointer,
            room: wasm.get_typed_func(&mut store, "room")?,
            load: wasm.get_typed_func(&mut store, "load")?,
            run: wasm.get_typed_func(&mut store, "run")?,
            heap: wasm.get_typed_func(&mut store, "heap")?,
            result,
            pages: memory.size(&store),
            spoiled: false,
            store,
        };
        Ok((instance, wasm))
    }

    /// An instance for a worker.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        match self.bare() {
            Ok((instance, _)) => Ok(instance),
            Err(error) => Err(Failure::Engine(format!("{error:#}"))),
        }
    }

    /// Loads a hook. The snapshot is what its runs begin with.
    pub(crate) fn load(
        &self,
        instance: &mut Instance,
        source: &[u8],
        given: &Given,
    ) -> (Report, Option<Snapshot>) {
        let jobs = self.limits.jobs;
        let (now, seed) = (given.now_ms as f64, given.seed);
        let call = |instance: &mut Instance, (address, length)| {
            let load = instance.load.clone();
            load.call(&mut instance.store, (address, length, now, seed, jobs))
        };
        let report = self.call(
            instance,
            &self.base,
            self.limits.load_fuel,
            source,
            given,
            call,
        );
        let loaded = matches!(report.ended, Ended::Returned(Status::Done, _));
        let snapshot = loaded.then(|| instance.snapshot());
        (report, snapshot)
    }

    /// Runs a hook, from its snapshot.
    pub(crate) fn run(
        &self,
        instance: &mut Instance,
        hook: &Snapshot,
        stage: Stage,
        input: &[u8],
        given: &Given,
    ) -> Report {
        let jobs = self.limits.jobs;
        let (now, seed) = (given.now_ms as f64, given.seed);
        let Allowance { fuel, http, .. } = given.allowance;
        let mode = u32::from(stage == Stage::Pre) | u32::from(http) << 1;
        let fuel = fuel.map_or(self.limits.fuel, |fuel| fuel.min(self.limits.fuel));
        let call = |instance: &mut Instance, (address, length)| {
            let run = instance.run.clone();
            run.call(
                &mut instance.store,
                (address, length, now, seed, jobs, mode),
            )
        };
        self.call(instance, hook, fuel, input, given, call)
    }

    fn call(
        &self,
        instance: &mut Instance,
        state: &Snapshot,
        fuel: u64,
        input: &[u8],
        given: &Given,
        call: impl FnOnce(&mut Instance, (u32, u32)) -> wasmtime::Result<u32>,
    ) -> Report {
        let watched = Watched::new();
        let host = instance.store.data_mut();
        let wall = given.allowance.wall;
        host.wall = wall.map_or(self.limits.wall, |wall| wall.min(self.limits.wall));
        host.deadline = Instant::now() + host.wall;
        host.outbox = given
            .allowance
            .http
            .then(|| Outbox::new(self.limits.outbox, self.limits.outbox_bytes));
        host.cancelled = Arc::clone(&given.cancelled);
        host.console.clear();
        host.console_dropped = 0;
        let called = instance
            .reset(state, fuel)
            .and_then(|()| match instance.put(input)? {
                Some(place) => call(instance, place).map(Some),
                None => Ok(None),
            });
        drop(watched);

        let used = fuel - instance.store.get_fuel().unwrap_or(0).min(fuel);
        let heap = instance.heap_state();
        let ended = match called {
            Err(error) => {
                instance.spoiled = true;
                self.trapped(instance, fuel, &error, heap)
            }
            Ok(None) => Ended::Failed(Failure::Heap(self.limits.heap)),
            Ok(Some(status)) => {
                let memory = instance.memory.data(&instance.store);
                let fields = Fields::read(memory, instance.result);
                self.returned(instance, status, fields, heap)
            }
        };
        let hash = self
            .hash_memory
            .then(|| hex(&Sha256::digest(instance.memory.data(&instance.store))));
        let host = instance.store.data_mut();
        Report {
            ended,
            fuel: used,
            peak: heap.peak,
            console: std::mem::take(&mut host.console),
            console_dropped: host.console_dropped,
            outbox: host
                .outbox
                .take()
                .map(Outbox::into_requests)
                .unwrap_or_default(),
            memory_hash: hash,
        }
    }

    fn trapped(
        &self,
        instance: &Instance,
        fuel: u64,
        error: &wasmtime::Error,
        heap: Heap,
    ) -> Ended {
        Ended::Failed(match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Failure::Fuel(fuel),
            Some(Trap::Interrupt) if instance.store.data().cancelled.load(Relaxed) => {
                return Ended::Cancelled;
            }
            Some(Trap::Interrupt) => Failure::Wall(instance.store.data().wall),
            Some(Trap::StackOverflow) => Failure::Stack(self.limits.stack),
            // The engine gives up in places where it has no memory to say why.
            _ if heap.refused => Failure::Heap(self.limits.heap),
            _ => Failure::Engine(format!("{error:#}")),
        })
    }

    fn returned(
        &self,
        instance: &mut Instance,
        status: u32,
        fields: Option<Fields>,
        heap: Heap,
    ) -> Ended {
        // Whatever the script made of it: what it was refused is not known to it.
        if heap.refused {
            return Ended::Failed(Failure::Heap(self.limits.heap));
        }
        let status = match status {
            0 => Status::Done,
            1 => Status::Stop,
            2 => Status::Thrown,
            3 => Status::Syntax,
            4 => Status::Imported,
            5 => Status::Exports,
            6 => Status::Unsettled,
            7 => Status::NoData,
            8 => return Ended::Failed(Failure::Jobs(self.limits.jobs)),
            _ => {
                instance.spoiled = true;
                return Ended::Failed(Failure::Engine(format!("status {status}")));
            }
        };
        if let Some(fields) = &fields {
            let bytes = fields.text_length();
            if status == Status::Done && bytes > self.limits.output {
                let limit = self.limits.output;
                return Ended::Failed(Failure::Output { bytes, limit });
            }
        }
        let memory = instance.memory.data(&instance.store);
        match fields.and_then(|fields| fields.said(memory)) {
            Some(said) => Ended::Returned(status, said),
            None => {
                instance.spoiled = true;
                Ended::Failed(Failure::Engine(
                    "its answer lies outside of its memory".to_owned(),
                ))
            }
        }
    }
}

impl Instance {
    /// Whether it can be reset by writing over its memory.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.spoiled && self.memory.size(&self.store) == self.pages
    }

    fn reset(&mut self, state: &Snapshot, fuel: u64) -> wasmtime::Result<()> {
        let end = state.start + state.memory.len();
        let missing = end.saturating_sub(self.memory.data_size(&self.store));
        if missing > 0 {
            // Its hook needs more than an instance has at first.
            self.memory
                .grow(&mut self.store, missing.div_ceil(PAGE) as u64)?;
        }
        let memory = self.memory.data_mut(&mut self.store);
        memory[..state.start].fill(0);
        memory[state.start..end].copy_from_slice(&state.memory);
        memory[end..].fill(0);
        self.stack_pointer
            .set(&mut self.store, Val::I32(state.stack_pointer))?;
        self.store.set_fuel(fuel)?;
        self.store.set_epoch_deadline(1);
        Ok(())
    }

    fn snapshot(&mut self) -> Snapshot {
        let memory = self.memory.data(&self.store);
        let start = memory.iter().position(|&byte| byte != 0).unwrap_or(0);
        let end = memory
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(start, |last| last + 1);
        Snapshot {
            memory: memory[start..end].into(),
            start,
            stack_pointer: self.stack_pointer.get(&mut self.store).i32().unwrap_or(0),
        }
    }

    /// Puts a text into the heap, with a zero behind it; `None` if there is no room.
    fn put(&mut self, text: &[u8]) -> wasmtime::Result<Option<(u32, u32)>> {
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

    fn heap_state(&mut self) -> Heap {
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
struct Heap {
    peak: usize,
    refused: bool,
}

const PAGE: usize = 65_536;

impl Host {
    /// The import `console`.
    fn write(mut caller: Caller<'_, Host>, level: u32, address: u32, length: u32) {
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
    fn post(
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

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Given, Instance, Sandbox, Snapshot};
    use crate::limits::Limits;
    use crate::run::Stage;
    use crate::sandbox::result::{Ended, Report, Status};
    use wasmtime::Val;

    const HOOK: &[u8] =
        b"let n = 0; export default ({ in: m }) => ({ out: { ...m, n: ++n, r: Math.random() } });";
    const INPUT: &[u8] = br#"{"stage":"pre","in":{"text":"x"},"data":{}}"#;

    fn given() -> Given {
        Given {
            now_ms: 0,
            seed: 7,
            cancelled: Default::default(),
            allowance: Default::default(),
        }
    }

    fn loaded() -> (Sandbox, Instance, Snapshot) {
        let sandbox = Sandbox::new(Limits::default(), true).unwrap();
        let mut instance = sandbox.instance().unwrap();
        let (report, snapshot) = sandbox.load(&mut instance, HOOK, &given());
        let snapshot = snapshot.unwrap_or_else(|| panic!("{report:?}"));
        (sandbox, instance, snapshot)
    }

    fn run(sandbox: &Sandbox, instance: &mut Instance, hook: &Snapshot) -> (String, u64, String) {
        match sandbox.run(instance, hook, Stage::Pre, INPUT, &given()) {
            Report {
                ended: Ended::Returned(Status::Done, said),
                fuel,
                memory_hash: Some(hash),
                ..
            } => (said.text(), fuel, hash),
            other => panic!("{other:?}"),
        }
    }

    /// Marks on every byte: the stack, what the engine believes to be constant, the objects,
    /// the unused heap. And the one global that code can change.
    #[test]
    fn s_24_a_run_sees_nothing_of_what_was_in_memory_before_it() {
        let (sandbox, mut instance, hook) = loaded();
        let first = run(&sandbox, &mut instance, &hook);
        for mark in [0x00, 0xa5, 0xff] {
            instance.memory.data_mut(&mut instance.store).fill(mark);
            instance
                .stack_pointer
                .set(&mut instance.store, Val::I32(4096))
                .unwrap();
            assert_eq!(run(&sandbox, &mut instance, &hook), first);
        }
        // An instance that has run nothing is in the same state.
        assert_eq!(
            run(&sandbox, &mut sandbox.instance().unwrap(), &hook),
            first
        );
    }

    /// The test above would not fail if nothing of this were read: marks do change a run that
    /// is not preceded by a reset.
    #[test]
    fn s_24_what_is_in_memory_would_be_seen_without_the_reset() {
        let (_, mut instance, _) = loaded();
        let place = instance.put(INPUT).unwrap().unwrap();
        instance.memory.data_mut(&mut instance.store).fill(0xa5);
        let run = instance.run.clone();
        assert!(
            run.call(&mut instance.store, (place.0, place.1, 0.0, 7, 100, 1))
                .is_err()
        );
    }

    #[test]
    fn s_24_snapshots_of_one_hook_are_the_same_from_any_instance() {
        let (sandbox, mut instance, one) = loaded();
        let (_, two) = sandbox.load(&mut instance, HOOK, &given());
        let (_, three) = sandbox.load(&mut sandbox.instance().unwrap(), HOOK, &given());
        for other in [two.unwrap(), three.unwrap()] {
            assert!(other.memory == one.memory && other.start == one.start);
            assert_eq!(other.stack_pointer, one.stack_pointer);
        }
    }

    #[test]
    fn s_24_an_instance_that_grew_or_trapped_is_not_used_again() {
        let (sandbox, mut instance, hook) = loaded();
        run(&sandbox, &mut instance, &hook);
        assert!(instance.is_reusable());
        let load = |source: &[u8]| {
            let mut instance = sandbox.instance().unwrap();
            let hook = sandbox.load(&mut instance, source, &given()).1.unwrap();
            sandbox.run(&mut instance, &hook, Stage::Pre, INPUT, &given());
            instance.is_reusable()
        };
        assert!(!load(b"export default () => { new Uint8Array(4 << 20); };"));
        assert!(!load(b"export default () => { for (;;) {} };"));
    }

    /// Behind the heap's own limit stands that of the memory.
    #[test]
    fn s_22_memory_cannot_grow_beyond_the_heap() {
        let (sandbox, mut instance, _) = loaded();
        let pages = (sandbox.limits.heap * 2).div_ceil(super::PAGE) as u64;
        assert!(instance.memory.grow(&mut instance.store, pages).is_err());
    }
}
