//! Where scripts run: QuickJS as WebAssembly, in an instance that a worker keeps and resets.

mod calls;
pub(crate) mod config;
mod image;
pub(crate) mod instance;
mod pool;
mod result;
mod snapshot;
mod watch;

pub(crate) use calls::{Given, Sandbox, hex};
pub(crate) use image::module;
pub(crate) use pool::{Load, Pool, Start};
pub(crate) use result::{Ended, Report, Said, Status};
pub(crate) use snapshot::Snapshot;
pub(crate) use watch::watch;
