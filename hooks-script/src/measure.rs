//! Internals for the benches of this crate: the parts of a run that programs use only as a whole.

use std::fmt;
use std::sync::Arc;

use crate::error::BuildError;
use crate::limits::Limits;
use crate::run::Stage;
use crate::sandbox::{self, CallArgs, CallEnd, Instance, Snapshot, Status};

/// JavaScript that runs before any hook.
pub const PRELUDE: &str = sandbox::PRELUDE;

/// Returns the compiled engine.
///
/// # Errors
///
/// Returns an error if the engine cannot be loaded.
pub fn module() -> Result<&'static (wasmtime::Engine, wasmtime::Module), BuildError> {
    sandbox::module()
}

/// Factory of instances.
#[derive(Clone)]
pub struct BenchSandbox(Arc<sandbox::Sandbox>);

impl BenchSandbox {
    /// Creates a sandbox with the default limits.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be started.
    pub fn new() -> Result<Self, BuildError> {
        sandbox::watch(&sandbox::module()?.0)?;
        let sandbox = sandbox::Sandbox::new(Limits::default(), false)?;
        Ok(BenchSandbox(Arc::new(sandbox)))
    }
}

impl fmt::Debug for BenchSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

/// A loaded hook with an instance on the current thread, configured as on a worker.
pub struct Isolated {
    sandbox: Arc<sandbox::Sandbox>,
    instance: Instance,
    hook: Arc<Snapshot>,
}

impl fmt::Debug for Isolated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Isolated").finish_non_exhaustive()
    }
}

fn given() -> CallArgs {
    CallArgs {
        now_ms: 0,
        seed: 1,
        cancelled: Arc::default(),
        allowance: Default::default(),
    }
}

impl Isolated {
    /// Creates an instance and loads the hook.
    ///
    /// # Panics
    ///
    /// Panics if the source cannot be loaded.
    pub fn new(sandbox: &BenchSandbox, source: &str) -> Self {
        let sandbox = Arc::clone(&sandbox.0);
        let mut instance = sandbox.instance().expect("there is memory");
        let (_, hook) = sandbox.load(&mut instance, source.as_bytes(), &given());
        Isolated {
            sandbox,
            instance,
            hook: hook.expect("it can be loaded"),
        }
    }

    /// Runs the hook, after a reset if one is due, and returns the fuel used.
    ///
    /// # Panics
    ///
    /// Panics if the run does not return.
    pub fn run(&mut self, input: &[u8]) -> u64 {
        let report = self
            .sandbox
            .run(&mut self.instance, &self.hook, Stage::Pre, input, &given());
        assert!(
            matches!(report.ended, CallEnd::Returned(Status::Done, _)),
            "{report:?}"
        );
        report.fuel
    }

    /// Resets the instance without a run.
    pub fn reset(&mut self) {
        self.instance.prepare(&self.hook);
    }
}
