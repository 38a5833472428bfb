//! What instances are made of and do: boot, load, run; and what becomes of their answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use wasmtime::{Instance as Wasm, Linker, Store, StoreLimitsBuilder, Trap, UpdateDeadline};

use crate::error::BuildError;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::run::{Failure, Stage};
use crate::sandbox::image::module;
use crate::sandbox::instance::{Heap, Host, Instance};
use crate::sandbox::result::{Ended, Fields, Report, Status};
use crate::sandbox::snapshot::Snapshot;
use crate::sandbox::watch::Watched;

/// What runs before any hook.
pub const PRELUDE: &str = concat!(
    include_str!("../../js/hook-stop.js"),
    include_str!("../../engine/prelude.js")
);

/// Fuel for the engine's own start.
const BOOT_FUEL: u64 = 1_000_000_000;

/// What makes instances: the limits, and the state of the engine before any hook is loaded.
pub(crate) struct Sandbox {
    limits: Limits,
    base: Arc<Snapshot>,
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

impl Sandbox {
    pub(crate) fn new(limits: Limits, hash_memory: bool) -> Result<Self, BuildError> {
        let base = boot(&limits).map_err(|error| BuildError::Engine(format!("{error:#}")))?;
        Ok(Sandbox {
            limits,
            base,
            hash_memory,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// An instance for a worker.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        match bare(&self.limits) {
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
    ) -> (Report, Option<Arc<Snapshot>>) {
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
        let snapshot = loaded.then(|| instance.snapshot(Some(&self.base)));
        (report, snapshot)
    }

    /// Runs a hook, from its snapshot.
    pub(crate) fn run(
        &self,
        instance: &mut Instance,
        hook: &Arc<Snapshot>,
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
        state: &Arc<Snapshot>,
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

fn boot(limits: &Limits) -> wasmtime::Result<Arc<Snapshot>> {
    let (mut instance, wasm) = bare(limits)?;
    let heap = u32::try_from(limits.heap)?;
    let stack = u32::try_from(limits.stack)?;
    let store = &mut instance.store;
    store.set_fuel(BOOT_FUEL)?;
    store.set_epoch_deadline(1);
    let limit = wasm.get_typed_func::<(u32, u32), ()>(&mut *store, "limits")?;
    let boot = wasm.get_typed_func::<(u32, u32), u32>(&mut *store, "boot")?;
    limit.call(&mut *store, (heap, stack))?;
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
    limit.call(&mut instance.store, (heap, stack))?;
    Ok(instance.snapshot(None))
}

/// An instance, as the module declares it.
fn bare(limits: &Limits) -> wasmtime::Result<(Instance, Wasm)> {
    let (engine, module) = module().map_err(|error| wasmtime::format_err!("{error}"))?;
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
        holds: None,
        store,
    };
    Ok((instance, wasm))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Given, Sandbox};
    use crate::limits::Limits;
    use crate::run::Stage;
    use crate::sandbox::instance::{Instance, PAGE};
    use crate::sandbox::result::{Ended, Report, Status};
    use crate::sandbox::snapshot::Snapshot;
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

    fn loaded() -> (Sandbox, Instance, Arc<Snapshot>) {
        let sandbox = Sandbox::new(Limits::default(), true).unwrap();
        let mut instance = sandbox.instance().unwrap();
        let (report, snapshot) = sandbox.load(&mut instance, HOOK, &given());
        let snapshot = snapshot.unwrap_or_else(|| panic!("{report:?}"));
        (sandbox, instance, snapshot)
    }

    fn run(
        sandbox: &Sandbox,
        instance: &mut Instance,
        hook: &Arc<Snapshot>,
    ) -> (String, u64, String) {
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

    /// The worker resets after a run, for the same hook; the next run may be another's.
    #[test]
    fn s_24_an_instance_that_was_reset_ahead_runs_every_hook_the_same() {
        let (sandbox, mut instance, hook) = loaded();
        let other: &[u8] = b"const l = 'x'.repeat(9000); export default () => ({ out: { l } });";
        let (_, other) = sandbox.load(&mut instance, other, &given());
        let other = other.unwrap();
        let first = run(&sandbox, &mut instance, &hook);
        for ahead in [&hook, &other] {
            instance.memory.data_mut(&mut instance.store).fill(0xa5);
            instance.prepare(ahead);
            assert_eq!(run(&sandbox, &mut instance, &hook), first);
        }
        // Straight after another hook was loaded.
        sandbox.load(&mut instance, b"export default () => {};", &given());
        assert_eq!(run(&sandbox, &mut instance, &hook), first);
    }

    /// The tests above would not fail if nothing of this were read: marks do change a run that
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
            assert!(other.is_same(&one));
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
        let pages = (sandbox.limits.heap * 2).div_ceil(PAGE) as u64;
        assert!(instance.memory.grow(&mut instance.store, pages).is_err());
    }
}
