//! Calls into an instance: boot, load and run. Source or input goes in; a report with result and
//! cost comes out.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use wasmtime::Trap;

use crate::error::BuildError;
use crate::limits::Limits;
use crate::outbox::Outbox;
use crate::run::{Failure, Stage};
use crate::sandbox::instance::{EngineArgs, Heap, Instance, TextRange};
use crate::sandbox::result::{CallEnd, CallReport, ResultFields, Status};
use crate::sandbox::snapshot::Snapshot;
use crate::sandbox::watch::TickGuard;

/// JavaScript that runs before any hook.
pub(crate) const PRELUDE: &str = concat!(
    include_str!("../../js/hook-stop.js"),
    include_str!("../../js/prelude.js")
);

/// Factory of instances: the limits, and the state of the engine before a hook is loaded.
pub(crate) struct Sandbox {
    limits: Limits,
    base: Arc<Snapshot>,
    hash_memory: bool,
}

/// Arguments of a call besides its input.
pub(crate) struct CallArgs {
    pub(crate) now_ms: i64,
    pub(crate) seed: u64,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) allowance: RunLimits,
}

/// Limits and capabilities of one run where they differ from those of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunLimits {
    /// Fuel; the limit of the engine applies too.
    pub(crate) fuel: Option<u64>,
    /// Timeout; the limit of the engine applies too.
    pub(crate) wall: Option<Duration>,
    /// Deadline, independent of the start of the run.
    pub(crate) deadline: Option<Instant>,
    /// `true` if the run has `context.http`. For every other run, the import refuses requests.
    pub(crate) http: bool,
}

/// Fuel of a call, by the work that it pays for.
#[derive(Clone, Copy)]
enum Fuel {
    /// Builds the context from the host's input. The author of the message determines this cost, so
    /// the hook does not pay for it.
    Reading(u64),
    /// Compiles or runs a script.
    Script(u64),
}

impl Fuel {
    fn limit(self) -> u64 {
        let (Fuel::Reading(limit) | Fuel::Script(limit)) = self;
        limit
    }

    /// Returns the fuel that the script used, given the fuel that is left.
    fn used(self, left: u64) -> u64 {
        match self {
            Fuel::Reading(_) => 0,
            Fuel::Script(limit) => limit.saturating_sub(left),
        }
    }

    fn exhausted(self) -> Failure {
        match self {
            Fuel::Reading(limit) => Failure::Reading(limit),
            Fuel::Script(limit) => Failure::Fuel(limit),
        }
    }
}

impl Sandbox {
    pub(crate) fn new(limits: Limits, hash_memory: bool) -> Result<Self, BuildError> {
        let base = Instance::boot(&limits, PRELUDE)
            .map_err(|error| BuildError::Engine(format!("{error:#}")))?;
        Ok(Sandbox {
            limits,
            base,
            hash_memory,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    #[cfg(test)]
    pub(super) fn base(&self) -> &Arc<Snapshot> {
        &self.base
    }

    /// Creates an instance for a worker.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        match Instance::new(&self.limits) {
            Ok((instance, _)) => Ok(instance),
            Err(error) => Err(Failure::Engine(format!("{error:#}"))),
        }
    }

    /// Loads a hook and returns the snapshot from which its runs start.
    pub(crate) fn load(
        &self,
        instance: &mut Instance,
        source: &[u8],
        given: &CallArgs,
    ) -> (CallReport, Option<Arc<Snapshot>>) {
        let with = self.engine_args(given);
        let fuel = Fuel::Script(self.limits.load_fuel);
        let call = |instance: &mut Instance, place, _: &mut Fuel| instance.load(place, with);
        let report = self.call(instance, &self.base, fuel, source, given, call);
        let loaded = matches!(report.ended, CallEnd::Returned(Status::Done, _));
        if !loaded {
            return (report, None);
        }
        match instance.space.take(Some(&self.base)) {
            Ok(snapshot) => (report, Some(snapshot)),
            Err(error) => {
                instance.is_spoiled = true;
                let failure = Failure::Engine(format!("{error:#}"));
                (CallReport::failed(failure), None)
            }
        }
    }

    /// Runs a hook from its snapshot.
    pub(crate) fn run(
        &self,
        instance: &mut Instance,
        hook: &Arc<Snapshot>,
        stage: Stage,
        input: &[u8],
        given: &CallArgs,
    ) -> CallReport {
        let RunLimits { fuel, http, .. } = given.allowance;
        let mode = u32::from(stage == Stage::Pre) | u32::from(http) << 1;
        let fuel = fuel.map_or(self.limits.fuel, |fuel| fuel.min(self.limits.fuel));
        let with = self.engine_args(given);
        let call = |instance: &mut Instance, place, now: &mut Fuel| {
            let status = instance.read(place)?;
            if status != 0 {
                return Ok(status);
            }
            *now = Fuel::Script(fuel);
            instance.run(fuel, with, mode)
        };
        let reading = Fuel::Reading(self.limits.input_fuel);
        self.call(instance, hook, reading, input, given, call)
    }

    fn engine_args(&self, given: &CallArgs) -> EngineArgs {
        EngineArgs {
            now_ms: given.now_ms as f64,
            seed: given.seed,
            jobs: self.limits.jobs,
        }
    }

    fn call(
        &self,
        instance: &mut Instance,
        state: &Arc<Snapshot>,
        fuel: Fuel,
        input: &[u8],
        given: &CallArgs,
        call: impl Fn(&mut Instance, TextRange, &mut Fuel) -> wasmtime::Result<u32>,
    ) -> CallReport {
        let watched = TickGuard::new();
        let wall = given.allowance.wall;
        let wall = wall.map_or(self.limits.wall, |wall| wall.min(self.limits.wall));
        // All attempts share one timeout, because the script determines where it writes.
        let began = Instant::now();
        let deadline = given.allowance.deadline;
        let wall = deadline.map_or(wall, |until| {
            wall.min(until.saturating_duration_since(began))
        });
        let attempt = |instance: &mut Instance, fuel: &mut Fuel| {
            if instance.space.has_grown() {
                // Growing a memory takes fuel, and every attempt must use an equal amount.
                (*instance, _) = Instance::new(&self.limits)?;
            }
            let host = instance.space.host_mut();
            (host.wall, host.deadline) = (wall, began + wall);
            host.outbox = given
                .allowance
                .http
                .then(|| Outbox::new(self.limits.outbox, self.limits.outbox_bytes));
            host.cancelled = Arc::clone(&given.cancelled);
            host.console.clear();
            host.console_dropped = 0;
            instance.space.reset(state, fuel.limit())?;
            match instance.put(input)? {
                Some(place) => call(instance, place, fuel).map(Some),
                None => Ok(None),
            }
        };
        let mut again = false;
        let (called, fuel) = loop {
            let mut fuel = fuel;
            match attempt(instance, &mut fuel) {
                // The attempt had no effect outside of the sandbox, and the reset undoes its
                // effects inside.
                Err(error) if instance.space.met_fence(&error, again) => again = true,
                called => break (called, fuel),
            }
        };
        drop(watched);

        let used = fuel.used(instance.space.fuel());
        let heap = instance.heap_state();
        let ended = match called {
            Err(error) => {
                instance.is_spoiled = true;
                self.trapped(instance, fuel, &error, heap)
            }
            Ok(None) => CallEnd::Failed(Failure::Heap(self.limits.heap)),
            Ok(Some(status)) => {
                let fields = instance.fields();
                self.returned(instance, status, fields, heap)
            }
        };
        let hash = self
            .hash_memory
            .then(|| hex(&Sha256::digest(instance.space.bytes())));
        let host = instance.space.host_mut();
        CallReport {
            ended,
            began: matches!(fuel, Fuel::Script(_)),
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
        instance: &mut Instance,
        fuel: Fuel,
        error: &wasmtime::Error,
        heap: Heap,
    ) -> CallEnd {
        CallEnd::Failed(match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => fuel.exhausted(),
            Some(Trap::Interrupt) if instance.space.host().cancelled.load(Relaxed) => {
                return CallEnd::Cancelled;
            }
            Some(Trap::Interrupt) => Failure::Wall(instance.space.host().wall),
            Some(Trap::StackOverflow) => Failure::Stack(self.limits.stack),
            // Iterator helpers recurse without a depth check. The stack is at the start of memory,
            // so the overflow traps below address 0.
            Some(Trap::MemoryOutOfBounds) if instance.space.has_left_stack() => {
                Failure::Stack(self.limits.stack)
            }
            // In some places the engine fails without an error message if it has no memory.
            _ if heap.refused => Failure::Heap(self.limits.heap),
            _ => Failure::Engine(format!("{error:#}")),
        })
    }

    fn returned(
        &self,
        instance: &mut Instance,
        status: u32,
        fields: Option<ResultFields>,
        heap: Heap,
    ) -> CallEnd {
        let status = match status {
            // A stop takes precedence over refused allocations.
            1 => Status::Stop,
            // A script cannot know that an allocation was refused, so its result is not valid.
            _ if heap.refused => return CallEnd::Failed(Failure::Heap(self.limits.heap)),
            0 => Status::Done,
            2 => Status::Thrown,
            3 => Status::Syntax,
            4 => Status::Imported,
            5 => Status::Exports,
            6 => Status::Unsettled,
            7 => Status::NoData,
            8 => return CallEnd::Failed(Failure::Jobs(self.limits.jobs)),
            _ => {
                instance.is_spoiled = true;
                return CallEnd::Failed(Failure::Engine(format!("status {status}")));
            }
        };
        if let Some(fields) = &fields {
            let bytes = fields.text_length();
            if status == Status::Done && bytes > self.limits.output {
                let limit = self.limits.output;
                return CallEnd::Failed(Failure::Output { bytes, limit });
            }
        }
        let memory = instance.space.bytes();
        match fields.and_then(|fields| fields.texts(memory)) {
            Some(said)
                if said
                    .least_depth(status, self.limits.stack)
                    .is_some_and(|least| instance.space.depth() >= least) =>
            {
                CallEnd::Failed(Failure::Stack(self.limits.stack))
            }
            Some(said) => CallEnd::Returned(status, said),
            None => {
                instance.is_spoiled = true;
                CallEnd::Failed(Failure::Engine(
                    "its result is outside of its memory".to_owned(),
                ))
            }
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
