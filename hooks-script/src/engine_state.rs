//! State that an engine shares with its hooks: the pool of workers, public fields, clock and random numbers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::fields::PublicFields;
use crate::sandbox::{CallArgs, Pool, RunLimits, Sandbox};

/// State shared by an engine and its hooks.
pub(crate) struct EngineState {
    pub(crate) pool: Pool,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) fields: PublicFields,
    pub(crate) clock: Box<dyn Fn() -> i64 + Send + Sync>,
    pub(crate) random: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl EngineState {
    pub(crate) fn call_args(&self, cancelled: Arc<AtomicBool>, allowance: RunLimits) -> CallArgs {
        CallArgs {
            now_ms: (self.clock)(),
            seed: (self.random)(),
            cancelled,
            allowance,
        }
    }
}
