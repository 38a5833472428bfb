//! Sandbox of scripts: QuickJS as WebAssembly, in an instance that a worker keeps and resets
//! between runs.

mod calls;
mod fence;
mod host;
mod instance;
#[cfg(test)]
mod isolation;
mod machine;
mod memory;
mod pool;
mod result;
mod snapshot;
mod successors;
mod watch;

#[cfg(feature = "bench")]
pub(crate) use calls::PRELUDE;
pub(crate) use calls::{CallArgs, RunLimits, Sandbox, hex};
#[cfg(feature = "bench")]
pub(crate) use instance::Instance;
pub(crate) use machine::module;
pub(crate) use pool::{LoadJob, Pool, RunJob};
pub(crate) use result::{CallEnd, CallReport, CallTexts, Status};
pub(crate) use snapshot::Snapshot;
pub(crate) use watch::watch;
