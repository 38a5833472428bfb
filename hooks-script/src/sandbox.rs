//! Where scripts run: QuickJS as WebAssembly, in an instance that a worker keeps and resets.

mod calls;
pub(crate) mod config;
mod follows;
mod host;
mod image;
mod instance;
#[cfg(test)]
mod isolation;
mod pool;
mod result;
mod snapshot;
mod space;
mod watch;

#[cfg(feature = "bench")]
pub(crate) use calls::PRELUDE;
pub(crate) use calls::{Allowance, Given, Sandbox, hex};
pub(crate) use image::module;
#[cfg(feature = "bench")]
pub(crate) use instance::Instance;
pub(crate) use pool::{Load, Pool, Start};
pub(crate) use result::{Ended, Report, Said, Status};
pub(crate) use snapshot::Snapshot;
pub(crate) use watch::watch;
