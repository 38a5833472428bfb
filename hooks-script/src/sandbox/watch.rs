//! Timer for timeouts and cancelled runs: one thread per process, which increments the engine's
//! epoch while a script runs and sleeps otherwise.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

use crate::error::BuildError;

/// Interval at which a running script is interrupted.
const TICK: Duration = Duration::from_millis(1);

/// Ticks without a run before the thread sleeps: waking it for every run would cost more than a
/// small hook.
const MAX_IDLE_TICKS: u32 = 100;

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ASLEEP: AtomicBool = AtomicBool::new(false);
static WATCH: OnceLock<Result<Thread, String>> = OnceLock::new();

/// Starts the thread on the first call.
pub(crate) fn watch(engine: &'static Engine) -> Result<(), BuildError> {
    let started = WATCH.get_or_init(|| {
        thread::Builder::new()
            .name("hooks-script watch".to_owned())
            .spawn(move || tick(engine))
            .map(|handle| handle.thread().clone())
            .map_err(|error| error.to_string())
    });
    started
        .as_ref()
        .map(drop)
        .map_err(|error| BuildError::Thread(error.clone()))
}

fn tick(engine: &Engine) -> ! {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        engine.increment_epoch();
        idle = if RUNNING.load(SeqCst) == 0 {
            idle + 1
        } else {
            0
        };
        if idle > MAX_IDLE_TICKS {
            // Set before the last check: a run that starts now is either seen here, or sees this
            // flag and wakes the thread.
            ASLEEP.store(true, SeqCst);
            while ASLEEP.load(SeqCst) && RUNNING.load(SeqCst) == 0 {
                thread::park();
            }
            ASLEEP.store(false, SeqCst);
            idle = 0;
        }
    }
}

/// Guard of a run that needs ticks.
pub(super) struct TickGuard(());

impl TickGuard {
    pub(super) fn new() -> Self {
        RUNNING.fetch_add(1, SeqCst);
        if ASLEEP.swap(false, SeqCst)
            && let Some(Ok(thread)) = WATCH.get()
        {
            thread.unpark();
        }
        TickGuard(())
    }
}

impl Drop for TickGuard {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, SeqCst);
    }
}
