//! Sandbox of scripts: QuickJS as WebAssembly, in an instance that a worker keeps and resets
//! between runs.

mod calls;
pub(crate) mod config;
mod fence;
mod follows;
mod host;
mod instance;
#[cfg(test)]
mod isolation;
mod machine;
mod pool;
mod result;
mod snapshot;
mod space;
mod watch;

#[cfg(feature = "bench")]
pub(crate) use calls::PRELUDE;
pub(crate) use calls::{Allowance, Given, Sandbox, hex};
#[cfg(feature = "bench")]
pub(crate) use instance::Instance;
pub(crate) use machine::module;
pub(crate) use pool::{Load, Pool, Start};
pub(crate) use result::{Ended, Report, Said, Status};
pub(crate) use snapshot::Snapshot;
pub(crate) use watch::watch;
