//! Emissions: an event and its data in, the emission after all hooks out.

use std::mem;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hooks_core::__private::{ColdFuture, drop_catching_panic};
use hooks_core::dispatch::Monitored;
use hooks_core::{BoxFuture, Failure, Innermost, Never, Next, Policy, Report, SharedReport, Slot};

use super::call::EventCall;
use super::collect::{Collect, Collected};
use super::data::EmitError;
use super::emission::{Emission, HandlerFailure};
use super::emit::EmissionState;
use super::emit_options::EmitOptions;
use super::event_slots::{EventSlots, LaterSlots};
use super::fields::{Background, Fields};
use super::handler::Handler;
use super::observe::Observers;
use super::schema::DeclaredSchema;
use super::state::HookRegistryInner;
use super::table::EventTable;
use crate::Map;
use crate::registry::catch::{CatchPanic, Payload};
use crate::registry::deadline::Deadline;
use crate::registry::failure_counts::{FailedHook, FailureCounts, FailureMonitor};

/// Emits an event whose filter bit is set.
pub(super) async fn emit_to(
    registry: &HookRegistryInner,
    event: &str,
    map: Arc<Map>,
) -> Result<Emission, EmitError> {
    let table = registry.table.load();
    let map = if table.is_plain() {
        map
    } else if table.has_extras(event) {
        let options = EmitOptions::new();
        let emitted = Box::pin(emit_with(registry, &table, event, map, options));
        let outcome = ColdFuture::new(emitted).await;
        drop_catching_panic(table);
        return outcome;
    } else {
        table.stamped(map)
    };
    let Some((name, hooks)) = table.hooks(event) else {
        return Ok(Emission::of(table.completed(map)));
    };
    let fields = Fields::new(map, table.defaults());
    let mut gathered = EmissionState::new(name, fields);
    hooks.transform.dispatch(gathered.policy()).await;
    let concluded = gathered.conclude(&hooks.transform);
    drop_catching_panic(table);
    concluded.emission(None)
}

/// Emits an event with options, a schema, or hooks of all phases.
pub(super) async fn emit_with(
    registry: &HookRegistryInner,
    table: &EventTable,
    event: &str,
    map: Arc<Map>,
    options: EmitOptions,
) -> Result<Emission, EmitError> {
    let original = options.original.then(|| Arc::clone(&map));
    let map = table.stamped(map);
    let schema = table.schema(event);
    if let Some(schema) = schema {
        check_data(schema, &map, table.defaults())?;
    }
    let own_name = OnceLock::new();
    let Some((name, hooks)) = table.all_hooks(event, &own_name) else {
        let mut emission = Emission::of(table.completed(map));
        if options.report {
            emission.rare_fields.get_or_default().report = Some(Report::default());
        }
        return Ok(emission);
    };
    let later = hooks.later.as_deref();
    let background = Background {
        original,
        outcome: None,
    };
    let report = options.report.then(Report::default);
    let deadline = options.deadline.or(table.deadline());
    let mut run = PhaseRun::new(registry, hooks, deadline, report);
    let emitted = EmittedEvent {
        registry,
        table,
        name,
        hooks,
        background: &background,
        report: None,
    };
    let mut panic = None;
    let outcome = match later {
        Some(later) if !later.around.is_empty() => {
            let before = Arc::clone(&map);
            let mut outcome = if options.report || !later.observe.is_empty() {
                let enclosed = enclosed(&mut run.deadline, later, emitted, map, options.report);
                let outcome;
                (outcome, panic) = Box::pin(enclosed).await;
                outcome
            } else {
                let data = Arc::clone(&map);
                let args = (EventCall::new(Arc::clone(name), map),);
                let call = Next::new(&later.around, &emitted).call(args);
                match run.deadline.race(call).await {
                    Ok(outcome) => outcome,
                    Err(after) => Err(emitted.deadline_error(after, data)),
                }
            };
            record_changes(&mut outcome, table, before);
            outcome
        }
        _ => emitted.decide(&mut run, map).await,
    };
    let outcome = match (outcome, schema) {
        (Ok(emission), Some(schema)) if !emission.is_denied() => check_changes(schema, emission),
        (outcome, _) => outcome,
    };
    let outcome = match later {
        Some(later) if !later.observe.is_empty() => {
            observe(&mut run, later, name, outcome, background).await
        }
        _ => outcome,
    };
    registry.disable(event, run.failed);
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
    outcome
}

/// Runs the around hooks of an event, with a report if `is_reported`. If one of them panics, returns
/// the panic as an error, for the observers, and its payload.
async fn enclosed(
    deadline: &mut Deadline<'_>,
    later: &LaterSlots,
    emitted: EmittedEvent<'_>,
    map: Arc<Map>,
    is_reported: bool,
) -> (Result<Emission, EmitError>, Option<Payload>) {
    let shared = SharedReport::new();
    let emitted = EmittedEvent {
        report: is_reported.then_some(&shared),
        ..emitted
    };
    let data = Arc::clone(&map);
    let args = (EventCall::new(Arc::clone(emitted.name), map),);
    // The report knows which around hook panicked.
    let around = shared.record_around(&later.around);
    let call = CatchPanic(Next::new(&around, &emitted).call(args));
    let (mut outcome, payload) = match deadline.race(call).await {
        Ok(Ok(outcome)) => (outcome, None),
        Ok(Err(payload)) => {
            let (hook, failure) = shared
                .panicked()
                .unwrap_or_else(|| ("around hook".into(), Failure::of_payload(&*payload)));
            let error = EmitError::Hook {
                failure: HandlerFailure {
                    hook,
                    event: Arc::clone(emitted.name),
                    failure,
                },
                emission: Box::new(Emission::of(emitted.table.completed(data))),
            };
            (Err(error), Some(payload))
        }
        Err(after) => (Err(emitted.deadline_error(after, data)), None),
    };
    if let (true, Some(emission)) = (is_reported, emission_mut(&mut outcome)) {
        let mut report = shared.take();
        report.add_skipped(&emitted.hooks.transform);
        report.add_skipped(&later.decide);
        emission.rare_fields.get_or_default().report = Some(report);
    }
    (outcome, payload)
}

/// Records in the emission whether around hooks changed the data: they can pass other data to the
/// hooks, and replace those of the emission.
fn record_changes(outcome: &mut Result<Emission, EmitError>, table: &EventTable, before: Arc<Map>) {
    let Some(emission) = emission_mut(outcome) else {
        return;
    };
    if emission.data != before && emission.data != table.completed(before) {
        emission.rare_fields.get_or_default().has_modified = true;
    }
}

/// Returns the emission, whole or up to an error.
fn emission_mut(outcome: &mut Result<Emission, EmitError>) -> Option<&mut Emission> {
    match outcome {
        Ok(emission) => Some(emission),
        Err(error) => error.emission_mut(),
    }
}

/// An event, as the innermost call of around hooks.
struct EmittedEvent<'t> {
    registry: &'t HookRegistryInner,
    table: &'t EventTable,
    name: &'t Arc<str>,
    hooks: &'t EventSlots,
    background: &'t Background,
    /// The report of the around hooks; `None` if no report is requested.
    report: Option<&'t SharedReport>,
}

impl EmittedEvent<'_> {
    /// Runs the phases `Transform` and `Decide`.
    async fn decide(&self, run: &mut PhaseRun<'_>, map: Arc<Map>) -> Result<Emission, EmitError> {
        let hooks = self.hooks;
        let fields = Fields::new(map, self.table.defaults());
        let mut state = match self.background.original {
            None => EmissionState::new(self.name, fields),
            Some(_) => EmissionState::with_background(self.name, fields, self.background.clone()),
        };
        run.dispatch(&hooks.transform, state.policy()).await;
        let concluded = match hooks.later.as_deref() {
            None => state.conclude(&hooks.transform),
            Some(later) => {
                if run.deadline.passed().is_none() {
                    run.dispatch(&later.decide, state.deciding()).await;
                } else if let Some(report) = &mut run.report {
                    report.add_skipped(&later.decide);
                }
                state.conclude_phases(&hooks.transform, &later.decide)
            }
        };
        let emission = concluded.emission(run.take_report())?;
        match run.deadline.passed() {
            None => Ok(emission),
            Some(after) => Err(EmitError::Deadline {
                after,
                emission: Box::new(emission),
            }),
        }
    }

    /// Returns the error of around hooks that were pending at the deadline.
    fn deadline_error(&self, after: Duration, data: Arc<Map>) -> EmitError {
        EmitError::Deadline {
            after,
            emission: Box::new(Emission::of(self.table.completed(data))),
        }
    }
}

impl Innermost<EventCall> for EmittedEvent<'_> {
    fn call<'a>(&'a self, (call,): (EventCall,)) -> BoxFuture<'a, Result<Emission, EmitError>> {
        if let Some(report) = self.report {
            report.enter_innermost();
        }
        Box::pin(async move {
            // The deadline limits the whole call.
            let report = self.report.map(|_| Report::default());
            let mut run = PhaseRun::new(self.registry, self.hooks, None, report);
            run.shared = self.report;
            let outcome = self.decide(&mut run, call.data).await;
            self.registry.disable(self.name, run.failed);
            outcome
        })
    }
}

/// Checks the data of an emission before the first hook.
fn check_data(
    schema: &DeclaredSchema,
    data: &Map,
    defaults: Option<&Arc<Map>>,
) -> Result<(), EmitError> {
    let checked = schema.check(data, defaults.map(|defaults| &**defaults));
    checked.map_err(|mismatch| EmitError::Schema {
        mismatch: Box::new(mismatch),
        emission: None,
    })
}

/// Checks the data of an emission after the last hook that may change them.
fn check_changes(schema: &DeclaredSchema, emission: Emission) -> Result<Emission, EmitError> {
    match schema.check(&emission.data, None) {
        Ok(()) => Ok(emission),
        Err(mismatch) => Err(EmitError::Schema {
            mismatch: Box::new(mismatch),
            emission: Some(Box::new(emission)),
        }),
    }
}

/// The phases of one emission, which share a deadline and a report.
struct PhaseRun<'t> {
    deadline: Deadline<'t>,
    /// `None` if no report is requested.
    report: Option<Report>,
    /// The report of the around hooks, if there are any.
    shared: Option<&'t SharedReport>,
    /// `None` if no failures are counted.
    counts: Option<&'t FailureCounts>,
    failed: Vec<FailedHook>,
}

impl<'t> PhaseRun<'t> {
    fn new(
        registry: &'t HookRegistryInner,
        hooks: &EventSlots,
        deadline: Option<Duration>,
        report: Option<Report>,
    ) -> Self {
        PhaseRun {
            deadline: Deadline::new(&*registry.timer, deadline),
            report,
            shared: None,
            counts: hooks.counts_failures.then_some(&*registry.counts),
            failed: Vec::new(),
        }
    }

    /// Returns the report on the hooks since the last call.
    fn take_report(&mut self) -> Option<Report> {
        self.report.as_mut().map(mem::take)
    }

    /// Runs the hooks of a phase.
    async fn dispatch<'a, P>(&mut self, slot: &'a Slot<dyn Handler>, policy: P)
    where
        't: 'a,
        P: Policy<dyn Handler, Output = (), HookOutput: Send, Future = Never<()>> + Send + 'a,
    {
        if let (None, None) = (self.counts, &self.report) {
            return self.deadline.run(slot.dispatch(policy)).await;
        }
        let policy = Monitored::new(policy, FailureMonitor::new(self.counts));
        let ((), failed) = match &mut self.report {
            None => self.deadline.run(slot.dispatch(policy)).await,
            Some(report) => {
                let dispatch = match self.shared {
                    None => slot.dispatch_reported(policy),
                    Some(shared) => shared.dispatch(slot, policy),
                };
                // Without its type, because the compiler cannot prove `Send` for the type within
                // another future.
                let run: BoxFuture<'_, _> = Box::pin(self.deadline.run(dispatch));
                let (output, phase) = run.await;
                report.entries.extend(phase.entries);
                output
            }
        };
        self.failed.extend(failed);
    }
}

/// Runs the observers of an emission, and returns the emission with what they add.
async fn observe(
    run: &mut PhaseRun<'_>,
    later: &LaterSlots,
    name: &Arc<str>,
    outcome: Result<Emission, EmitError>,
    background: Background,
) -> Result<Emission, EmitError> {
    let data = match &outcome {
        Ok(emission) => Some(emission),
        Err(error) => error.emission(),
    };
    let data = data.map(|emission| Arc::clone(&emission.data));
    let outcome = Arc::new(outcome);
    let background = Background {
        outcome: Some(Arc::clone(&outcome)),
        ..background
    };
    let mut observers = Observers::new(name, data.unwrap_or_default(), background);
    run.dispatch(&later.observe, observers.policy()).await;
    if let Some(after) = run.deadline.passed() {
        observers.cancel(&later.observe, after);
    }
    let observations = observers.finish();
    let mut outcome = Arc::try_unwrap(outcome).unwrap_or_else(|shared| (*shared).clone());
    if let Some(emission) = emission_mut(&mut outcome) {
        observations.add_to(emission);
        if let (Some(report), Some(all)) = (run.take_report(), emission.report_mut()) {
            all.entries.extend(report.entries);
        }
    }
    outcome
}

/// Runs the hooks of the first phase of an event concurrently, and collects their data.
pub(super) async fn collect(
    registry: &HookRegistryInner,
    event: &str,
    map: Arc<Map>,
    timeout: Duration,
) -> Result<Collected, EmitError> {
    let table = registry.table.load();
    let map = table.stamped(map);
    if let Some(schema) = table.schema(event) {
        check_data(schema, &map, table.defaults())?;
    }
    let own_name = OnceLock::new();
    let Some((name, hooks)) = table.all_hooks(event, &own_name) else {
        return Ok(Collected::default());
    };
    // All hooks start at once, so that the deadline of the registry is one of each hook.
    let timeout = table
        .deadline()
        .map_or(timeout, |deadline| timeout.min(deadline));
    let fields = Fields::new(map, table.defaults());
    let policy = Collect::new(name, fields, timeout);
    let counts = hooks.counts_failures.then_some(&*registry.counts);
    let policy = Monitored::new(policy, FailureMonitor::new(counts));
    let (collected, failed) = hooks.transform.dispatch(policy).await;
    registry.disable(event, failed);
    drop_catching_panic(table);
    Ok(collected)
}
